"""The forms of a page, filled in as a person without scripts would."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass(slots=True)
class PageForm:
    """Where a form is sent, and what is in it as the page came."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    id: str = ""


class Reader(HTMLParser):
    """Collects forms and what their fields begin with, and the text of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self.words: list[str] = []
        self._open: PageForm | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "form":
            self._open = PageForm(told.get("action") or "", told.get("method") or "get")
            self._open.id = told.get("id") or ""
            self.forms.append(self._open)
        elif tag == "input" and "form" in told:
            (owner,) = [form for form in self.forms if form.id == told["form"]]
            owner.fields[told["name"] or ""] = told.get("value") or ""
        elif tag == "input" and self._open is not None and told.get("name"):
            if told.get("type") in ("radio", "checkbox") and "checked" not in told:
                return
            self._open.fields[told["name"] or ""] = told.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def form_of(page: str, action: str, **having: str) -> PageForm:
    """The form with that action, and with these fields as they are in the page."""
    forms = read(page).forms
    for form in forms:
        if form.action == action and having.items() <= form.fields.items():
            return form
    raise AssertionError(f"no form {action} with {having} among {forms}")


def words_of(page: str) -> str:
    return " ".join(" ".join(read(page).words).split())
