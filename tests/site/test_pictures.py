"""Pictures of deals and brands: uploaded, encoded by the worker, replaced, swept; and kills."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bigtime import model as bt
from bigtime import pictures, site
from bigtime.engine import Engine
from bigtime.pictures import FolderPlace
from bigtime.pictures.encoding import encode_file
from bigtime.site import Pictured, PictureWorker
from bigtime.site.design import SITE_TABLE, PictureUpload, PictureUse, UnusedPicture
from bigtime.site.pictures import LOST, UNUSED_FOR, release_pictures, set_picture, view_unused
from bigtime.store import Exchange, Store, consume
from bigtime.systems import deals
from bigtime.wire import Request
from tests.furnished import furnished_engine
from tests.pictures import images
from tests.web.browsing import furnish_site

NOW = datetime(2026, 11, 16, tzinfo=UTC)
FIRST, SECOND = images.jpeg(400, 300), images.png(200, 200)


encode_once = cache(encode_file)


class Cut(BaseException):
    """The process was killed."""


class Saw:
    """Kills the process at the n-th thing that it does, to the store or to the place."""

    def __init__(self, after: int = 10**9) -> None:
        self.left = after

    def count(self, *_: Any) -> None:
        if self.left == 0:
            raise Cut
        self.left -= 1


class SawnPlace(FolderPlace):
    """Is killed before or after it writes or removes."""

    saw = Saw()

    def write(self, name: str, content: bytes) -> None:
        self.saw.count()
        super().write(name, content)
        self.saw.count()

    def remove(self, name: str) -> None:
        self.saw.count()
        super().remove(name)
        self.saw.count()


class Scene:
    """A store with a deal, a place for pictures, and the worker's part."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.moment = NOW
        self.saw = Saw()
        self.engine = engine
        self.store = Store(engine, clock=lambda: self.moment)
        self.place = SawnPlace(folder)
        self.place.saw = self.saw
        self.worker = PictureWorker(self.place)
        link = "https://shop.example/lamp"
        steps = deals.create_deal("A lamp", link, Decimal(20), "Apple", "Home")
        self.deal_id = self.store.run(steps).deal_id
        self.lamp = Pictured.deal(self.deal_id)

    @property
    def deal(self) -> deals.Deal:
        return self.store.run(bt.get(deals.Deal.key(self.deal_id), missing=deals.UnknownDeal))

    def upload(self, content: bytes, of: Pictured | None = None) -> str:
        of = of or self.lamp
        upload_id = site.draw_upload_id(of)
        self.place.write(site.incoming_name(upload_id), content)
        self.store.run(site.upload_picture("erin", of, upload_id))
        return upload_id

    def follow(self) -> None:
        def look(_: Exchange) -> None:
            self.saw.count()

        store = Store(self.engine, clock=lambda: self.moment, hooks=[look])
        handle = self.worker.reaction.handle
        consumer = consume(store, SITE_TABLE.name, handle, name="site.pictures")
        while any(turn.more for turn in consumer.run_round()):
            pass

    def files(self) -> set[str]:
        found = (path for path in self.place.folder.rglob("*") if path.is_file())
        return {path.relative_to(self.place.folder).as_posix() for path in found}

    def files_of(self, picture: deals.Picture | None) -> set[str]:
        widths = picture.widths if picture else ()
        return {site.file_name(picture.digest, width) for width in widths} if picture else set()

    def items(self, entity: type[bt.Entity]) -> list[Any]:
        return list(self.store.run(bt.scan(entity)))

    def sweep(self) -> None:
        self.store.run(self.worker.sweep())


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    monkeypatch.setattr(pictures, "encode_upload", encode_once)  # a process takes 0.3 s
    with furnished_engine(furnish_site, housekeeping=False) as engine:
        yield Scene(engine, tmp_path / "pictures")


