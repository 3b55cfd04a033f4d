"""The parent gives out numbers, each of them once; a child is created with the next one."""

from bigtime.model import (
    DomainError,
    Entity,
    Keys,
    System,
    Table,
    all_of,
    create,
    pattern,
    sequence,
    setup,
)
from bigtime.store import open_store
from bigtime.wire import Steps

JIRA = Table("Jira", "PK", "SK", type_attribute="Type")


class Project(Entity, table=JIRA):
    keys = Keys(main=("PROJECT#{project}", "PROJECT#{project}"))
    project: str
    last_issue: int = 0


class Issue(Entity, table=JIRA):
    keys = Keys(main=("PROJECT#{project}", "ISSUE#{number:08}"))
    project: str
    number: int
    title: str


class UnknownProject(DomainError):
    """There is no such project."""


ISSUES = sequence(Project, "last_issue", missing=UnknownProject, numbers=(Issue, "number"))


@pattern("Create Issue", index="Main table")
def create_issue(project: str, title: str) -> Steps[Issue]:
    """A crash between the two leaves a gap, and never a number that is used twice."""
    number = yield from ISSUES.next(project)
    return (yield from create(Issue(project=project, number=number, title=title)))


with open_store("memory:") as store:
    store.run(setup(System("jira", (JIRA,))))
    store.run(create(Project(project="big")))
    for title in ("Draw it", "Build it", "Sell it"):
        store.run(create_issue("big", title))
    for issue in store.run(all_of(Issue.within("main", project="big"))):
        print(f"big-{issue.number}: {issue.title}")
