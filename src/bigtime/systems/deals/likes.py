"""Likes: a brand or a category is liked once by each user, and knows by how many."""

from __future__ import annotations

from bigtime.model import create, delete, pattern
from bigtime.systems.deals.design import BrandLike, CategoryLike
from bigtime.systems.deals.errors import AlreadyLiked, NotLiked
from bigtime.systems.deals.values import BrandName, CategoryName, Username
from bigtime.wire import Steps


@pattern("Like Brand for User", index="Main table")
def like_brand(brand_name: BrandName, username: Username) -> Steps[None]:
    """Transaction with LikeCount."""
    like = BrandLike(brand=brand_name, username=username)
    yield from create(like, unless_exists=AlreadyLiked)


@pattern("Unlike Brand", index="Main table")
def unlike_brand(brand_name: BrandName, username: Username) -> Steps[None]:
    """Transaction with LikeCount."""
    yield from delete(BrandLike.key(brand_name, username), if_exists=NotLiked)


@pattern("Like Category for User", index="Main table")
def like_category(category_name: CategoryName, username: Username) -> Steps[None]:
    """Transaction with LikeCount."""
    like = CategoryLike(category=category_name, username=username)
    yield from create(like, unless_exists=AlreadyLiked)


@pattern("Unlike Category", index="Main table")
def unlike_category(category_name: CategoryName, username: Username) -> Steps[None]:
    """Transaction with LikeCount."""
    yield from delete(CategoryLike.key(category_name, username), if_exists=NotLiked)
