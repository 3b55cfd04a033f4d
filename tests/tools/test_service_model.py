"""The shapes that ship with the engine are those of the botocore that is locked."""

from __future__ import annotations

import orjson

from bigtime.engine.validation.service_model import TABLE, input_shape, operations
from tools.service_model import readable, service_models

AGAIN = "run `make service-model`, and read what AWS has changed"


def test_the_engine_ships_what_botocore_says() -> None:
    table = orjson.loads(TABLE.read_bytes())
    table.pop("botocore")
    assert table == service_models(), AGAIN


def test_what_is_written_reads_back() -> None:
    assert orjson.loads(readable(service_models())) == service_models()


def test_every_operation_has_its_shapes() -> None:
    assert len(operations()) == sum(len(model["operations"]) for model in service_models().values())
    for operation in operations():
        assert input_shape(operation).kind == "structure"


def test_there_is_no_prose_in_it() -> None:
    text = TABLE.read_text()
    assert '"documentation":"' not in text and "<p>" not in text
