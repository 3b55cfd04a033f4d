"""Pictures at the desk: an upload is checked, kept for the worker, and shown where it belongs."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from httpx import Response

from bigtime import pictures
from bigtime.model import get, scan
from bigtime.pictures.encoding import encode_file
from bigtime.pictures.files import MOST_BYTES
from bigtime.site import PictureWorker
from bigtime.site.design import SITE_TABLE, PictureUpload, PictureUse, UnusedPicture
from bigtime.store import consume
from bigtime.systems import deals
from bigtime.systems.accounts.design import Role
from bigtime.systems.deals.design import Deal
from bigtime.web.http.limits import Limit
from tests.pictures import images
from tests.web.browsing import PLENTY, Browser, Form, Web, make_web, words
from tests.web.conftest import PostDeal

PHOTO = images.jpeg(400, 300)
ZIP = b"PK\x03\x04" + b"\0" * 60 + b"PK\x05\x06" + b"\0" * 18
BAD = {
    "text": (b"no picture at all", "Choose a JPEG, PNG or WebP picture."),
    "a polyglot": (PHOTO + ZIP, "something else in it after the picture"),
    "a truncated file": (PHOTO[:-20], "incomplete or damaged"),
    "a bomb": (images.bomb(), "more than 40 megapixels"),
    "a large file": (PHOTO + b"\0" * MOST_BYTES, "more than 5 MB"),
    "an animation": (images.animation("WEBP"), "animated"),
}


def send(browser: Browser, action: str, form: Form, content: bytes, **typed: str) -> Response:
    """Sends a form with a picture, as a browser does."""
    fields = {name: value for name, value in form.fields.items() if name != "picture"}
    files = {"picture": ("photo.jpg", content, "image/jpeg")}
    sent: Response = browser.post(action, data={**fields, **typed}, files=files)
    return sent


def upload(browser: Browser, deal: Deal, content: bytes, **typed: str) -> Response:
    page = f"/editor/deals/{deal.deal_id}"
    return send(browser, f"{page}/picture", browser.form(page, f"{page}/picture"), content, **typed)


@pytest.fixture
def folder(web: Web, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(pictures, "encode_upload", encode_file)
    return Path(web.site.pictures.place.where)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def work(web: Web) -> None:
    """The worker takes its turn."""
    handle = PictureWorker(web.site.pictures.place).reaction.handle
    consumer = consume(web.store, SITE_TABLE.name, handle, name="site.pictures")
    while any(turn.more for turn in consumer.run_round()):
        pass


def stored_deal(web: Web, deal: Deal) -> Deal:
    found: Deal = web.run(get(Deal.key(deal.deal_id), missing=deals.UnknownDeal, consistent=True))
    return found


def test_a_picture_is_prepared_and_then_shown_everywhere(
    web: Web, erin: Browser, visitor: Browser, post_deal: PostDeal, folder: Path
) -> None:
    deal = post_deal()
    sent = upload(erin, deal, PHOTO)
    assert sent.headers["location"] == f"/editor/deals/{deal.deal_id}?done=picture"
    page = f"/editor/deals/{deal.deal_id}"
    assert "is being prepared" in words(erin.get(page).text)
    work(web)
    picture = stored_deal(web, deal).picture
    assert picture is not None
    source = f"/pictures/{picture.digest}/320.webp 320w"
    assert "is being prepared" not in erin.get(page).text and source in erin.get(page).text
    for path in (f"/deals/{deal.deal_id}", "/categories/HOME", "/brands/APPLE"):
        shown = visitor.get(path).text
        assert source in shown, path
        assert f'width="{picture.width}" height="{picture.height}"' in shown
    assert 'alt="A lamp"' in visitor.get(f"/deals/{deal.deal_id}").text


def test_a_picture_is_kept_by_browsers_for_good(
    web: Web, erin: Browser, visitor: Browser, post_deal: PostDeal, folder: Path
) -> None:
    deal = post_deal()
    upload(erin, deal, PHOTO)
    work(web)
    picture = stored_deal(web, deal).picture
    assert picture is not None
    address = f"/pictures/{picture.digest}/320.webp"
    answer = visitor.get(address)
    assert answer.status_code == 200 and answer.headers["content-type"] == "image/webp"
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert pictures.read_header(answer.content) == ("WEBP", 320, 240)
    again = visitor.get(address, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304 and again.content == b""
    assert visitor.head(address).headers["content-length"] == str(len(answer.content))


@pytest.mark.parametrize(
    "path",
    [
        f"/pictures/{'0' * 32}/320.webp",
        "/pictures/../320.webp",
        "/pictures/%2e%2e%2fincoming/1.webp",
        f"/pictures/{'0' * 32}/..%2f..%2fsecret.webp",
        f"/pictures/{'0' * 32}/0.webp",
        f"/pictures/{'A' * 32}/320.webp",
        "/pictures/incoming/1.webp",
    ],
)
def test_there_is_no_other_file(visitor: Browser, path: str) -> None:
    assert visitor.get(path).status_code == 404


def test_made_up_pictures_are_not_looked_for_without_end(
    web: Web, erin: Browser, visitor: Browser, post_deal: PostDeal, folder: Path
) -> None:
    deal = post_deal()
    upload(erin, deal, PHOTO)
    work(web)
    picture = stored_deal(web, deal).picture
    assert picture is not None
    web.site.limits.limits = {**PLENTY, "missing picture": Limit(3, 3_600)}
    reads, read = [], web.site.pictures.place.read

    def count_read(name: str) -> bytes | None:
        reads.append(name)
        return read(name)

    web.site.pictures.place = SimpleNamespace(read=count_read)
    there = [f"/pictures/{picture.digest}/{width}.webp" for width in picture.widths]
    assert [visitor.get(path).status_code for path in there * 2] == [200] * len(there) * 2
    found = [visitor.get(f"/pictures/{number:032x}/320.webp").status_code for number in range(6)]
    assert found == [404, 404, 404, 429, 429, 429] and len(reads) == len(there) + 3
    assert visitor.get(there[0]).status_code == 200  # from memory


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_picture_gets_a_sentence_and_leaves_nothing(
    web: Web, erin: Browser, post_deal: PostDeal, folder: Path, name: str
) -> None:
    deal = post_deal()
    content, sentence = BAD[name]
    answer = upload(erin, deal, content, title="A lamp & <more>", price="12.34")
    assert answer.status_code == 422 and sentence in words(answer.text)
    assert 'value="A lamp &amp; &lt;more&gt;"' in answer.text and 'value="12.34"' in answer.text
    assert files(folder) == [] and stored_deal(web, deal) == deal
    for entity in (PictureUpload, PictureUse, UnusedPicture):
        assert list(web.run(scan(entity))) == []


def test_what_cannot_be_decoded_is_told_to_the_editor(
    web: Web, erin: Browser, post_deal: PostDeal, folder: Path
) -> None:
    deal = post_deal()
    assert upload(erin, deal, images.damaged_png()).status_code == 303
    work(web)
    page = words(erin.get(f"/editor/deals/{deal.deal_id}").text)
    assert "incomplete or damaged" in page and "is being prepared" not in page
    assert files(folder) == [] and stored_deal(web, deal).picture is None


def test_what_was_typed_beside_it_stays_and_is_not_saved(
    web: Web, erin: Browser, post_deal: PostDeal, folder: Path
) -> None:
    deal = post_deal()
    answer = upload(erin, deal, PHOTO, title="Another lamp", price="oops")
    assert answer.status_code == 200
    assert "Your other changes are not saved yet." in words(answer.text)
    assert 'value="Another lamp"' in answer.text and 'value="oops"' in answer.text
    assert stored_deal(web, deal).title == "A lamp"


def test_without_a_picture_it_asks_for_one(erin: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()
    answer = upload(erin, deal, b"")
    assert answer.status_code == 422 and "Choose a picture first." in words(answer.text)
    page = f"/editor/deals/{deal.deal_id}"
    assert erin.submit(page, f"{page}/picture").status_code == 422


NEW = {
    "brand_name": "Apple",
    "category_name": "HOME",
    "title": "A chair",
    "price": "5",
    "link": "https://shop.example/chair",
}


def test_a_new_deal_comes_with_its_picture(web: Web, erin: Browser, folder: Path) -> None:
    form = erin.form("/editor/deals/new", "/editor/deals")
    sent = send(erin, "/editor/deals", form, PHOTO, **NEW)
    page = sent.headers["location"].partition("?")[0]
    again = send(erin, "/editor/deals", form, PHOTO, **NEW)
    assert again.headers["location"].partition("?")[0] == page
    assert len(files(folder)) == 1  # the second upload is dropped
    work(web)
    deal = web.run(deals.fetch_deal(deals.deal_id_of(page.rpartition("/")[2])))
    assert deal.picture is not None and deal.picture.width == 400


def test_a_new_deal_with_a_bad_picture_is_not_made(web: Web, erin: Browser, folder: Path) -> None:
    form = erin.form("/editor/deals/new", "/editor/deals")
    answer = send(erin, "/editor/deals", form, PHOTO + ZIP, **NEW)
    assert answer.status_code == 422 and "something else in it" in words(answer.text)
    assert 'value="A chair"' in answer.text and files(folder) == []
    assert list(web.run(scan(Deal))) == []
    wrong = send(erin, "/editor/deals", form, PHOTO, **{**NEW, "brand_name": "Nobody"})
    assert wrong.status_code == 422 and files(folder) == []


def test_a_brand_has_a_logo(web: Web, erin: Browser, visitor: Browser, folder: Path) -> None:
    form = erin.form("/editor/brands/new", "/editor/brands")
    assert send(erin, "/editor/brands", form, PHOTO, name="Moss & Stone").status_code == 303
    work(web)
    path = "/editor/brands/MOSS%20%26%20STONE/picture"
    assert 'alt="Moss &amp; Stone logo"' in visitor.get("/brands/MOSS%20%26%20STONE").text
    assert "srcset=" in erin.get(path).text
    assert erin.submit(path, f"{path}/remove").headers["location"] == f"{path}?done=removed"
    assert " logo" not in visitor.get("/brands/MOSS%20%26%20STONE").text
    sent = send(erin, path, erin.form(path, path), images.png(64, 64))
    assert sent.headers["location"] == f"{path}?done=picture"
    work(web)
    assert web.run(deals.fetch_brand("MOSS & STONE")).picture.width == 64
    bad = send(erin, path, erin.form(path, path), ZIP)
    assert bad.status_code == 422 and "Choose a JPEG" in words(bad.text)


def test_a_picture_can_be_removed(
    web: Web, erin: Browser, visitor: Browser, post_deal: PostDeal, folder: Path
) -> None:
    deal = post_deal()
    upload(erin, deal, PHOTO)
    work(web)
    page = f"/editor/deals/{deal.deal_id}"
    assert erin.submit(page, f"{page}/picture/remove").status_code == 303
    assert stored_deal(web, deal).picture is None
    assert "categories.svg#home" in visitor.get(f"/deals/{deal.deal_id}").text
    assert "Remove picture" not in erin.get(page).text


def test_a_form_from_elsewhere_uploads_nothing(
    web: Web, erin: Browser, alex: Browser, post_deal: PostDeal, folder: Path
) -> None:
    deal = post_deal()
    action = f"/editor/deals/{deal.deal_id}/picture"
    for browser, token, status in ((erin, "made up", 400), (alex, alex.token(), 403)):
        form = Form(action, {"form_token": token})
        assert send(browser, action, form, PHOTO).status_code == status
    assert files(folder) == []
    files_twice = [("picture", ("a.jpg", PHOTO)), ("picture", ("b.jpg", PHOTO))]
    two = erin.post(action, data={"form_token": erin.token()}, files=files_twice)
    assert two.status_code == 400 and files(folder) == []


def test_a_lost_session_keeps_what_was_typed_beside_a_picture(
    web: Web, erin: Browser, post_deal: PostDeal, folder: Path
) -> None:
    form = erin.form("/editor/deals/new", "/editor/deals")
    erin.cookies.clear()
    headers = {"sec-fetch-site": "same-origin", "referer": "http://testserver/editor/deals/new"}
    sent = erin.post(
        "/editor/deals", data={**form.fields, **NEW}, files={"picture": PHOTO}, headers=headers
    )
    assert re.search(r"restore%3D|restore=", sent.headers["location"])
    assert files(folder) == []


def test_the_file_of_a_sender_without_a_session_is_not_read(web: Web, folder: Path) -> None:
    """Only what is before the file, in one chunk, so that what was typed is kept."""
    begin = b'--b\r\ncontent-disposition: form-data; name="title"\r\n\r\nA chair\r\n--b\r\n'
    file = b'content-disposition: form-data; name="picture"; filename="a.jpg"\r\n\r\n'
    chunks = [begin, file, *[b"\0" * 65_536] * 100]
    taken: list[bytes] = []
    sent: list[Any] = []

    async def receive() -> Any:
        taken.append(chunks[len(taken)])
        return {"type": "http.request", "body": taken[-1], "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {
        "content-type": "multipart/form-data; boundary=b",
        "content-length": str(sum(map(len, chunks))),
        "sec-fetch-site": "same-origin",
        "host": "testserver",
    }
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/editor/deals",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "state": {},
    }
    assert web.served.portal is not None
    web.served.portal.call(web.front, scope, receive, send)
    location = dict(sent[0]["headers"])[b"location"].decode()
    assert sent[0]["status"] == 303 and "restore%3D" in location
    assert len(taken) == 2 and files(folder) == []


def test_uploads_are_limited(engine: Any, tmp_path: Path, post_deal: PostDeal) -> None:
    limits = {**PLENTY, "upload": Limit(2, 1_000)}
    front, store = make_web(engine, tmp_path, limits=limits)
    web = Web(front, front.application.state.context, store, None)  # type: ignore[attr-defined,arg-type]
    deal = post_deal()
    with Browser(front, follow_redirects=False) as client:
        web.served = client
        editor = web.signed_in("eve", Role.EDITOR)
        statuses = [upload(editor, deal, PHOTO).status_code for _ in range(3)]
    assert statuses == [303, 303, 429]
