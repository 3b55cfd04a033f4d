"""Runs as a user whose policies allow some of the operations, judged by a few lines of our own.

From the IAM User Guide, "Policy evaluation logic": what no statement allows is denied, and an
explicit deny wins. From the Service Authorization Reference for DynamoDB: a query of an index needs
the index as its resource, the actions of a transaction need their own permissions, and a statement
of PartiQL needs PartiQLSelect, PartiQLInsert, PartiQLUpdate or PartiQLDelete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from random import Random
from typing import Any

from bigtime.engine import Engine as Store
from bigtime.engine import Principal
from bigtime.wire import Transport
from tests.reference import operations as o
from tests.reference import statements as s
from tests.reference.designs import Design
from tests.reference.machine import Run, observe
from tests.reference.mistakes import mistakes
from tests.reference.outcomes import Refusal
from tests.reference.strategies import KINDS, Plan, Step
from tests.reference.targets import Engine

TABLES = "arn:aws:dynamodb:us-east-1:000000000000:table/"
DENIED = "AccessDeniedException"
WITHOUT_REPLAYS = tuple(kind for kind in KINDS if kind != "replay")
ACTIONS = (
    "*", "dynamodb:*", "dynamodb:Get*", "dynamodb:*Item", "dynamodb:Batch*", "dynamodb:PartiQL*",
    "dynamodb:Query", "dynamodb:Scan", "dynamodb:PutItem", "dynamodb:UpdateItem",
    "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem", "dynamodb:PartiQLSelect",
)  # fmt: skip
SPOKEN = {
    o.Put: "PartiQLInsert",
    o.Update: "PartiQLUpdate",
    o.Delete: "PartiQLDelete",
}


@dataclass(frozen=True)
class Grant:
    """One statement of a policy."""

    effect: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]

    def fits(self, action: str, resource: str) -> bool:
        return any(fnmatchcase(f"dynamodb:{action}", given) for given in self.actions) and any(
            fnmatchcase(resource, given) for given in self.resources
        )

    def document(self) -> dict[str, Any]:
        return {
            "Effect": self.effect,
            "Action": list(self.actions),
            "Resource": list(self.resources),
        }


def is_allowed(grants: list[Grant], action: str, resource: str) -> bool:
    effects = {grant.effect for grant in grants if grant.fits(action, resource)}
    return effects == {"Allow"}


def make_grants(dice: Random, designs: tuple[Design, ...]) -> list[Grant]:
    return [make_grant(dice, designs, effect) for effect in ("Allow", "Allow", "Allow", "Deny")]


def make_grant(dice: Random, designs: tuple[Design, ...], effect: str) -> Grant:
    tables = [TABLES + design.name for design in designs]
    choices = ("*", *tables, *(f"{table}*" for table in tables), *(f"{t}/index/*" for t in tables))
    widely = effect == "Allow"
    actions = dice.sample(ACTIONS if widely else ACTIONS[2:], dice.randint(1, 4 if widely else 2))
    return Grant(effect, tuple(actions), tuple(dice.sample(choices, dice.randint(1, 2))))


def needs(step: Step) -> Iterator[tuple[str, str]]:
    """The actions that an operation is, each with its resource."""
    match step:
        case o.BatchGet() | o.BatchWrite():
            calls = step.gets if isinstance(step, o.BatchGet) else step.writes
            yield from ((step.name(), TABLES + call.design.name) for call in calls)
        case o.TransactGet():
            yield from (("GetItem", TABLES + get.design.name) for get in step.gets)
        case o.TransactWrite():
            for write in step.writes:
                name = "ConditionCheckItem" if isinstance(write, o.Check) else write.name()
                yield name, TABLES + write.design.name
        case s.Statement():
            yield SPOKEN.get(type(step.call), "PartiQLSelect"), resource_of(step.call)
        case s.Statements():
            for statement in step.statements:
                yield from needs(statement)
        case o.OnTable():
            yield step.name(), resource_of(step)


def resource_of(call: o.OnTable) -> str:
    index = call.index if isinstance(call, o.Query | o.Scan) else None
    return f"{TABLES}{call.design.name}" + (f"/index/{index}" if index else "")


def judge(plan: Plan, wrap: Callable[[Transport], Transport] = lambda user: user) -> Run:
    """Performs what the policies allow as the user; all else must be denied and change nothing."""
    number = plan.seeds[0].number
    grants = make_grants(Random(number), plan.designs)
    policy = {"Version": "2012-10-17", "Statement": [grant.document() for grant in grants]}
    with Store.memory(housekeeping=False) as store:
        owner = Engine(store)
        user = Engine(wrap(store.as_user(Principal.user("alex", [policy]))))
        run = Run(plan.designs, [owner])
        run.targets = [user]
        for step in plan.operations():
            if isinstance(step, o.Replay) or step.fault is not None:
                continue  # A mistake may be told first, or make it another resource.
            decisions = {is_allowed(grants, *need) for need in needs(step)}
            if decisions == {True}:
                run.perform(step)
            elif decisions == {False} or not isinstance(step, s.BatchStatement):
                check_denied(run, user, step)
        run.targets = [owner]
        run.finish()
        return run


def check_denied(run: Run, user: Engine, step: o.Operation | s.Spoken) -> None:
    """A request with a mistake may be refused for that, before anybody asks who sent it."""
    run.history.append(step.request())
    run.performed += 1
    seen = denial(user, step)
    fine = seen is not None and (seen.code == DENIED or has_mistakes(step))
    if not fine:
        run.fail("engine: allowed what no policy allows", step, DENIED, seen)


def denial(user: Engine, step: o.Call) -> Refusal | None:
    if isinstance(step, o.Query | o.Scan):
        answer: object = observe(user, step)
    else:
        answer = user.ask(step.request())
    if isinstance(answer, Refusal):
        return answer
    if isinstance(step, s.BatchStatement) and isinstance(answer, dict):
        codes = {response.get("Error", {}).get("Code") for response in answer["Responses"]}
        return Refusal(DENIED) if codes == {"AccessDenied"} else None
    return None


def has_mistakes(step: o.Call) -> bool:
    calls = [step]
    if isinstance(step, s.Statement):
        calls = [step.call]
    elif isinstance(step, s.Statements):
        calls = [statement.call for statement in step.statements]
    return any(True for call in calls for _ in mistakes(call))
