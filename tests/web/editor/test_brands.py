"""New brands."""

from __future__ import annotations

from bigtime.systems.deals.brands import fetch_all_brands, fetch_brand
from tests.web.browsing import Browser, Web, words
from tests.web.editor.noted import changes, told

NEW, POST = "/editor/brands/new", "/editor/brands"


def test_a_brand_is_made_and_everybody_sees_it(web: Web, erin: Browser, visitor: Browser) -> None:
    visitor.get("/brands")  # and that is kept

    answer = erin.submit(NEW, POST, name="Tom & Söhne", logo="https://shop.example/logo.png")

    assert answer.status_code == 303
    assert "There is Tom & Söhne now." in words(erin.get(answer.headers["location"]).text)
    made = web.run(fetch_brand("tom & söhne"))
    assert (made.name, made.logo) == ("Tom & Söhne", "https://shop.example/logo.png")
    assert "Tom &amp; Söhne" in visitor.get("/brands").text
    assert told(web) == [("erin", "created brand", "Tom & Söhne")]


def test_the_list_leads_to_a_brand_whatever_it_is_called(web: Web, erin: Browser) -> None:
    name = "火" * 49 + "/" + "?&" * 25
    erin.submit(NEW, POST, name=name)
    (link,) = [one for one in erin.links("/editor/changes") if one.startswith("/brands/")]
    assert name in words(erin.get(link).text)
    assert len(changes(web)[0].link) < 200


def test_a_wrong_field_is_told_beside_it_and_nothing_is_made(web: Web, erin: Browser) -> None:
    for field, typed, says in [
        ("name", "", "Please fill this in."),
        ("name", "A#B", "must not contain #"),
        ("name", "a\x00b", "characters that cannot be seen"),
        ("name", "x" * 101, "at most 100 characters"),
        ("name", "APPLE", "There is such a brand already."),
        ("logo", "logo.png", "A link begins with https:// or http://"),
    ]:
        answer = erin.submit(NEW, POST, **{"name": "Tom", field: typed})
        fault = answer.text.partition(f'id="{field}-fault">')[2].partition("<")[0]
        assert answer.status_code == 422 and says in words(fault), (field, typed)
    assert web.run(fetch_all_brands()) == ["Apple", "Cast & Crumb"] and told(web) == []


def test_nobody_is_told_of_a_brand_that_was_never_made(erin: Browser) -> None:
    page = erin.get(f"{NEW}?made=%3Cscript%3E%23").text
    assert "There is" not in words(page) and "<script>" not in page.partition("<main")[2]
