"""What the site does across systems, without HTTP: checkout, engagement, mail, registration."""

from bigtime.site.api_tokens import (
    MOST_TOKENS, ApiArea, ApiToken, TokenExists, TokenName, TokenScope, TooManyTokens, UnknownToken,
    api_token_text, create_api_token, hash_api_token, revoke_api_token, view_api_tokens,
)
from bigtime.site.cache_tags import (
    ALL_DEALS, BRANDS, CAMPAIGNS, EDITORS_CHOICE, FRONT_PAGE, LATEST, PRICING, SHOWN, TENANTS,
    brand_deals_tag, brand_tag, brand_trending_tag, campaign_tag, cart_tag, catalog_brand_deals_tag,
    catalog_brand_tag, catalog_category_deals_tag, catalog_deal_tag, category_deals_tag,
    category_tag, deal_tag, deal_tags, inbox_tag, interests_tag, product_tag, saved_tag,
    tags_of_item, tags_of_record, trending_tag,
)
from bigtime.site.catalog_projection import (
    unwatch_brand, unwatch_category, watch_brand, watch_category,
)
from bigtime.site.checkout import (
    MOST_PRODUCTS, AddressNameTaken, Checkout, NotAsReviewed, OldCheckout, TooManyProducts,
    check_out, draw_checkout_key, ensure_customer, find_placed_order, save_new_address,
)
from bigtime.site.cognito import CognitoAccounts, identity_of_claims
from bigtime.site.daily_units import store_units, view_daily_units
from bigtime.site.demo import demo_logins, load_demo, wants_demo
from bigtime.site.design import (
    AdminAction, AdminChange, EditorAction, EditorChange, EmailChange, Erasure, HotDealTask,
    IdempotencyRecord, Mail, PendingCheck, Worker, check_writes, view_worker_report,
    write_worker_report,
)
from bigtime.site.digest import HOUR as DIGEST_HOUR, DigestMailer
from bigtime.site.editing import (
    CATEGORY_NAMES, CHOICE_SLOT, FRONT_SLOT, SLOTS, FeaturedSlot, FeaturingItem, brand_path,
    category_slot, change_brand, change_deal, count_featured, create_brand, deal_path,
    feature_deals, fetch_featuring, fetch_hot_deal_task, fetch_last_editor, fetch_latest_for_slot,
    new_change, post_deal, publish_deal, request_hot_deal, unpublish_deal, view_changes,
)
from bigtime.site.email_change import (
    HostingClosed, SameEmail, WrongCodes, begin_email_change, fetch_email_change, finish_move,
    move_account, restart_email_change, send_change_codes,
)
from bigtime.site.engagement import (
    DEALS_AT_ONCE, DealEngagement, EngagementCounts, move_to_new_rank, move_to_new_ranks,
    record_click, record_click_activity, record_views,
)
from bigtime.site.erasure import (
    continue_erasures, delete_account, find_person, is_personal, lake_replacements, listed_data,
    note_copies_erased, reasons_to_keep, view_erasures,
)
from bigtime.site.guest_cart import GUEST_CART_LASTS, GuestCart, MergedCart, merge_guest_cart
from bigtime.site.idempotency import (
    AnsweredAlready, Claim, answer_write, answered_record, claim_request, fetch_record,
    record_answer, release_key,
)
from bigtime.site.letters import RAND, cycle_words, day, moment, money, percent
from bigtime.site.mail import MailSender, mail_text, view_outbox
from bigtime.site.mail_server import SHAPE, MailServer, check_sender
from bigtime.site.mailbox_check import (
    Codes, begin_check, fetch_check, fetch_verified_tenant, forget_mailbox, move_to_session,
    redeem_code, remember_mailbox, remind_tenants, restart_check, send_code, send_shopper_code,
    session_holder, view_tenants_to_remind, visit_holder,
)
from bigtime.site.notifications import (
    MailKind, Notifier, Unsubscribing, end_mails, fetch_settings, save_settings,
)
from bigtime.site.order_queue import (
    MOST_MOVED, STATUS_LABELS, DatesReversed, Mover, Moves, OrderMove, QueuedOrder, Sales,
    StaffOrder, move_order, move_orders, queue_entry, short_number, unlist_empty_months,
    view_order_queue, view_orders_of_email, view_orders_of_number, view_orders_to_pack, view_sales,
    view_staff_order,
)
from bigtime.site.personal import export_item
from bigtime.site.pictures import (
    PictureWorker, Pictured, draw_upload_id, fetch_upload, file_name, incoming_name, new_upload,
    remove_picture, upload_picture,
)
from bigtime.site.plan_orders import (
    PlanChoice, PlanShop, find_same_order, order_plan, order_plan_with_code,
)
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
from bigtime.site.user_admin import (
    UserView, end_sessions, find_user, grant_role, note_download, revoke_role, view_admin_changes,
    view_user, view_user_changes,
)
from bigtime.site.visitor import Visitor, Visitors

