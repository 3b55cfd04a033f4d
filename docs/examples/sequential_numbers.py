"""The parent gives out numbers, each of them once; a child is created with the next one."""

import bigtime as bt

JIRA = bt.Table("Jira", "PK", "SK", type_attribute="Type")


class Project(bt.Entity, table=JIRA):
    keys = bt.Keys(main=("PROJECT#{project}", "PROJECT#{project}"))
    project: str
    last_issue: int = 0


class Issue(bt.Entity, table=JIRA):
    keys = bt.Keys(main=("PROJECT#{project}", "ISSUE#{number:08}"))
    project: str
    number: int
    title: str


class UnknownProject(bt.DomainError):
    """There is no such project."""


ISSUES = bt.sequence(Project, "last_issue", missing=UnknownProject, numbers=(Issue, "number"))


@bt.pattern("Create Issue", index="Main table")
def create_issue(project: str, title: str) -> bt.Steps[Issue]:
    """A crash between the two leaves a gap, and never a number that is used twice."""
    number = yield from ISSUES.next(project)
    return (yield from bt.create(Issue(project=project, number=number, title=title)))


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("jira", (JIRA,))))
    store.run(bt.create(Project(project="big")))
    for title in ("Draw it", "Build it", "Sell it"):
        store.run(create_issue("big", title))
    for issue in store.run(bt.all_of(Issue.within("main", project="big"))):
        print(f"big-{issue.number}: {issue.title}")
