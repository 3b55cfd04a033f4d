"""Pictures of deals and logos of brands: an editor uploads one, the worker encodes it.

1. The process that answers the request checks the file without decoding it, stores it among the
   incoming files, and writes a `PictureUpload`, which the worker reads from the stream.
2. The worker decodes it, in a confined process, and writes its sizes to the place for pictures.
   Before that it writes an `UnusedPicture`: even if it is killed, every file has an item.
3. One transaction gives the deal its picture, writes its `PictureUse`, and deletes the upload. The
   deal's previous picture becomes an `UnusedPicture`, unless it is the same.
4. A file that cannot be decoded is removed; the upload keeps the reason for a while, for its
   editor.

Each step can be repeated, and after a crash the stream repeats it. A chore deletes pictures that
have been unused for a day, when no page shows them any more, and incoming files that no upload
waits for. Only one worker runs at a time, so a lock in its process keeps step 2 and the chore
apart.
"""

from __future__ import annotations

import logging
import secrets
import threading
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, Self

from bigtime import model as bt
from bigtime import pictures
from bigtime.pictures import Encoded, PictureFault, PicturePlace
from bigtime.site.design import (
    SITE_TABLE,
    EditorAction,
    PictureUpload,
    PictureUse,
    UnusedPicture,
    transact_once,
)
from bigtime.site.editing import new_change
from bigtime.systems import deals
from bigtime.wire import Steps

log = logging.getLogger("bigtime.worker")

INCOMING: Final = "incoming"
UNUSED_FOR: Final = timedelta(days=1)
INCOMING_FOR: Final = timedelta(hours=1)
UPLOAD_LASTS: Final = timedelta(days=1)
FAULT_LASTS: Final = timedelta(hours=1)
LOST: Final = "The upload was lost. Please upload the picture again."


class Overtaken(bt.Conflict):
    """The picture was changed meanwhile."""


class PicturedKind(StrEnum):
    """What may have a picture."""

    DEAL = "deal"
    BRAND = "brand"


@dataclass(frozen=True, slots=True)
class Pictured:
    """A deal or a brand that may have a picture; `name` is its id or its key."""

    kind: PicturedKind
    name: str

    @classmethod
    def deal(cls, deal_id: deals.DealId) -> Self:
        return cls(PicturedKind.DEAL, str(deal_id))

    @classmethod
    def brand(cls, brand: deals.BrandName) -> Self:
        return cls(PicturedKind.BRAND, str(brand))

    @property
    def target(self) -> str:
        """The part that its items' keys and its incoming files' names share."""
        return sha256(f"{self.kind} {self.name}".encode()).hexdigest()[:32]

    @property
    def key(self) -> bt.Key[Any]:
        if self.kind == PicturedKind.DEAL:
            return deals.Deal.key(deals.deal_id_of(self.name))
        return deals.Brand.key(self.name)

    @property
    def path(self) -> str:
        return f"/{self.kind}s/{self.name}"


SAMPLE: Final = {"of": Pictured(PicturedKind.DEAL, "0" * 27)}


# Uploads


def incoming_name(upload_id: str) -> str:
    return f"{INCOMING}/{upload_id}"


def draw_upload_id(of: Pictured) -> str:
    """The name of an incoming file; it leads to the item that waits for the file."""
    return f"{of.target}.{secrets.token_hex(8)}"


def new_upload(who: str, of: Pictured, upload_id: str) -> Steps[bt.Write[PictureUpload]]:
    """Writes an upload over the last one; its file is already among the incoming."""
    moment = yield from bt.now()
    upload = PictureUpload(
        target=of.target,
        kind=of.kind,
        name=of.name,
        upload_id=upload_id,
        who=who,
        at=moment,
        expires_at=moment + UPLOAD_LASTS,
    )
    return bt.put(upload)


@bt.pattern("Upload Picture", index="Main table", sample=SAMPLE)
def upload_picture(who: deals.Username, of: Pictured, upload_id: str) -> Steps[None]:
    """Put; the worker gives the deal or the brand the picture."""
    yield from (yield from new_upload(who, of, upload_id))


