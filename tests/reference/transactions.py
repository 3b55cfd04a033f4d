"""TransactWriteItems of the model: all or nothing, and once per token.

From APIReference/API_TransactWriteItems.html: a token makes the call idempotent for ten minutes;
the same token with other parameters is an IdempotentParameterMismatchException; a cancelled
transaction carries one reason per action, in order, with Code "None" where nothing was wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.reference import operations as o
from tests.reference.outcomes import Answer, Reason, Refusal, Refused

if TYPE_CHECKING:
    from tests.reference.model import Model

FINE = Reason("None")


def transact_write(model: Model, operation: o.TransactWrite) -> Answer:
    params = operation.params()
    if operation.token in model.tokens:
        if model.tokens[operation.token] == params:
            return Answer()
        raise Refused(Refusal("IdempotentParameterMismatchException"))
    pairs = [(write, model.old(write)) for write in operation.writes]
    reasons = tuple(model.objection(write, old) or FINE for write, old in pairs)
    if any(reason is not FINE for reason in reasons):
        raise Refused(cancellation(reasons))
    for write, old in pairs:
        model.store(write, model.become(write, old))
    if operation.token is not None:
        model.tokens[operation.token] = params
    return Answer()


def cancellation(reasons: tuple[Reason, ...]) -> Refusal:
    code = "TransactionCanceledException"
    if any(reason.code == "ValidationError" for reason in reasons):
        return Refusal(code, None, reasons=reasons, sure_of_reasons=False)
    codes = ", ".join(reason.code for reason in reasons)
    message = (
        f"Transaction cancelled, please refer cancellation reasons for specific reasons [{codes}]"
    )
    return Refusal(code, message, reasons=reasons)
