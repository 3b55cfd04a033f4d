"""Who comes to the portal, and what there is."""

from __future__ import annotations

import pytest

from bigtime.systems.portal.design import Campaign, Product
from tests.systems.portal.scenes import new_product
from tests.web.browsing import Web
from tests.web.portal.scene import running_campaign


@pytest.fixture
def product(web: Web) -> Product:
    """A plan for R 299.99 a month."""
    return new_product(web)


@pytest.fixture
def campaign(web: Web, product: Product) -> Campaign:
    """Twenty percent off the plan, today."""
    return running_campaign(web, product.id)
