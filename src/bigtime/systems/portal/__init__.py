"""The customer portal: tenants, products, campaigns, orders; no record is ever deleted."""

from __future__ import annotations

from typing import Final

from bigtime.model import System
from bigtime.systems.portal import (
    campaigns, orders, personal, products, records, registration, tenants, verification,
)
from bigtime.systems.portal.anchor import Head, compare_heads, read_heads
from bigtime.systems.portal.campaigns import (
    Offer, count_campaigns, create_campaign, get_campaign, list_campaigns,
    list_campaigns_by_product, list_deleted_campaigns, list_expired_campaigns,
    list_next_and_last_campaigns, list_upcoming_campaigns, restore_campaign, soft_delete_campaign,
    update_campaign,
)
from bigtime.systems.portal.demo import DEMO
from bigtime.systems.portal.design import (
    AUDIT, CAMPAIGNS, CODES, LAKES, MOST_LINES, MOST_PIECES, ORDERS, PRODUCTS, TENANTS,
    TENANT_SEARCH, Action, AuditEntry, Audited, Campaign, Order, OrderItem, Product, Purpose,
    Tenant, products_without_duplicate,
)
from bigtime.systems.portal.environments import DEV, PROD, SIT
from bigtime.systems.portal.errors import (
    CampaignDeleted, CampaignElsewhere, CampaignExists, CampaignNotValid, CodeSpent, CodeUsed,
    CodeWrong, DatesReversed, DiscountRefused, DiscountTooHigh, EmailTaken, IdTaken, LinesRefused,
    MoveRefused, ProductDeleted, ProductUnavailable, RangeReversed, RecordMoved, StatusMoved,
    TenantDeleted, TenantSuspended, TotalMoved, UnknownCampaign, UnknownCode, UnknownOrder,
    UnknownProduct, UnknownTenant,
)
from bigtime.systems.portal.orders import (
    Plan, Plans, Quote, find_placed_order, get_order, list_orders, list_plans, make_order_id,
    place_order, quote_order,
)
from bigtime.systems.portal.personal import PERSONAL, RETENTION
from bigtime.systems.portal.products import (
    count_products, create_product, get_product, list_deleted_products, list_product_names,
    list_products, restore_product, soft_delete_product, update_product,
)
from bigtime.systems.portal.records import Counts, audit_log, bring_back, mark_of
from bigtime.systems.portal.registration import (
    MOST_TRIES, SEED_BYTES, VALID_FOR, code_from, issue_code, onward, override_tenant_status,
    redeem_code, register_tenant, update_tenant_status, validate_tenant,
)
from bigtime.systems.portal.roles import BRANCHES, ERASURE, ROLES
from bigtime.systems.portal.succession import copied_id, hand_over, prepare_successor
from bigtime.systems.portal.tenants import (
    count_deleted_tenants, count_tenants_by_status, count_tenants_to_remind, create_tenant,
    get_tenant, get_tenant_by_email, list_deleted_tenants, list_tenants, list_tenants_by_status,
    list_tenants_to_remind, orderly, restore_tenant, soft_delete_tenant, tenant_at_checkout,
    tenant_of, update_tenant,
)
from bigtime.systems.portal.values import (
    Active, AskedCode, Billing, BillingCycle, CampaignCode, Day, Description, Discount, Email,
    Features, Link, Name, OrderId, Price, ProductId, Reason, Status, TenantId, TenantStatus, Total,
    campaign_code_of, checked_email, checked_moment, checked_price, code_hint, example_of,
)
from bigtime.systems.portal.verification import Broken, Place, verify_chains

MODULES: Final = (tenants, registration, products, campaigns, orders, records, verification)

ACCEPTED: Final = {
    "hot-partition Tenant.TenantStatusIndex": (
        "tenants are listed by one of four statuses; a range of dates limits what is read"
    ),
    "hot-partition Tenant.ActiveIndex": "active tenants are listed, 100 to a page at the most",
    "hot-partition Product.ProductActiveIndex": "fewer than 100 products are expected",
    "hot-partition Campaign.CampaignActiveIndex": "fewer than 50 campaigns are expected",
    "hot-partition Campaign.ActiveIndex": "fewer than 50 campaigns are expected",
}

