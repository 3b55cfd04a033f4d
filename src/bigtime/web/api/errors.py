"""What the APIs answer when something is wrong: one shape, documented beside every route."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, WrapValidator
from pydantic_core import PydanticCustomError

from bigtime.model import DomainError
from bigtime.web.problems import status_of


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
                    "message": "Some of this will not do.",
                    "details": [{"field": "price", "message": "A price is at least 0.01 ..."}],
                }
            ]
        }
    )

    error: str = Field(description="A code that stays the same, for programs.")
    message: str = Field(description="A sentence for people.")
    details: list[FieldProblem]


MEANINGS: Final = {
    400: "The request cannot be read: no JSON, a field of another type, a cursor that is not ours.",
    401: "Nobody is signed in, or the session is over.",
    403: "Whoever is signed in may not do this.",
    404: "There is no such thing, or none that everybody may see.",
    409: "This does not go together with what is there.",
    422: "The request can be read, and is against a rule.",
    429: "That was too often; `Retry-After` says how many seconds to wait.",
}


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer with; 422 is always one, or FastAPI tells its own."""
    told = sorted({*statuses, 422})
    return {status: {"model": Problem, "description": MEANINGS[status]} for status in told}


def as_fault(value: Any, check: Callable[[Any], Any]) -> Any:
    """Lets a system's own error stand beside the field that it is about."""
    try:
        return check(value)
    except DomainError as error:
        status = status_of(error)
        if status == HTTPStatus.NOT_FOUND:  # what a body names and is not there breaks a rule
            status = HTTPStatus.UNPROCESSABLE_ENTITY
        raise PydanticCustomError(
            "refused", "{told}", {"told": str(error), "status": status}
        ) from None


TOLD: Final = WrapValidator(as_fault)
"""Makes a system's type one for the body of a request: `price: Annotated[Price, TOLD]`."""