__all__ = [
    "ALL_DEALS", "BRANDS", "CAMPAIGNS", "CATEGORY_NAMES", "CHOICE_SLOT", "DEALS_AT_ONCE",
    "DEAL_ENGAGEMENT", "DIGEST_HOUR", "EDITORS_CHOICE", "FRONT_PAGE", "FRONT_SLOT",
    "GUEST_CART_LASTS", "LAKES", "LATEST", "MOST_MOVED", "MOST_PRODUCTS", "MOST_TOKENS", "PRICING",
    "RAND", "REPORTS", "SHAPE", "SHOWN", "SITE", "SLOTS", "STATUS_LABELS", "SYSTEMS", "TENANTS",
    "AddressNameTaken", "AdminAction", "AdminChange", "AnsweredAlready", "ApiArea", "ApiToken",
    "CartAddition", "Checkout", "Claim", "Codes", "CognitoAccounts", "DatesReversed",
    "DealEngagement", "DealFilters", "DealSort", "Details", "DigestMailer", "EditorAction",
    "EditorChange", "EmailChange", "EngagementCounts", "Erasure", "FeaturedSlot", "FeaturingItem",
    "GuestCart", "HostingClosed", "HotDealTask", "IdempotencyRecord", "Mail", "MailKind",
    "MailSender", "MailServer", "MergedCart", "Mover", "Moves", "NoUndo", "NotAsReviewed",
    "Notifier", "OldCheckout", "OrderMove", "PendingCheck", "PictureWorker", "Pictured",
    "PlanChoice", "PlanShop", "PricedCart", "QueuedOrder", "Report", "Sales", "SameEmail",
    "Searches", "StaffOrder", "TokenExists", "TokenName", "TokenScope", "TooManyProducts",
    "TooManyTokens", "UnknownToken", "Unsubscribing", "UserView", "Visitor", "Visitors",
    "WholeCount", "Worker", "WrongCodes", "all_lines", "answer_write", "answered_record",
    "api_token_text", "begin_check", "begin_email_change", "begin_sign_up", "brand_deals_tag",
    "brand_path", "brand_tag", "brand_trending_tag", "campaign_tag", "cart_tag",
    "catalog_brand_deals_tag", "catalog_brand_tag", "catalog_category_deals_tag",
    "catalog_deal_tag", "category_deals_tag", "category_slot", "category_tag", "change_brand",
    "change_deal", "check_out", "check_sender", "check_writes", "claim_request", "confirm_email",
    "connect_account", "continue_erasures", "count_featured", "count_try", "create_api_token",
    "create_brand", "cycle_words", "day", "deal_path", "deal_tag", "deal_tags", "delete_account",
    "demo_logins", "draw_checkout_key", "draw_upload_id", "end_mails", "end_sessions",
    "ensure_customer", "export_item", "feature_deals", "fetch_check", "fetch_email_change",
    "fetch_featuring", "fetch_hot_deal_task", "fetch_last_editor", "fetch_latest_for_slot",
    "fetch_record", "fetch_saved_form", "fetch_settings", "fetch_upload", "fetch_verified_tenant",
    "file_name", "find_person", "find_placed_order", "find_same_order", "find_user", "finish_move",
    "forget_mailbox", "forget_tries", "form_values", "grant_role", "hash_api_token",
    "identity_of_claims", "inbox_tag", "incoming_name", "interests_tag", "is_network_known",
    "is_personal", "join", "lake_replacements", "listed_data", "load_demo", "mail_text",
    "merge_guest_cart", "moment", "money", "move_account", "move_order", "move_orders",
    "move_to_new_rank", "move_to_new_ranks", "move_to_session", "new_change", "new_upload",
    "note_copies_erased", "note_download", "open_account", "order_plan", "order_plan_with_code",
    "pattern_label", "percent", "post_deal", "price_cart", "product_tag", "publish_deal",
    "put_deal_in_cart", "queue_entry", "reasons_to_keep", "record_answer", "record_click",
    "record_click_activity", "record_views", "redeem_code", "regain_account", "release_key",
    "remember_mailbox", "remember_network", "remind_tenants", "remove_picture", "request_hot_deal",
    "reset_password", "restart_check", "restart_email_change", "revoke_api_token", "revoke_role",
    "save_form", "save_new_address", "save_settings", "saved_tag", "search_followers",
    "send_change_codes", "send_code", "send_shopper_code", "session_holder", "set_counts",
    "short_number", "store_units", "tags_of_item", "tags_of_record", "take_new_price",
    "trending_tag", "unlist_empty_months", "unpublish_deal", "unwatch_brand", "unwatch_category",
    "upload_picture", "view_active_lines", "view_admin_changes", "view_api_tokens", "view_cart",
    "view_changes", "view_daily_units", "view_erasures", "view_order_queue", "view_orders_of_email",
    "view_orders_of_number", "view_orders_to_pack", "view_outbox", "view_sales", "view_staff_order",
    "view_tenants_to_remind", "view_user", "view_user_changes", "view_worker_report",
    "visit_holder", "wants_demo", "watch_brand", "watch_category", "write_worker_report",
]
