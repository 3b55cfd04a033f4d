"""Which status each error of a system is answered with.

Systems know nothing of HTTP, and what an error is called is for people: so they are listed, one by
one, and a test looks that none is missing. The portal's have families for it. Errors of the site's
own say it themselves, as `status`.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from bigtime.model import Conflict, CursorError, DomainError, ItemExists
from bigtime.systems import accounts, cart, catalog, deals, portal, sessions, shop

MALFORMED: Final[tuple[type[DomainError], ...]] = (
    CursorError,
    portal.Malformed,
)
FORBIDDEN: Final[tuple[type[DomainError], ...]] = (portal.Forbidden, accounts.MailboxNotEnough)
UNKNOWN: Final[tuple[type[DomainError], ...]] = (
    portal.Unknown,
    accounts.UnknownLogin,
    cart.UnknownLine,
    catalog.UnknownBrand,
    catalog.UnknownDeal,
    catalog.UnknownUser,
    deals.UnknownBrand,
    deals.UnknownCategory,
    deals.UnknownDeal,
    deals.UnknownMessage,
    deals.UnknownPage,
    deals.UnknownUser,
    sessions.UnknownSession,
    shop.UnknownAddress,
    shop.UnknownCustomer,
    shop.UnknownOrder,
)
CLASHING: Final[tuple[type[DomainError], ...]] = (
    Conflict,
    ItemExists,
    portal.Clash,
    accounts.LoginTaken,
    accounts.PasswordChanged,
    cart.CartChanged,
    cart.BackAlready,
    catalog.ActivityExists,
    catalog.AlreadyTrending,
    catalog.AlreadyWatching,
    catalog.BrandExists,
    catalog.DealExists,
    catalog.DealMoved,
    catalog.EngagementMoved,
    catalog.UserExists,
    deals.AlreadyLiked,
    deals.AlreadyWatched,
    deals.BrandExists,
    deals.CategoryExists,
    deals.DealExists,
    deals.UsernameTaken,
    sessions.SessionExists,
    shop.EmailTaken,
    shop.OrderExists,
    shop.OrderMovedOn,
    shop.UsernameTaken,
)
AGAINST_RULE: Final[tuple[type[DomainError], ...]] = (
    portal.AgainstRule,
    accounts.InvalidLogin,
    accounts.InvalidTenantId,
    accounts.InvalidUsername,
    accounts.OtherTenant,
    accounts.PasswordTooLong,
    accounts.PasswordTooShort,
    accounts.WrongCredentials,
    cart.CartTooLarge,
    cart.EmptyCart,
    cart.InCartAgain,
    cart.InvalidAccount,
    cart.InvalidCount,
    cart.InvalidLine,
    cart.InvalidOrderId,
    cart.InvalidPrice,
    cart.InvalidSku,
    cart.NotPurchasedByMoving,
    cart.OrderWithoutPurchase,
    cart.PurchaseWithoutOrder,
    cart.PurchasedStays,
    catalog.DiscountOutOfRange,
    catalog.EmptyId,
    catalog.EmptyText,
    catalog.ForbiddenCharacter,
    catalog.IdTooLong,
    catalog.InexactNumber,
    catalog.NegativeCount,
    catalog.NoTimeZone,
    catalog.NotTrending,
    catalog.NotWatching,
    catalog.NothingToChange,
    catalog.PriceNotPositive,
    catalog.ScoreOutOfRange,
    catalog.TextTooLong,
    deals.DescriptionRefused,
    deals.DotsAlone,
    deals.EmailRefused,
    deals.EmptyName,
    deals.FeaturedTwice,
    deals.ForbiddenCharacter,
    deals.LinkRefused,
    deals.NameTooLong,
    deals.NoDiscount,
    deals.NotLiked,
    deals.NotWatched,
    deals.PriceRefused,
    deals.SegmentsRefused,
    deals.TitleRefused,
    deals.TooFewFeatured,
    deals.TooManyBrands,
    deals.TooManyFeatured,
    deals.TooManyMessages,
    deals.WrongCategory,
    sessions.InvalidDuration,
    sessions.InvalidUsername,
    sessions.UnhashedToken,
    shop.DuplicateItem,
    shop.EmptyOrder,
    shop.InvalidAddressName,
    shop.InvalidCount,
    shop.InvalidCustomerName,
    shop.InvalidEmail,
    shop.InvalidItem,
    shop.InvalidOrderId,
    shop.InvalidPrice,
    shop.InvalidUsername,
    shop.StatusOutOfOrder,
    shop.TooManyAddresses,
    shop.TooManyItems,
)

STATUSES: Final[dict[type, HTTPStatus]] = {
    kind: status
    for status, kinds in (
        (HTTPStatus.BAD_REQUEST, MALFORMED),
        (HTTPStatus.FORBIDDEN, FORBIDDEN),
        (HTTPStatus.NOT_FOUND, UNKNOWN),
        (HTTPStatus.CONFLICT, CLASHING),
        (HTTPStatus.UNPROCESSABLE_ENTITY, AGAINST_RULE),
    )
    for kind in kinds
}


def status_of(error: Exception) -> HTTPStatus:
    """The status that an error is answered with; of one that is not listed, that of its family."""
    own = getattr(error, "status", None)
    if isinstance(own, HTTPStatus):
        return own
    known = (STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES)
    return next(known, HTTPStatus.UNPROCESSABLE_ENTITY)


def status_in_form(error: Exception) -> HTTPStatus:
    """The same for what a form or a body names: that it is not there makes it a wrong field."""
    status = status_of(error)
    return HTTPStatus.UNPROCESSABLE_ENTITY if status == HTTPStatus.NOT_FOUND else status