DUPLICATE: Final = {
    "hot-partition Product.ActiveIndex": "fewer than 100 products are expected",
    "duplicate-index products.ActiveIndex": (
        "every table has it, for one name across all of them; each write of a product"
        " pays one more write unit for it, and portal(duplicate_index=False) does without"
    ),
}

def portal(*, duplicate_index: bool = True, anonymise: bool = False) -> System:
    """The system with its options.

    Without `duplicate_index`, products have no ActiveIndex in addition to ProductActiveIndex, which
    has the same keys. With `anonymise`, tenants can be anonymised.
    """
    return System(
        "portal",
        (
            TENANTS,
            PRODUCTS if duplicate_index else products_without_duplicate(),
            CAMPAIGNS,
            ORDERS,
            AUDIT,
            CODES,
        ),
        modules=(*MODULES, *([personal] if anonymise else [])),
        accepted={**ACCEPTED, **(DUPLICATE if duplicate_index else {})},
        demo=DEMO,
        environments=(DEV, SIT, PROD),
        roles={**ROLES, "admin": (*ROLES["admin"], "anonymise_tenant")} if anonymise else ROLES,
        permanent=tuple(table.name for table in (TENANTS, PRODUCTS, CAMPAIGNS, ORDERS, AUDIT)),
        branches={**BRANCHES, **(ERASURE if anonymise else {})},
        retention=RETENTION,
        searches=(TENANT_SEARCH,),
        lakes=LAKES,
        personal=PERSONAL,
        unsaved=(CODES.name,),  # a restored one-time code could be used again
    )

SYSTEM: Final = portal()

__all__ = [
    "CAMPAIGNS", "MOST_LINES", "MOST_PIECES", "MOST_TRIES", "PRODUCTS", "SEED_BYTES", "SYSTEM",
    "TENANTS", "TENANT_SEARCH", "VALID_FOR", "Action", "Active", "AskedCode", "AuditEntry",
    "Audited", "Billing", "BillingCycle", "Broken", "Campaign", "CampaignCode", "CampaignDeleted",
    "CampaignElsewhere", "CampaignExists", "CampaignNotValid", "CodeSpent", "CodeUsed", "CodeWrong",
    "Counts", "DatesReversed", "Day", "Description", "Discount", "DiscountRefused",
    "DiscountTooHigh", "Email", "EmailTaken", "Features", "Head", "IdTaken", "LinesRefused", "Link",
    "MoveRefused", "Name", "Offer", "Order", "OrderId", "OrderItem", "Place", "Plan", "Plans",
    "Price", "Product", "ProductDeleted", "ProductId", "ProductUnavailable", "Purpose", "Quote",
    "RangeReversed", "Reason", "RecordMoved", "Status", "StatusMoved", "Tenant", "TenantDeleted",
    "TenantId", "TenantStatus", "TenantSuspended", "Total", "TotalMoved", "UnknownCampaign",
    "UnknownCode", "UnknownOrder", "UnknownProduct", "UnknownTenant", "audit_log", "bring_back",
    "campaign_code_of", "checked_email", "checked_moment", "checked_price", "code_from",
    "code_hint", "compare_heads", "copied_id", "count_campaigns", "count_deleted_tenants",
    "count_products", "count_tenants_by_status", "count_tenants_to_remind", "create_campaign",
    "create_product", "create_tenant", "example_of", "find_placed_order", "get_campaign",
    "get_order", "get_product", "get_tenant", "get_tenant_by_email", "hand_over", "issue_code",
    "list_campaigns", "list_campaigns_by_product", "list_deleted_campaigns",
    "list_deleted_products", "list_deleted_tenants", "list_expired_campaigns",
    "list_next_and_last_campaigns", "list_orders", "list_plans", "list_product_names",
    "list_products", "list_tenants", "list_tenants_by_status", "list_tenants_to_remind",
    "list_upcoming_campaigns", "make_order_id", "mark_of", "onward", "orderly",
    "override_tenant_status", "place_order", "prepare_successor", "quote_order", "read_heads",
    "redeem_code", "register_tenant", "restore_campaign", "restore_product", "restore_tenant",
    "soft_delete_campaign", "soft_delete_product", "soft_delete_tenant", "tenant_at_checkout",
    "tenant_of", "update_campaign", "update_product", "update_tenant", "update_tenant_status",
    "validate_tenant", "verify_chains",
]
