"""An anchor file: the heads of all audit chains, a line of JSON each, and a signature.

The signature is the HMAC-SHA256, under BIGTIME_AUDIT_KEY, of every byte before its line. So a file
that was changed, cut short or made with another key is refused.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

from bigtime.systems.portal import Head

KEY_CHARACTERS: Final = 32
KIND: Final = "bigtime audit anchor 1"


class UnusableAnchor(Exception):
    """The file is no anchor, or not one that this key signed."""


def write_anchor(path: Path, key: str, made_at: str, heads: Iterable[Head]) -> int:
    """Writes the whole file or nothing; how many chains it has."""
    signature = hmac.new(key.encode(), digestmod="sha256")
    partial = path.with_name(f"{path.name}.partial")
    chains = 0
    try:
        with partial.open("wb") as file:
            for line in ({"kind": KIND, "madeAt": made_at}, *map(asdict, heads)):
                text = json.dumps(line).encode() + b"\n"
                signature.update(text)
                file.write(text)
                chains += "chain" in line
            file.write(json.dumps({"signature": signature.hexdigest()}).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return chains


def read_anchor(path: Path, key: str) -> Iterator[Head]:
    """The heads of a file whose signature holds: it is checked before the first is given."""
    try:
        check_signature(path, key)
    except OSError as error:
        raise UnusableAnchor(f"{path} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UnusableAnchor(f"{path} was cut short, or is no anchor: no signature.") from error
    with path.open("rb") as file:
        for line in file:
            content = json.loads(line)
            if "chain" in content:
                yield Head(**content)


def check_signature(path: Path, key: str) -> None:
    signature = hmac.new(key.encode(), digestmod="sha256")
    before = b""
    with path.open("rb") as file:
        for line in file:
            signature.update(before)
            before = line
    claimed = json.loads(before)["signature"]
    if not hmac.compare_digest(str(claimed).encode(), signature.hexdigest().encode()):
        raise UnusableAnchor(
            f"{path} was changed since it was written, or signed with another BIGTIME_AUDIT_KEY."
        )
