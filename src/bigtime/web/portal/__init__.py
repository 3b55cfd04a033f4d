"""The customer portal: plans and checkout, mailbox checks, registration, a customer's own pages."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter

from bigtime.web.portal import customer, mailbox, plans, register

PORTAL: Final[tuple[APIRouter, ...]] = (
    plans.plans, mailbox.mailbox, register.register, customer.customer_pages,
)
"""The routers, in the order in which routes are tried."""

__all__ = ["PORTAL"]
