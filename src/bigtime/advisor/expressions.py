"""Requests with fewer expressions than they had, or with conditions that hold."""

from __future__ import annotations

import re
from typing import Any

from bigtime.wire import Params

PLACEHOLDER = re.compile(r"[#:]\w+")
PLACEHOLDERS = ("ExpressionAttributeNames", "ExpressionAttributeValues")
ALIAS = "#bigtime_any"
ALWAYS = f"attribute_exists({ALIAS}) OR attribute_not_exists({ALIAS})"


def select_params(params: Params, *names: str) -> dict[str, Any]:
    """These parameters, and of the placeholders those that their expressions use."""
    chosen = {name: params[name] for name in names if name in params}
    texts = (text for name, text in chosen.items() if name.endswith("Expression"))
    used = set(PLACEHOLDER.findall(" ".join(texts)))
    for name in PLACEHOLDERS:
        left = {mark: value for mark, value in params.get(name, {}).items() if mark in used}
        if left:
            chosen[name] = left
    return chosen


def always_true(params: Params, name: str) -> dict[str, Any]:
    """The parameters with a condition that holds of every item, and still has to be right."""
    if name not in params:
        return dict(params)
    names = {**(params.get("ExpressionAttributeNames") or {}), ALIAS: "bigtime:any"}
    text = f"({params[name]}) OR {ALWAYS}"
    return {**params, name: text, "ExpressionAttributeNames": names}
