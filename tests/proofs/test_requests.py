"""Odd and hostile requests over HTTP, at the length that a test can afford."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine.validation import shapes
from proofs import corpus, seldom
from proofs.mutations import MUTATIONS, mutate_request, places
from proofs.raw_http import LARGE_BODIES, MEGABYTE, http
from tests.proofs.conftest import Prove

REQUESTS = [
    *corpus.item_requests(),
    *corpus.table_requests("arn"),
    *corpus.stream_requests("arn", "shard", "iterator"),
    *seldom.seldom_requests("arn", "stream"),
]


@pytest.mark.proof
def test_no_request_is_answered_with_a_5xx_hangs_or_leaks(prove: Prove) -> None:
    prove("requests")


@pytest.mark.proof
def test_aborted_and_slow_requests_hold_nothing_and_stall_nobody(prove: Prove) -> None:
    prove("aborted")


def test_every_operation_of_the_engine_is_fuzzed() -> None:
    from bigtime.engine import partiql
    from bigtime.engine.operations import READS, WRITES

    every = READS.keys() | WRITES.keys() | partiql.WRITES.keys()
    assert {operation for operation, _ in REQUESTS} == every


def test_every_parameter_of_every_operation_is_fuzzed() -> None:
    """As AWS's service model has them."""
    fuzzed: dict[str, set[str]] = {operation: set() for operation, _ in REQUESTS}
    for operation, params in REQUESTS:
        fuzzed[operation].update(params)
    path = Path(shapes.__file__).with_name("service_model.json")
    models = json.loads(path.read_bytes())
    for model in (models["dynamodb"], models["dynamodbstreams"]):
        for operation, about in model["operations"].items():
            members = model["shapes"][about["input"]["shape"]]["members"]
            assert set(members) - fuzzed[operation] == set(), operation


def test_a_valid_request_stays_as_it_was_when_it_is_mutated() -> None:
    before = [repr(params) for _, params in REQUESTS]
    for _, params in REQUESTS:
        mutate_request(params, random.Random(1))
    assert [repr(params) for _, params in REQUESTS] == before


def test_mutations_reach_every_depth_of_a_request() -> None:
    tree: Any = {"a": [{"b": {"c": 1}}], "d": 2}
    assert Counter(key for _, key in places(tree)) == Counter(["a", "b", "c", "d", 0])


def test_every_mutation_can_be_made_anywhere() -> None:
    chance = random.Random(2)
    for mutate in MUTATIONS:
        for _, params in REQUESTS:
            for place in range(len(places(mutate_request(params, random.Random(0)) or {}))):
                tree = mutate_request(params, random.Random(0))
                mutate(*places(tree)[place], chance)


def test_large_bodies_are_as_large_as_they_say() -> None:
    for body in LARGE_BODIES:
        assert MEGABYTE * 0.7 < len(body.request(MEGABYTE)) < MEGABYTE * 1.1


def test_the_length_is_right_unless_it_is_to_be_wrong() -> None:
    assert b"Content-Length: 2\r\n" in http(b"{}")
    assert b"Content-Length: 7\r\n" in http(b"{}", length="7")
    assert b"Content-Length" not in http(b"{}", length=None)
