"""What the site does across systems, without HTTP: checkout, engagement, mail, registration."""

from bigtime.site.cache_tags import (
    ALL_DEALS, BRANDS, CAMPAIGNS, EDITORS_CHOICE, FRONT_PAGE, LATEST, PRICING, SHOWN, TENANTS,
    brand_deals_tag, brand_tag, brand_trending_tag, campaign_tag, cart_tag, catalog_brand_deals_tag,
    catalog_brand_tag, catalog_category_deals_tag, catalog_deal_tag, category_deals_tag,
    category_tag, deal_tag, deal_tags, inbox_tag, interests_tag, product_tag, tags_of_item,
    tags_of_record, trending_tag,
)
from bigtime.site.checkout import (
    MOST_PRODUCTS, AddressNameTaken, Checkout, NotAsReviewed, OldCheckout, TooManyProducts,
    check_out, draw_checkout_key, ensure_customer, find_placed_order, save_new_address,
)
from bigtime.site.daily_units import store_units, view_daily_units
from bigtime.site.demo import demo_logins, load_demo, wants_demo
from bigtime.site.design import (
    EditorAction, EditorChange, HotDealTask, IdempotencyRecord, Mail, PendingCheck, Worker,
    check_writes, view_worker_report, write_worker_report,
)
from bigtime.site.editing import (
    CHOICE_SLOT, FRONT_SLOT, SLOTS, FeaturedSlot, FeaturingItem, category_slot, change_deal,
    create_brand, deal_path, feature_deals, fetch_featuring, fetch_hot_deal_task, fetch_last_editor,
    fetch_latest_for_slot, new_change, post_deal, request_hot_deal, view_changes,
)
from bigtime.site.engagement import (
    DEALS_AT_ONCE, DealEngagement, EngagementCounts, move_to_new_rank, move_to_new_ranks,
    record_click, record_click_activity, record_views,
)
from bigtime.site.idempotency import (
    AnsweredAlready, Claim, answer_write, answered_record, claim_request, fetch_record,
    record_answer, release_key,
)
from bigtime.site.letters import RAND, day, moment, money, percent
from bigtime.site.mail import MailSender, mail_text, view_outbox
from bigtime.site.mail_server import SHAPE, MailServer, check_sender
from bigtime.site.mailbox_check import (
    Codes, begin_check, fetch_check, fetch_verified_tenant, forget_mailbox, move_to_session,
    redeem_code, remember_mailbox, remind_tenants, restart_check, send_code, send_shopper_code,
    session_holder, view_tenants_to_remind, visit_holder,
)
from bigtime.site.plan_orders import PlanChoice, PlanShop, order_plan, order_plan_with_code
from bigtime.site.priced_cart import (
    CartAddition, NoUndo, PricedCart, WholeCount, all_lines, price_cart, put_deal_in_cart,
    set_counts, take_new_price, view_active_lines, view_cart,
)
from bigtime.site.rate_limits import count_try, forget_tries, is_network_known, remember_network
from bigtime.site.registration import (
    Details, begin_sign_up, confirm_email, connect_account, form_values, join, open_account,
    regain_account, reset_password,
)
from bigtime.site.reports import DEAL_ENGAGEMENT, REPORTS, Report
from bigtime.site.saved_forms import fetch_saved_form, save_form
from bigtime.site.search import DealFilters, DealSort, Searches, search_followers
from bigtime.site.systems import LAKES, SITE, SYSTEMS, pattern_label
from bigtime.site.visitor import Visitor, Visitors
from bigtime.site.watches import unwatch_brand, unwatch_category, watch_brand, watch_category

__all__ = [
    "ALL_DEALS", "BRANDS", "CAMPAIGNS", "CHOICE_SLOT", "DEALS_AT_ONCE", "DEAL_ENGAGEMENT",
    "EDITORS_CHOICE", "FRONT_PAGE", "FRONT_SLOT", "LAKES", "LATEST", "MOST_PRODUCTS", "PRICING",
    "RAND", "REPORTS", "SHAPE", "SHOWN", "SITE", "SLOTS", "SYSTEMS", "TENANTS", "AddressNameTaken",
    "AnsweredAlready", "CartAddition", "Checkout", "Claim", "Codes", "DealEngagement",
    "DealFilters", "DealSort", "Details", "EditorAction", "EditorChange", "EngagementCounts",
    "FeaturedSlot", "FeaturingItem", "HotDealTask", "IdempotencyRecord", "Mail", "MailSender",
    "MailServer", "NoUndo", "NotAsReviewed", "OldCheckout", "PendingCheck", "PlanChoice",
    "PlanShop", "PricedCart", "Report", "Searches", "TooManyProducts", "Visitor", "Visitors",
    "WholeCount", "Worker", "all_lines", "answer_write", "answered_record", "begin_check",
    "begin_sign_up", "brand_deals_tag", "brand_tag", "brand_trending_tag", "campaign_tag",
    "cart_tag", "catalog_brand_deals_tag", "catalog_brand_tag", "catalog_category_deals_tag",
    "catalog_deal_tag", "category_deals_tag", "category_slot", "category_tag", "change_deal",
    "check_out", "check_sender", "check_writes", "claim_request", "confirm_email",
    "connect_account", "count_try", "create_brand", "day", "deal_path", "deal_tag", "deal_tags",
    "demo_logins", "draw_checkout_key", "ensure_customer", "feature_deals", "fetch_check",
    "fetch_featuring", "fetch_hot_deal_task", "fetch_last_editor", "fetch_latest_for_slot",
    "fetch_record", "fetch_saved_form", "fetch_verified_tenant", "find_placed_order",
    "forget_mailbox", "forget_tries", "form_values", "inbox_tag", "interests_tag",
    "is_network_known", "join", "load_demo", "mail_text", "moment", "money", "move_to_new_rank",
    "move_to_new_ranks", "move_to_session", "new_change", "open_account", "order_plan",
    "order_plan_with_code", "pattern_label", "percent", "post_deal", "price_cart", "product_tag",
    "put_deal_in_cart", "record_answer", "record_click", "record_click_activity", "record_views",
    "redeem_code", "regain_account", "release_key", "remember_mailbox", "remember_network",
    "remind_tenants", "request_hot_deal", "reset_password", "restart_check", "save_form",
    "save_new_address", "search_followers", "send_code", "send_shopper_code", "session_holder",
    "set_counts", "store_units", "tags_of_item", "tags_of_record", "take_new_price", "trending_tag",
    "unwatch_brand", "unwatch_category", "view_active_lines", "view_cart", "view_changes",
    "view_daily_units", "view_outbox", "view_tenants_to_remind", "view_worker_report",
    "visit_holder", "wants_demo", "watch_brand", "watch_category", "write_worker_report",
]
