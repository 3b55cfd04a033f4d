"""What exports and imports have in common: client tokens, pages of a list, how one ended."""

from __future__ import annotations

import hashlib
from typing import Final

import orjson

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.storage import Database, Transaction, Transfer, TransferKind
from bigtime.wire import Params, Response

TOKEN_SECONDS: Final = 8 * 3600.0
MOST_LISTED: Final = 25
# AWS asks for a token of hexadecimal digits, a multiple of 16 of them and 112 at least.
TOKEN_BYTES: Final = 56


def request_digest(params: Params) -> str:
    text = orjson.dumps(dict(params), option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(text).hexdigest()


def find_replay(transaction: Transaction, kind: TransferKind, params: Params) -> Transfer | None:
    """What an earlier request with the same token asked for, within 8 hours."""
    token = params.get("ClientToken")
    if not token:
        return None
    since = transaction.settled - TOKEN_SECONDS
    return storage.find_by_token(transaction.connection, kind, token, since)


def page(
    database: Database, kind: TransferKind, params: Params, limit: int
) -> tuple[list[Transfer], Response]:
    """The transfers of a page, newest first, and the NextToken if there are more."""
    name = params.get("TableArn")
    table_name = None if name is None else database.table_name(name)
    since = database.clock() - storage.LISTED_SECONDS
    with database.reading() as reader:
        found = storage.list_transfers(reader, kind, table_name, since)
    if "NextToken" in params:
        found = rest_after(found, params["NextToken"])
    if len(found) <= limit:
        return found, {}
    return found[:limit], {"NextToken": next_token(found[limit - 1].arn)}


def rest_after(found: list[Transfer], token: str) -> list[Transfer]:
    try:
        last = bytes.fromhex(token).decode().strip()
    except ValueError:
        last = ""
    arns = [transfer.arn for transfer in found]
    if last not in arns:
        raise wire.ValidationException("Invalid NextToken")
    return found[arns.index(last) + 1 :]


def next_token(arn: str) -> str:
    length = max(TOKEN_BYTES, -(-len(arn) // 8) * 8)
    return arn.ljust(length).encode().hex()


def ending(transfer: Transfer) -> Response:
    """When it ended, and why it failed if it did."""
    state = transfer.state
    response: Response = {}
    if "ended_at" in state:
        response["EndTime"] = state["ended_at"]
    if "failure" in state:
        response["FailureCode"], response["FailureMessage"] = state["failure"]
    return response
