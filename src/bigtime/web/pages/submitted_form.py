"""A form as it was submitted, what is wrong with it, and so the status of its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from pydantic import BaseModel

from bigtime.model import DomainError, Malformed
from bigtime.web.http import TooManyTries, status_in_form

F_co = TypeVar("F_co", bound=BaseModel, covariant=True)


@dataclass(slots=True)
class SubmittedForm(Generic[F_co]):
    """A form as it was submitted; `value` is None if anything is wrong with it.

    `typed` are its fields as text, `wrong` a sentence for each field that is wrong, and `fault` one
    for the form as a whole. `shown_as` is the status of its page, where that is another than 422.
    """

    typed: Mapping[str, str]
    value: F_co | None = None
    wrong: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    shown_as: int | None = None
    retry_after: int | None = None

    @property
    def status(self) -> int:
        """The status of a page that shows the form."""
        return self.shown_as or (422 if self.wrong or self.fault else 200)

    def require(self, message: str) -> F_co:
        """The value; raises Malformed with the message if there is none."""
        if self.value is None:
            raise Malformed(message)
        return self.value

    def refuse(
        self, error: DomainError, field: str | None = None, *, status: int | None = None
    ) -> None:
        """Adds an error: beside a field, which is then wrong, or for the whole form.

        The page has the status of an error of the whole form, or the one that is given.
        """
        self.value = None
        if field is None:
            self.fault = str(error)
            self.shown_as = status_in_form(error)
        else:
            self.wrong[field] = str(error)
        if isinstance(error, TooManyTries):
            self.shown_as, self.retry_after = status_in_form(error), error.seconds
        self.shown_as = status or self.shown_as


AnyForm: TypeAlias = SubmittedForm[BaseModel]
"""A form that is shown, whatever its fields are."""


def empty_form(**typed: str) -> AnyForm:
    """A form before it is submitted, with its first values."""
    return SubmittedForm(typed)