@bt.pattern("Fetch Picture Upload", index="Main table", sample=SAMPLE)
def fetch_upload(of: Pictured) -> Steps[PictureUpload | None]:
    """The last one, strongly consistent; None if it has become the picture."""
    return (yield from bt.get(PictureUpload.key(of.target), consistent=True))


@bt.pattern("Refuse Picture Upload", index="Main table", sample={"fault": "It is no picture."})
def refuse_upload(target: str, upload_id: str, fault: str) -> Steps[None]:
    """Update with the reason, unless another upload has taken its place."""
    try:
        yield from bt.update(
            PictureUpload.key(target),
            fault=fault,
            expires_at=(yield from bt.now()) + FAULT_LASTS,
            when=bt.attr("upload_id") == upload_id,
            otherwise=Overtaken,
        )
    except Overtaken:
        return


# Which deal or brand has which picture


@bt.pattern("Set Picture", index="Main table", sample=SAMPLE)
def set_picture(
    who: deals.Username, of: Pictured, picture: deals.StoredPicture, upload_id: str
) -> Steps[None]:
    """One transaction: the picture of an upload, its use, the one before, an entry in the log."""
    yield from change_picture(who, of, picture, upload_id)


@bt.pattern("Remove Picture", index="Main table", sample=SAMPLE)
def remove_picture(who: deals.Username, of: Pictured) -> Steps[None]:
    """The same without a picture; an upload that waits goes too."""
    yield from change_picture(who, of, None)


def change_picture(
    who: str, of: Pictured, picture: deals.Picture | None, upload_id: str | None = None
) -> Steps[None]:
    """Changes a picture; `upload_id` is the upload that it is from.

    Nothing is changed if the deal or the brand is gone. Raises Overtaken if something else has
    changed the picture.
    """
    seen = yield from bt.get(of.key, consistent=True)
    moment = yield from bt.now()
    waiting = PictureUpload.key(of.target)
    if seen is None:
        yield from bt.delete(waiting)
        return
    before: deals.Picture | None = seen.picture
    has_picture = bt.attr("picture")
    writes: list[bt.Write[Any]] = [
        bt.update(
            of.key,
            picture=picture,
            when=has_picture.missing() if before is None else has_picture == before,
            otherwise=Overtaken,
        ),
        bt.delete(waiting)
        if upload_id is None
        else bt.delete(waiting, when=bt.attr("upload_id") == upload_id, otherwise=Overtaken),
    ]
    if picture is not None:
        writes.append(bt.put(PictureUse(digest=picture.digest, target=of.target)))
        writes.append(bt.delete(UnusedPicture.key(picture.digest)))
    if before is not None and (picture is None or before.digest != picture.digest):
        writes.append(bt.delete(PictureUse.key(before.digest, of.target)))
        writes.append(bt.put(UnusedPicture(digest=before.digest, since=moment)))
    shown = seen.title if isinstance(seen, deals.Deal) else seen.name
    change = yield from new_change(who, EditorAction.CHANGED_PICTURE, f"{shown}: picture", of.path)
    yield from transact_once(*writes, bt.create(change), at=change.at)


def picture_of(encoded: Encoded) -> deals.Picture:
    return deals.Picture.make(encoded.digest, encoded.widths, encoded.height)


def folder_of(digest: str) -> str:
    return f"{digest[:2]}/{digest}"


def file_name(digest: str, width: int) -> str:
    return f"{folder_of(digest)}/{width}.webp"


def write_files(place: PicturePlace, encoded: Encoded) -> None:
    for each in encoded.renditions:
        place.write(file_name(encoded.digest, each.width), each.content)


# Pictures that nothing uses


@bt.pattern("Note unused Picture", index="Main table")
def note_unused(digest: str) -> Steps[None]:
    """Put before its files are written."""
    yield from bt.put(UnusedPicture(digest=digest, since=(yield from bt.now())))


@bt.pattern("View unused Pictures", index="Main table")
def view_unused() -> Steps[list[UnusedPicture]]:
    """A query for those that are unused for a day."""
    moment = yield from bt.now()
    found = yield from bt.all_of(UnusedPicture.within("main"), consistent=True)
    return [each for each in found if each.since <= moment - UNUSED_FOR]