def test_an_upload_becomes_the_picture(scene: Scene) -> None:
    scene.upload(FIRST)
    assert scene.store.run(site.fetch_upload(scene.lamp)) is not None
    scene.follow()
    picture = scene.deal.picture
    assert picture is not None and picture.widths == (160, 320, 400) and picture.height == 300
    assert scene.files() == scene.files_of(picture)
    assert scene.store.run(site.fetch_upload(scene.lamp)) is None
    changes = scene.store.run(site.view_changes())
    assert [(each.who, each.action, each.what) for each in changes] == [
        ("erin", "changed picture", "A lamp: picture")
    ]


def test_a_brand_has_a_logo(scene: Scene) -> None:
    apple = Pictured.brand("APPLE")
    scene.upload(SECOND, apple)
    scene.follow()
    brand = scene.store.run(deals.fetch_brand("APPLE"))
    assert brand.picture is not None and brand.picture.width == 200
    scene.store.run(site.remove_picture("erin", apple))
    assert scene.store.run(deals.fetch_brand("APPLE")).picture is None


def test_featured_copies_follow(scene: Scene) -> None:
    scene.store.run(deals.set_front_page_deals([scene.deal_id]))
    scene.upload(FIRST)
    scene.follow()
    handle = deals.SYSTEM.reactions["follow_featured_deals"].handle
    consume(scene.store, deals.BIG_TIME_DEALS.name, handle, name="follow").run_once()
    front, _ = scene.store.run(deals.fetch_front_page())
    assert front.featured_deals[0].picture == scene.deal.picture is not None


def test_the_picture_before_goes_after_a_day(scene: Scene) -> None:
    scene.upload(FIRST)
    scene.follow()
    first = scene.deal.picture
    scene.upload(SECOND)
    scene.follow()
    second = scene.deal.picture
    assert first != second
    scene.sweep()
    assert scene.files() == scene.files_of(first) | scene.files_of(second)
    scene.moment += UNUSED_FOR
    scene.sweep()
    assert scene.files() == scene.files_of(second)
    assert scene.items(UnusedPicture) == [] and len(scene.items(PictureUse)) == 1


def test_a_picture_that_another_has_too_stays(scene: Scene) -> None:
    apple = Pictured.brand("APPLE")
    scene.upload(FIRST)
    scene.upload(FIRST, apple)
    scene.follow()
    picture = scene.deal.picture
    scene.store.run(site.remove_picture("erin", scene.lamp))
    scene.moment += UNUSED_FOR
    scene.sweep()
    assert scene.files() == scene.files_of(picture) and scene.items(UnusedPicture) == []


def test_a_picture_that_comes_back_stays(scene: Scene) -> None:
    for content in (FIRST, SECOND, FIRST):
        scene.upload(content)
        scene.follow()
    scene.moment += UNUSED_FOR
    scene.sweep()
    assert scene.files() == scene.files_of(scene.deal.picture)


def test_the_picture_of_a_deleted_deal_goes(scene: Scene) -> None:
    scene.upload(FIRST)
    scene.follow()
    table = deals.BIG_TIME_DEALS.name
    scene.store.run(bt.delete(deals.Deal.key(scene.deal_id)))
    consume(scene.store, table, release_pictures.handle, name="release").run_once()
    scene.moment += UNUSED_FOR
    scene.sweep()
    assert scene.files() == set()
    assert scene.items(PictureUse) == scene.items(UnusedPicture) == []


def test_a_change_of_a_deal_with_a_picture_reads_no_deal(scene: Scene) -> None:
    """Brands change with every like: only a deletion may cost a read."""
    scene.upload(FIRST)
    scene.follow()
    scene.store.run(bt.update(deals.Deal.key(scene.deal_id), title="Another lamp"))
    table, requests = deals.BIG_TIME_DEALS.name, list[Request]()
    watched = Store(scene.engine, hooks=[lambda exchange: requests.append(exchange.request)])
    consume(watched, table, release_pictures.handle, name="release").run_once()
    reads = [each for each in requests if each.operation == "GetItem"]
    assert table not in {each.params["TableName"] for each in reads}


def test_an_upload_for_a_deal_that_is_gone_leaves_nothing(scene: Scene) -> None:
    scene.upload(FIRST)
    scene.store.run(bt.delete(deals.Deal.key(scene.deal_id)))
    scene.follow()
    scene.moment += UNUSED_FOR
    scene.sweep()
    assert scene.files() == set() and scene.items(PictureUpload) == []


