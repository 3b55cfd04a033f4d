"""Which role runs which patterns: what `bigtime iam portal --role` allows.

IAM controls requests, not patterns: a role that may query an index may run every pattern that needs
no more. So each role names all patterns that it can run; a test checks that it names no more and no
fewer.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import design, values
from bigtime.systems.portal.chain import next_entry
from bigtime.systems.portal.registration import hash_of

CATALOG: Final = (
    "get_product", "list_products", "list_deleted_products", "list_product_names", "count_products",
    "get_campaign", "list_campaigns", "list_upcoming_campaigns", "list_expired_campaigns",
    "list_next_and_last_campaigns", "list_deleted_campaigns", "count_campaigns", "quote_order",
)  # fmt: skip
HISTORY: Final = (
    "get_tenant", "get_order", "list_orders", "list_plans", "audit_log",
)  # fmt: skip
LISTS: Final = (
    "get_tenant_by_email", "list_tenants", "list_tenants_by_status", "list_deleted_tenants",
    "list_tenants_to_remind", "count_tenants_by_status", "count_tenants", "count_deleted_tenants",
    "count_tenants_to_remind", "list_campaigns_by_product", "list_campaigns_by_creation",
)  # fmt: skip
TENANT_CHANGES: Final = (
    "create_tenant", "update_tenant", "soft_delete_tenant", "restore_tenant", "tenant_at_checkout",
    "register_tenant", "update_tenant_status", "override_tenant_status", "suspend_tenant",
    "reinstate_tenant",
)  # fmt: skip
CATALOG_CHANGES: Final = (
    "create_product", "update_product", "soft_delete_product", "restore_product", "create_campaign",
    "update_campaign", "soft_delete_campaign", "restore_campaign",
)  # fmt: skip
CODES: Final = ("issue_code", "redeem_code", "validate_tenant")
ROLES: Final[Mapping[str, tuple[str, ...]]] = {
    "public": CATALOG,
    "checkout": (*CATALOG, *HISTORY, *TENANT_CHANGES, *CODES, "place_order"),
    "admin": (*CATALOG, *HISTORY, *LISTS, *TENANT_CHANGES, *CATALOG_CHANGES),
    "consumer": ("log_price_changes", "audit_log"),
    "auditor": (*CATALOG, *HISTORY, *LISTS, "verify_audit"),
}

# Branches that the patterns' samples do not reach

SINCE: Final = datetime(2020, 1, 1, tzinfo=UTC)
CODE: Final = "123456"
SALT: Final = bytes(16)
TENANT_ID: Final = values.example_of("tenant")
PRODUCT_ID: Final = values.example_of("prod")
CAMPAIGN_CODE: Final = "SUMMER2025"
STAMPS: Final[dict[str, Any]] = {
    "date_created": SINCE,
    "date_last_updated": SINCE,
    "last_updated_by": "admin@example.com",
}


def tenant(**fields: Any) -> design.Tenant:
    return design.Tenant(id=TENANT_ID, email="customer@example.com", **STAMPS, **fields)


def product(**fields: Any) -> design.Product:
    return design.Product(
        id=PRODUCT_ID,
        name="Plan",
        description="A plan",
        price=Decimal("99.00"),
        billing_cycle=values.BillingCycle.MONTHLY,
        **STAMPS,
        **fields,
    )


def campaign(**fields: Any) -> design.Campaign:
    return design.Campaign(
        id=values.example_of("camp"),
        code=CAMPAIGN_CODE,
        description="A campaign",
        discount_percentage=Decimal(10),
        product_id=PRODUCT_ID,
        terms_conditions_link="https://example.com/terms",
        from_date=date(2020, 1, 1),
        to_date=date(2099, 12, 31),
        **STAMPS,
        **fields,
    )


def sent_code(purpose: design.Purpose) -> design.OneTimeCode:
    return design.OneTimeCode(
        purpose=purpose,
        id=TENANT_ID,
        hash=hash_of(purpose, TENANT_ID, CODE, SALT, b""),
        salt=SALT,
        expires_at=SINCE + timedelta(days=30_000),
    )


def price_change() -> bt.Change[Any]:
    before, after = product(), product().model_copy(update={"price": Decimal("89.00")})
    return bt.Change(
        "modify", design.Product, after.own_key(), before, after, "1", SINCE, by_service=False
    )


def order() -> design.Order:
    item = design.OrderItem(
        product_id=PRODUCT_ID, product_name="Plan", quantity=1, unit_price=Decimal("99.00")
    )
    return design.Order(
        id=values.example_of("order"),
        tenant_id=TENANT_ID,
        items=[item],
        total=Decimal("99.00"),
        **STAMPS,
    )


ORDERED: Final = (tenant(), product(), campaign())
WITH_CAMPAIGN: Final = {"products": {PRODUCT_ID: 1}, "campaign_code": CAMPAIGN_CODE}
BRANCHES: Final[Mapping[str, tuple[bt.Branch, ...]]] = {
    "list_plans": (bt.Branch({"tenant_id": TENANT_ID}, (order(), product())),),
    "restore_tenant": (bt.Branch({"tenant_id": TENANT_ID}, (tenant(active=False),)),),
    "restore_product": (bt.Branch({"product_id": PRODUCT_ID}, (product(active=False),)),),
    "restore_campaign": (bt.Branch({"code": CAMPAIGN_CODE}, (campaign(active=False), product())),),
    "redeem_code": (
        bt.Branch(
            {"purpose": design.Purpose.SIGN_IN, "tenant_id": TENANT_ID, "code": CODE},
            (sent_code(design.Purpose.SIGN_IN),),
        ),
    ),
    "validate_tenant": (
        bt.Branch(
            {"tenant_id": TENANT_ID, "code": CODE}, (sent_code(design.Purpose.VALIDATE), tenant())
        ),
    ),
    "register_tenant": (
        bt.Branch({"tenant_id": TENANT_ID}, (tenant(status=values.Status.VALIDATED),)),
    ),
    "reinstate_tenant": (
        bt.Branch({"tenant_id": TENANT_ID}, (tenant(status=values.Status.SUSPENDED),)),
    ),
    "quote_order": (bt.Branch(WITH_CAMPAIGN, ORDERED),),
    "place_order": (
        bt.Branch(
            {"tenant_id": TENANT_ID, "order_id": values.example_of("order"), **WITH_CAMPAIGN},
            ORDERED,
        ),
    ),
    "log_price_changes": (bt.Branch({"change": price_change()}, ()),),
}
ERASURE: Final[Mapping[str, tuple[bt.Branch, ...]]] = {
    "anonymise_tenant": (
        bt.Branch(
            {"tenant_id": TENANT_ID},
            (
                tenant(active=False),
                design.EmailMarker(address="customer@example.com", tenant_id=TENANT_ID),
                next_entry(
                    None,
                    design.Audited.TENANTS,
                    TENANT_ID,
                    action=design.Action.CREATED,
                    at=SINCE,
                    actor="admin@example.com",
                    salt=SALT,
                ),
            ),
        ),
    ),
}
