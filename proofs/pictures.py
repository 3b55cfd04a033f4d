"""Pictures under load: what editors upload, what readers get, and what must exist afterwards.

1. An acknowledged upload that no other upload followed is its deal's picture.
2. Every picture of a deal or a brand exists in all of its widths.
3. Every file belongs to a picture that is in use, or is recorded as unused.
"""

from __future__ import annotations

from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from bigtime.model import Entity, scan
from bigtime.site.design import PictureUse, UnusedPicture
from bigtime.site.pictures import INCOMING, file_name
from bigtime.store import Store
from bigtime.systems.deals.deals import fetch_deals
from bigtime.systems.deals.design import Brand, Deal
from proofs.site import wait_until

BOUNDARY = "a-boundary-that-no-field-has"


def draw_photo(number: int) -> bytes:
    """A JPEG that differs from all others."""
    red, green, blue = number * 37 % 256, number * 91 % 256, number % 256
    image = Image.linear_gradient("L").resize((720, 540)).convert("RGB")
    image.paste((red, green, blue), (number % 300, 100, number % 300 + 200, 400))
    file = BytesIO()
    image.save(file, "JPEG", quality=85)
    return file.getvalue()


def multipart(fields: dict[str, str], picture: bytes) -> bytes:
    """The body of a form with a picture."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
        if name != "picture"
    ]
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="picture"; filename="photo.jpg"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    ).encode()
    return b"".join([*parts, head, picture, f"\r\n--{BOUNDARY}--\r\n".encode()])


def picture_faults(
    store: Store, folder: Path, uploaded: Iterable[str], patience: float
) -> list[str]:
    deal_ids = list(uploaded)

    def without_picture() -> list[str]:
        return [
            str(deal.deal_id) for deal in store.run(fetch_deals(deal_ids)) if deal.picture is None
        ]

    wait_until(lambda: not without_picture(), patience)
    faults = [f"deal {deal_id} has no picture, and it was taken" for deal_id in without_picture()]
    return faults + file_faults(store, folder)


def file_faults(store: Store, folder: Path) -> list[str]:
    """Contradictions between the items and the files."""
    # List files first: those of a picture that arrives meanwhile are then not in the list.
    files = {path.relative_to(folder).as_posix() for path in folder.glob("??/*/*.webp")}
    known = {each.digest for kind in (PictureUse, UnusedPicture) for each in all_of(store, kind)}
    faults = [f"{name} belongs to nothing" for name in files if name.split("/")[1] not in known]
    for kind in (Deal, Brand):
        for each in all_of(store, kind):
            widths = each.picture.widths if each.picture else ()
            names = [file_name(each.picture.digest, width) for width in widths]
            faults += [f"{name} is not there" for name in names if not (folder / name).is_file()]
    return faults


def all_of(store: Store, kind: type[Entity]) -> list[Any]:
    found: list[Any] = []
    after = None
    while True:
        page = store.run(scan(kind, after=after, consistent=True))
        found += page.items
        after = page.position
        if after is None:
            return found


def left_incoming(folder: Path) -> int:
    return sum(1 for _ in (folder / INCOMING).glob("*"))