def test_of_two_uploads_the_later_one_counts(scene: Scene) -> None:
    scene.upload(FIRST)
    scene.upload(SECOND)
    scene.follow()
    assert scene.deal.picture is not None and scene.deal.picture.width == 200
    assert scene.files() == scene.files_of(scene.deal.picture)


def test_what_cannot_be_decoded_is_removed_and_its_editor_is_told(scene: Scene) -> None:
    scene.upload(images.damaged_png())
    scene.follow()
    upload = scene.store.run(site.fetch_upload(scene.lamp))
    assert upload is not None and upload.fault is not None and "damaged" in upload.fault
    assert scene.files() == set() and scene.deal.picture is None
    assert scene.items(UnusedPicture) == []
    scene.upload(FIRST)
    scene.follow()
    assert scene.deal.picture is not None


def test_an_upload_whose_file_is_lost_says_so(scene: Scene) -> None:
    scene.place.remove(site.incoming_name(scene.upload(FIRST)))
    scene.follow()
    upload = scene.store.run(site.fetch_upload(scene.lamp))
    assert upload is not None and upload.fault == LOST


def test_a_file_that_no_upload_waits_for_goes_after_an_hour(scene: Scene) -> None:
    scene.place.write("incoming/0123.4567", FIRST)
    scene.place.write("incoming/0123.4568.part", FIRST)
    waiting = site.incoming_name(scene.upload(SECOND))
    scene.moment = datetime.now(UTC)
    scene.sweep()
    assert len(scene.files()) == 3
    scene.moment += timedelta(hours=2)
    scene.sweep()
    assert scene.files() == {waiting}


def test_a_picture_that_has_changed_meanwhile_is_left(scene: Scene) -> None:
    scene.upload(FIRST)
    scene.follow()
    picture = scene.deal.picture
    assert picture is not None
    with pytest.raises(bt.Conflict):
        scene.store.run(set_picture("erin", scene.lamp, picture, "no such upload"))
    assert scene.deal.picture == picture


Step = Callable[[Scene], None]


def killed_at(scene: Scene, number: int, step: Step) -> bool:
    """Whether the n-th thing was reached."""
    scene.saw.left = number
    try:
        step(scene)
    except Cut:
        return True
    finally:
        scene.saw.left = 10**9
    return False


@pytest.mark.parametrize("content", [SECOND, images.damaged_png()], ids=["good", "damaged"])
def test_killed_anywhere_there_is_a_whole_picture_or_none_and_then_nothing_else(
    scene: Scene, content: bytes
) -> None:
    scene.upload(FIRST)
    scene.follow()
    kills = 0
    is_over = False
    while not is_over:
        before = scene.deal.picture
        scene.upload(content)
        is_over = not killed_at(scene, kills, Scene.follow)
        for digest in {each.digest for each in (before, scene.deal.picture) if each}:
            assert any(digest in name for name in scene.files())
        assert scene.files_of(scene.deal.picture) <= scene.files()
        kills += 1
        scene.follow()  # after the restart
        scene.moment += UNUSED_FOR
        scene.sweep()
        picture = scene.deal.picture
        assert picture is not None
        assert picture.width == (200 if content is SECOND else 400)
        assert scene.files() == scene.files_of(picture)
        assert scene.items(UnusedPicture) == [] and len(scene.items(PictureUse)) == 1
        assert [each.fault for each in scene.items(PictureUpload) if each.fault is None] == []
    assert kills > (10 if content is SECOND else 4)


def test_killed_in_the_sweep_it_goes_on(scene: Scene) -> None:
    for number in range(6):
        scene.upload(FIRST if number % 2 else SECOND)
        scene.follow()
        scene.moment += UNUSED_FOR
        killed_at(scene, number, Scene.sweep)
    scene.sweep()
    assert scene.files() == scene.files_of(scene.deal.picture)
    assert scene.store.run(view_unused()) == []
