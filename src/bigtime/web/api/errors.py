"""What the APIs answer when something is wrong: one shape, documented beside every route."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from bigtime.model import DomainError
from bigtime.systems import portal
from bigtime.web.http import FieldFault


class FieldProblem(BaseModel):
    """What is wrong with one field of a request."""

    field: str = Field(description="Its name, with dots where it lies inside another.")
    message: str


class Problem(BaseModel):
    """Why a request was not answered as it was meant."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "error": "invalid-request",
                    "message": "price: A price is more than 0, with at most two decimals.",
                    "details": [
                        {
                            "field": "price",
                            "message": "A price is more than 0, with at most two decimals.",
                        }
                    ],
                }
            ]
        }
    )

    error: str = Field(description="A code that stays the same, for programs.")
    message: str = Field(description="A sentence for people.")
    details: list[FieldProblem]


MEANINGS: Final = {
    400: "The request cannot be read: no JSON, a field that is missing, unknown or of another type,"
    " a query parameter that is unknown or out of bounds, a cursor that is not ours.",
    401: "Nobody is signed in, or the session is over.",
    403: "Whoever is signed in may not do this.",
    404: "There is no such thing, or none that everybody may see.",
    409: "This does not go together with what is there.",
    422: "The request can be read, and is against a rule.",
    429: "That was too often; `Retry-After` says how many seconds to wait.",
}


Documented: TypeAlias = dict[int | str, dict[str, Any]]
"""The `responses` of a route that are errors."""


def header(description: str, **schema: Any) -> dict[str, Any]:
    return {"description": description, "required": True, "schema": schema}


HEADERS: Final[dict[int, dict[str, Any]]] = {
    401: {"WWW-Authenticate": header("How to be let in.", type="string", const="Bearer")},
    429: {"Retry-After": header("How many seconds to wait.", type="integer", minimum=1)},
}


def error_responses(*statuses: int) -> Documented:
    """The errors that a route may answer with; 422 is always one, or FastAPI tells its own."""
    return {status: error_response(status) for status in sorted({*statuses, 422})}


def error_response(status: int) -> dict[str, Any]:
    response: dict[str, Any] = {"model": Problem, "description": MEANINGS[status]}
    return response | {"headers": HEADERS[status]} if status in HEADERS else response


PUBLIC: Final = error_responses(400, 404)
"""The `responses` of a route of `/api/v1` that reads, and is open to everybody."""
OWN: Final = error_responses(400, 401, 404)
"""Of one that reads what is the caller's own."""
STAFF: Final = error_responses(400, 401, 403, 404)
"""Of one that reads for editors or admins."""
WRITE: Final = error_responses(400, 401, 403, 404, 409)
"""Of one that writes."""


ABOUT: Final[dict[type[DomainError], tuple[str, ...]]] = {
    portal.RangeReversed: ("createdFrom", "createdTo"),
    portal.DatesReversed: ("fromDate", "toDate"),
    portal.DiscountTooHigh: ("discountPercentage",),
    portal.EmailTaken: ("email",),
    portal.CampaignExists: ("code",),
    portal.CampaignNotValid: ("campaignCode",),
    portal.CampaignElsewhere: ("campaignCode",),
    portal.TotalMoved: ("total",),
    portal.LinesRefused: ("items",),
}
"""The fields that an error is about, which is found when several are looked at together."""


def faults_of(error: Exception) -> list[FieldFault]:
    """What an error tells of single fields."""
    names = (ABOUT[kind] for kind in type(error).__mro__ if kind in ABOUT)
    return [FieldFault(name, str(error)) for name in next(names, ())]
