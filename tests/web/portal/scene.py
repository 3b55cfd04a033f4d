"""What most tests of the portal's pages begin with: campaigns that run, mailboxes, customers."""

from __future__ import annotations

import re
from copy import copy
from datetime import UTC, datetime, timedelta
from typing import Any

from bigtime.model import Page
from bigtime.site.design import Mail
from bigtime.site.mail import mail_text, view_outbox
from bigtime.site.registration import join
from bigtime.systems.portal.design import Campaign, Order, Tenant
from bigtime.systems.portal.orders import list_orders
from bigtime.systems.portal.tenants import tenant_of
from tests.systems.portal.scenes import new_campaign, registered_tenant
from tests.web.browsing import PASSWORD, Browser, Web

EMAIL = "customer@example.com"
ORDER = "/portal/checkout/order"


def running_campaign(web: Web, product_id: str, **but: Any) -> Campaign:
    today = datetime.now(UTC).date()
    dates = {"from_date": today - timedelta(days=1), "to_date": today + timedelta(days=1)}
    return new_campaign(web, product_id, **{**dates, **but})


def letters(web: Web, to: str = EMAIL) -> list[Mail]:
    """What was written to somebody, newest first."""
    store = copy(web.store)
    store.clock = web.site.store.clock  # the outbox ends today, as the site has it
    page: Page[Mail] = store.run(view_outbox())
    return [as_sent(web, each) for each in page if each.to == to]


def as_sent(web: Web, mail: Mail) -> Mail:
    """A letter as somebody gets it, with its code."""
    return mail.model_copy(update={"text": mail_text(mail, web.site.pepper)})


def code_for(web: Web, email: str = EMAIL) -> str:
    """The code that was mailed last."""
    found = re.search(r"Your code is (\d{6})\.", letters(web, email)[0].text)
    assert found
    return found[1]


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06}"


def tenant(web: Web, email: str = EMAIL) -> Tenant:
    found: Tenant | None = web.run(tenant_of(email))
    assert found
    return found


def orders_of(web: Web, email: str = EMAIL) -> list[Order]:
    page: Page[Order] = web.run(list_orders(tenant(web, email).id))
    return page.items


def checkout_page(product_id: str, **choice: str) -> str:
    told = "".join(f"&{name}={value}" for name, value in choice.items())
    return f"/portal/checkout?product={product_id}{told}"


def give_address(browser: Browser, page: str, email: str = EMAIL) -> str:
    """Gives an address at checkout; the address of the page that asks for the code."""
    sent = browser.submit(page, "/portal/checkout/email", email=email)
    assert sent.status_code == 303, sent.text
    location: str = sent.headers["location"]
    return location


def prove(web: Web, browser: Browser, page: str, email: str = EMAIL) -> str:
    """Shows whose a mailbox is, on the way to an order; the address that it goes on to."""
    asked = give_address(browser, page, email)
    done = browser.submit(asked, asked, code=code_for(web, email))
    assert done.status_code == 303, done.text
    location: str = done.headers["location"]
    return location


def customer(web: Web, email: str = EMAIL, username: str = "cara") -> tuple[Tenant, Browser]:
    """A registered tenant, and the browser in which its account is signed in."""
    made = registered_tenant(web, email)
    web.run(join(email, PASSWORD, username, tenant_id=made.id))
    return made, web.session_of(email)


def later(web: Web, **by: float) -> None:
    """Lets time pass, for the site."""
    moment = web.site.store.clock() + timedelta(**by)
    web.site.store.clock = lambda: moment
