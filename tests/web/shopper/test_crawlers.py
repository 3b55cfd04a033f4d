"""What search engines and other sites read of the public pages."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from bigtime.systems.accounts.design import Role
from tests.web.browsing import Browser, Web
from tests.web.conftest import PostDeal

LOCATION = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


def test_robots_are_told_what_is_private_and_where_the_sitemap_is(visitor: Browser) -> None:
    answer = visitor.get("/robots.txt")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    assert "Disallow: /admin" in lines and "Disallow: /cart" in lines
    assert lines[-1].startswith("Sitemap: http://") and lines[-1].endswith("/sitemap.xml")


def test_every_address_of_the_sitemap_is_a_page(visitor: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()
    tree = ElementTree.fromstring(visitor.get("/sitemap.xml").text)
    found = [str(place.text) for place in tree.iter(LOCATION)]
    paths = [re.sub(r"^https?://[^/]+", "", place) for place in found]
    assert f"/deals/{deal.deal_id}" in paths and "/brands/CAST%20%26%20CRUMB" in paths
    assert [path for path in paths if visitor.get(path).status_code != 200] == []


def test_a_new_deal_is_in_the_sitemap(visitor: Browser, post_deal: PostDeal, web: Web) -> None:
    visitor.get("/sitemap.xml")
    deal = post_deal()
    web.site.cache.clear()
    assert f"/deals/{deal.deal_id}<" in visitor.get("/sitemap.xml").text


def test_a_deal_says_what_it_is_to_those_who_link_to_it(
    visitor: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal('A "brass" lamp')
    page = visitor.get(f"/deals/{deal.deal_id}").text
    assert 'property="og:title" content="A &#34;brass&#34; lamp"' in page
    assert re.search(rf'rel="canonical" href="http://[^"/]+/deals/{deal.deal_id}"', page)
    assert page.count('name="description"') == 1
    for path in ("/", "/brands/APPLE", "/categories/HOME", "/trending", "/editors-choice"):
        assert re.search(rf'rel="canonical" href="http://[^"/]+{path}"', visitor.get(path).text)


def test_editors_alone_find_the_way_to_a_deals_form(web: Web, post_deal: PostDeal) -> None:
    path = f"/deals/{post_deal().deal_id}"
    erin, alex = web.signed_in("erin", Role.EDITOR), web.signed_in("alex")
    assert f"/editor{path}" in erin.links(path)
    assert f"/editor{path}" not in alex.links(path)
    assert f"/editor{path}" not in web.browser().links(path)
