# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every product is in the list, and what each says of itself fits the others and its recipe."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._events import event_types
from ansible_collections.hardware.enablement.plugins.module_utils._products import PRODUCTS
from ansible_collections.hardware.enablement.plugins.module_utils._runs.product import (
    Product,
    WatchedKind,
)

REPO = Path(__file__).parents[4]
UTILS = "ansible_collections.hardware.enablement.plugins.module_utils"
WATCHED = [(product, each) for product in PRODUCTS for each in product.watched]


def test_every_product_is_listed() -> None:
    files = (REPO / "plugins" / "module_utils").glob("_*/*_product.py")
    found = [import_module(f"{UTILS}.{file.parent.name}.{file.stem}").PRODUCT for file in files]
    assert {product.recipe for product in found} == {product.recipe for product in PRODUCTS}


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda product: product.recipe)
def test_it_works_beside_a_recipe_of_ours(product: Product) -> None:
    assert (REPO / "recipes" / product.recipe / "recipe.yml").is_file()


def test_no_two_share_a_recipe_a_kind_or_an_event() -> None:
    recipes = [product.recipe for product in PRODUCTS]
    assert len(set(recipes)) == len(recipes)
    assert len({each.kind.kind for _product, each in WATCHED}) == len(WATCHED)
    own = len(event_types.MEANINGS) - len(WATCHED)
    assert list(event_types.MEANINGS)[own:] == [each.event for _product, each in WATCHED]


@pytest.mark.parametrize(("product", "watched"), WATCHED)
def test_it_may_watch_what_it_declares(product: Product, watched: WatchedKind) -> None:
    assert watched.kind.namespaced
    (right,) = [
        right
        for right in product.rights
        if right.group == watched.kind.group and watched.kind.plural in right.resources
    ]
    assert {"list", "watch"} <= set(right.read_only)
