"""New brands."""

from __future__ import annotations

import pytest

from bigtime.systems.deals.brands import fetch_all_brands, fetch_brand
from tests.web.browsing import Browser, Web, words
from tests.web.editor.noted import changes, noted_changes

NEW, POST, PREVIEW = "/editor/brands/new", "/editor/brands", "/editor/brands/preview"


def test_a_brand_is_made_and_everybody_sees_it(web: Web, erin: Browser, visitor: Browser) -> None:
    visitor.get("/brands")  # and that is kept

    answer = erin.submit(NEW, POST, name="Tom & Söhne", logo="https://shop.example/logo.png")

    assert answer.status_code == 303
    assert "Tom & Söhne was created." in words(erin.get(answer.headers["location"]).text)
    made = web.run(fetch_brand("tom & söhne"))
    assert (made.name, made.logo) == ("Tom & Söhne", "https://shop.example/logo.png")
    assert "Tom &amp; Söhne" in visitor.get("/brands").text
    assert noted_changes(web) == [("erin", "created brand", "Tom & Söhne")]


def test_the_list_leads_to_a_brand_whatever_it_is_called(web: Web, erin: Browser) -> None:
    name = "火" * 49 + "/" + "?&" * 25
    erin.submit(NEW, POST, name=name)
    (link,) = [link for link in erin.links("/editor/changes") if link.startswith("/brands/")]
    assert name in words(erin.get(link).text)
    assert len(changes(web)[0].link) < 200


@pytest.mark.parametrize("to", [POST, PREVIEW], ids=["post", "preview"])
def test_a_wrong_field_is_told_beside_it_and_nothing_is_made(
    to: str, web: Web, erin: Browser
) -> None:
    form = erin.form(NEW, POST).fields
    for field, typed, says in [
        ("name", "", "Please fill out this field."),
        ("name", "A#B", "cannot contain #"),
        ("name", "a\x00b", "invisible characters"),
        ("name", "x" * 101, "at most 100 characters"),
        ("name", "APPLE", "This brand already exists."),
        ("logo", "logo.png", "A link begins with https:// or http://"),
    ]:
        answer = erin.post(to, data={**form, "name": "Tom", field: typed})
        fault = answer.text.partition(f'id="{field}-fault">')[2].partition("<")[0]
        assert answer.status_code == 422 and says in words(fault), (field, typed)
    assert web.run(fetch_all_brands()) == ["Apple", "Cast & Crumb"] and noted_changes(web) == []


def test_nobody_is_told_of_a_brand_that_was_never_made(erin: Browser) -> None:
    for name in ("%3Cscript%3E%23", "Nobody", "x" * 200):
        page = erin.get(f"{NEW}?made={name}").text
        assert "There is" not in words(page) and "<script>" not in page.partition("<main")[2]


def card(html: str) -> str:
    return html.partition('id="preview"')[2].partition("</section>")[0]


def test_the_preview_shows_the_card_and_makes_nothing(web: Web, erin: Browser) -> None:
    form = erin.form(NEW, POST).fields
    typed = {"name": "Tom & <Söhne>", "logo": "https://shop.example/logo.png?a=1&b=2"}

    answer = erin.post(PREVIEW, data={**form, **typed})

    assert answer.status_code == 200
    assert "TS Tom & <Söhne>" in words(card(answer.text).replace("Söhne&gt;", "Söhne>"))
    assert 'href="https://shop.example/logo.png?a=1&amp;b=2" rel="nofollow noopener"' in answer.text
    assert 'value="Tom &amp; &lt;Söhne&gt;"' in answer.text
    assert web.run(fetch_all_brands()) == ["Apple", "Cast & Crumb"] and noted_changes(web) == []


def test_the_preview_follows_whoever_is_typing(erin: Browser) -> None:
    form = erin.form(NEW, POST).fields
    for typed, shows in [
        ({"name": ""}, "A brand"),
        ({"name": "To", "logo": "htt"}, "To"),
        ({"name": "A#B"}, "A brand"),
        ({"name": "apple"}, "apple"),
    ]:
        answer = erin.post(PREVIEW, data={**form, **typed}, headers={"hx-request": "true"})
        assert answer.status_code == 200  # whoever is typing has made no mistake yet
        assert f"<h3>{shows}</h3>" in card(answer.text) and "Logo" not in words(card(answer.text))
    assert f'hx-post="{PREVIEW}"' in erin.get(NEW).text


def test_the_form_says_what_the_logo_is_for(erin: Browser) -> None:
    page = erin.get(NEW).text
    hint = page.partition('id="logo-hint">')[2].partition("<")[0]
    assert "The brand's page links to it" in words(hint)


def test_the_page_of_a_brand_has_its_mark_and_a_link_to_its_logo(
    erin: Browser, visitor: Browser
) -> None:
    erin.submit(NEW, POST, name="Tom & Söhne", logo="https://shop.example/logo.png")
    page = visitor.get("/brands/TOM & SÖHNE").text.partition("<main")[2]
    assert ">TS</span>" in page and "<img" not in page
    assert '<a href="https://shop.example/logo.png" rel="nofollow noopener">Logo</a>' in page
    assert "Logo" not in words(visitor.get("/brands/APPLE").text)