@bt.pattern("Check Use of Picture", index="Main table")
def is_used(digest: str) -> Steps[bool]:
    """A strongly consistent query."""
    uses = yield from bt.query(PictureUse.within("main", digest=digest), limit=1, consistent=True)
    return bool(uses.items)


@bt.pattern("Forget unused Picture", index="Main table")
def forget_unused(digest: str) -> Steps[None]:
    """Delete, after its files."""
    yield from bt.delete(UnusedPicture.key(digest))


@bt.pattern("Check that Upload waits", index="Main table")
def is_waiting(upload_id: str) -> Steps[bool]:
    """Whether an incoming file is still to be encoded."""
    upload = yield from bt.get(PictureUpload.key(upload_id.partition(".")[0]), consistent=True)
    return upload is not None and upload.upload_id == upload_id and upload.fault is None


# The worker


@dataclass(frozen=True, slots=True)
class PictureWorker:
    """Encodes uploads, and deletes unused pictures."""

    place: PicturePlace
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def reaction(self) -> bt.Reaction:
        """Encodes each upload as it is written."""
        return bt.reaction(SITE_TABLE, of=[PictureUpload])(self.follow_upload)

    def follow_upload(self, change: bt.Change[Any]) -> Steps[None]:
        event = change.of(PictureUpload)
        if event is None:
            return
        for image in (event.before, event.after):
            if image is None:
                continue
            if (yield from is_waiting(image.upload_id)):
                yield from self.encode(image)
            else:
                self.place.remove(incoming_name(image.upload_id))

    def encode(self, upload: PictureUpload) -> Steps[None]:
        name = incoming_name(upload.upload_id)
        content = self.place.read(name)
        try:
            if content is None:
                raise PictureFault(LOST)
            encoded = pictures.encode_upload(content)
        except PictureFault as fault:
            log.info("the picture of %s %s is refused: %s", upload.kind, upload.name, fault)
            yield from refuse_upload(upload.target, upload.upload_id, str(fault))
        else:
            yield from self.keep(upload, encoded)
        self.place.remove(name)

    def keep(self, upload: PictureUpload, encoded: Encoded) -> Steps[None]:
        """Writes the files of a picture, and sets it on its deal or brand.

        If something has changed meanwhile, the stream's consumer tries again.
        """
        of = Pictured(PicturedKind(upload.kind), upload.name)
        with self._lock:
            yield from note_unused(encoded.digest)
            write_files(self.place, encoded)
            yield from set_picture(upload.who, of, picture_of(encoded), upload.upload_id)

    def sweep(self) -> Steps[None]:
        """Deletes pictures that nothing uses, and incoming files that no upload waits for."""
        for unused in (yield from view_unused()):
            with self._lock:
                if not (yield from is_used(unused.digest)):
                    self.place.remove(folder_of(unused.digest))
                yield from forget_unused(unused.digest)
        oldest = (yield from bt.now()) - INCOMING_FOR
        for name, written_at in self.place.changes(INCOMING):
            upload_id = name.partition("/")[2].removesuffix(".part")
            if written_at < oldest and not (yield from is_waiting(upload_id)):
                self.place.remove(name)


@bt.reaction(deals.BIG_TIME_DEALS, of=[deals.Deal, deals.Brand])
def release_pictures(change: bt.Change[bt.Entity]) -> Steps[None]:
    """Notes the picture of a deleted deal or brand as unused."""
    if change.kind != "remove":
        return
    if (deal := change.of(deals.Deal)) is not None and deal.before is not None:
        yield from release_picture(Pictured.deal(deal.before.deal_id), deal.before.picture)
    if (brand := change.of(deals.Brand)) is not None and brand.before is not None:
        yield from release_picture(Pictured.brand(brand.before.brand), brand.before.picture)


def release_picture(of: Pictured, picture: deals.Picture | None) -> Steps[None]:
    if picture is None or (yield from bt.get(of.key, consistent=True)) is not None:
        return
    moment = yield from bt.now()
    yield from bt.transact(
        bt.delete(PictureUse.key(picture.digest, of.target)),
        bt.put(UnusedPicture(digest=picture.digest, since=moment)),
    )
