"""The repository that runs a system on AWS: schemas, Terraform, workflows, tests, scripts.

`infrastructure(SYSTEM)` returns its files, by path, from the declarations alone: the same system
gives the same bytes. What does not depend on the declarations (modules, tests, scripts) is in
`files/`; workflows there have `<<names>>`, which are filled in. `infrastructure.sha256` has the
digest of each file, in `sha256sum`'s format, which shows which files were edited since.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import bigtime
from bigtime.advisor import chart, markdown
from bigtime.model import (
    MANAGED_KEY,
    Attribute,
    DesignError,
    Environment,
    Index,
    System,
    Table,
    key_attributes,
)
from bigtime.ops import hcl
from bigtime.ops.schema_check import Fault
from bigtime.ops.schema_files import schema_document, schema_path, schema_text, summary
from bigtime.store import WRITERS

FILES = files(__package__) / "files"
TERRAFORM_VERSION = "1.11.4"
PROVIDER_VERSION = "5.100.0"
DEFAULT_REGION = "us-east-1"
MISSING = object()
DIGESTS = "infrastructure.sha256"

REPLICAS = hcl.Expression("var.dr_region == null ? [] : [var.dr_region]")


class EditedFiles(Exception):
    """Files that may have been edited would be overwritten; the message names them."""


def infrastructure(system: System) -> dict[str, str]:
    """Every file of the repository, by its path; the last one has the digests of the others."""
    environments = environments_of(system)
    for table in system.tables:
        check_table(table)
    texts = {
        **dict(schemas(system, environments)),
        **dict(static_files("terraform/modules", FILES / "terraform" / "modules")),
        **{
            f"terraform/{there.name}/{name}": text
            for there in environments
            for name, text in root_files(system, there).items()
        },
        **workflows(system, environments),
        **dict(static_files("tests", FILES / "tests")),
        **dict(static_files("scripts", FILES / "scripts")),
        "scripts/validate_schemas.py": validator_text(environments),
        "README.md": readme(system, environments),
    }
    digests = (digest_line(name, text.encode()) for name, text in texts.items())
    return {**texts, DIGESTS: "".join(f"{line}\n" for line in digests)}


def write_infrastructure(system: System, folder: Path, *, overwrite: bool = False) -> list[str]:
    """Writes the files that are missing or different; returns their paths.

    If one of them was edited, nothing is written, unless `overwrite` is true.
    """
    texts = infrastructure(system)
    changed = [name for name, text in texts.items() if content(folder / name) != text.encode()]
    edited = [] if overwrite else edited_files(folder, changed)
    if edited:
        names = ", ".join(str(folder / name) for name in edited)
        raise EditedFiles(
            f"{names}: not as `bigtime infra` noted when it wrote there, so perhaps edited by hand."
            " Nothing was written. Put what was changed into the declarations, and write over it"
            " with --overwrite; or write to another folder."
        )
    for name in changed:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[name], encoding="utf-8")
    return changed


def edited_files(folder: Path, names: Iterable[str]) -> list[str]:
    """The existing files whose digest is not the recorded one, or was not recorded."""
    noted = (content(folder / DIGESTS) or b"").decode(errors="replace").splitlines()
    return [
        name
        for name in names
        if name != DIGESTS
        and (found := content(folder / name)) is not None
        and digest_line(name, found) not in noted
    ]


def content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def digest_line(name: str, written: bytes) -> str:
    return f"{sha256(written).hexdigest()}  {name}"


def environments_of(system: System) -> tuple[Environment, ...]:
    """The declared environments; else three in any account, for a system that is only tried out."""
    if system.environments:
        return system.environments
    tags = {"Project": system.name, "Application": system.name}
    tags |= {"Component": "dynamodb", "ManagedBy": "Terraform"}
    return tuple(
        Environment(
            name,
            DEFAULT_REGION,
            prefix=system.name,
            retention_days=days,
            protected=name == "prod",
            tags={"Environment": name, **tags},
        )
        for name, days in (("dev", 7), ("sit", 14), ("prod", 90))
    )


def check_table(table: Table) -> None:
    """Refuses what Terraform's provider cannot express."""
    for index in table.indexes:
        if max(len(index.hash), len(index.range)) > 1:
            raise DesignError(
                f"table {table.name}, index {index.name}: the provider {PROVIDER_VERSION} has no"
                " keys of several attributes; make this table with `bigtime tables create`"
            )


# Static files


def static_files(prefix: str, folder: Traversable) -> Iterator[tuple[str, str]]:
    """The files of a folder. Python files end in `.txt` there, or they would be part of Bigtime."""
    for found in sorted(folder.iterdir(), key=lambda found: found.name):
        name = f"{prefix}/{found.name.removesuffix('.txt')}"
        if found.is_dir():
            yield from static_files(name, found)
        else:
            yield name, found.read_text(encoding="utf-8")


def fill(template: str, values: Mapping[str, str], kind: str = "all") -> str:
    """A file of `files/`, with each `<<name>>` replaced.

    Lines after `<<for next>>` are for that kind alone, those after `<<for all>>` for every kind.
    """
    text = (FILES / template).read_text(encoding="utf-8")
    parts = re.split(r"^<<for (\w+)>>\n", text, flags=re.MULTILINE)
    named = zip(["all", *parts[1::2]], parts[::2], strict=True)
    text = "".join(part for name, part in named if name in ("all", kind))
    return re.sub(r"<<(\w+)>>", lambda found: values[found[1]], text)


def validator_text(environments: tuple[Environment, ...]) -> str:
    """The module that checks schemas, with these environments filled in."""
    source = (files(__package__) / "schema_check.py").read_text(encoding="utf-8")
    names = ", ".join(f'"{there.name}"' for there in environments)
    declared = (
        f"ENVIRONMENTS = ({names},)" if len(environments) == 1 else f"ENVIRONMENTS = ({names})"
    )
    return re.sub(r"^ENVIRONMENTS = .*$", declared, source, count=1, flags=re.MULTILINE)


# Schemas


def schemas(system: System, environments: tuple[Environment, ...]) -> Iterator[tuple[str, str]]:
    for table in system.tables:
        path = f"schemas/{schema_path(table)}"
        yield path, schema_text(schema_document(system, table, environments))
        yield f"schemas/{table.name}/README.md", schema_readme(system, table)


def compare_file(system: System, path: Path) -> list[Fault]:
    """How a schema file differs from the system's own declaration of its table."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        table = system.table(document["tableName"])
    except (OSError, ValueError, TypeError, KeyError, DesignError) as error:
        sentence = str(error) if isinstance(error, DesignError) else "it names no table"
        return [Fault("error", str(path), sentence)]
    declared = schema_document(system, table, environments_of(system))
    differing = [
        key
        for key in {**declared, **document}
        if declared.get(key, MISSING) != document.get(key, MISSING)
    ]
    return [
        Fault("error", str(path), f"{key} is not as {system.name} declares it; write it again")
        for key in differing
    ]


def schema_readme(system: System, table: Table) -> str:
    """A README with the charts of one table."""
    text = chart(System(system.name, (table,)))
    lines = text.replace(f"# {system.name}\n", f"# {table.name}\n", 1)
    return f"{lines}\n`{schema_path(table).partition('/')[2]}` describes the first of them.\n"


# Terraform


def root_files(system: System, there: Environment) -> dict[str, str]:
    """The files of an environment's folder."""
    return {
        "main.tf": paragraphs(main_blocks(system, there)),
        "variables.tf": (FILES / "terraform/environment/variables.tf").read_text(encoding="utf-8"),
        "outputs.tf": paragraphs(output_blocks(system, there)),
        f"{there.name}.tfvars": f"{hcl.arguments(variables(there))}\n",
    }


def paragraphs(blocks: Iterator[str]) -> str:
    return "\n\n".join(blocks) + "\n"


def variables(there: Environment) -> dict[str, hcl.Value]:
    """The values of an environment's Terraform variables, by name."""
    values: dict[str, hcl.Value] = {
        "environment": there.name,
        "account": there.account,
        "region": there.region,
        "dr_region": there.dr_region,
        "pitr_days": there.recovery_days,
        "sse_enabled": there.encryption is not None,
        "kms_key_arn": None if there.encryption == MANAGED_KEY else there.encryption,
        "deletion_protection_enabled": there.protected,
        "backup_vault": there.backup_vault,
        "backup_plan": there.backup_plan,
        "backup_rule": there.backup_rule,
        "backup_selection": there.backup_selection,
        "backup_schedule": there.backup_schedule,
        "backup_retention_days": there.retention_days,
        "alert_topic": there.alert_topic,
        "budget_dollars": there.budget_dollars,
        "budget_alert_percent": there.budget_alert_percent,
        "tags": dict(there.tags),
    }
    return {name: value for name, value in values.items() if value is not None}


def main_blocks(system: System, there: Environment) -> Iterator[str]:
    yield hcl.block(
        "terraform",
        hcl.arguments({"required_version": ">= 1.11"}),
        "",
        hcl.block(
            "required_providers",
            hcl.arguments({"aws": {"source": "hashicorp/aws", "version": f"= {PROVIDER_VERSION}"}}),
        ),
        "",
        "# The bucket, key and region of the state are given to `terraform init`.",
        'backend "s3" {}',
    )
    yield from provider_blocks(there)
    for table in system.tables:
        yield from table_blocks(table)
    if there.dr_region is not None:
        yield writers_block()
    yield backup_block(system, there)
    yield monitoring_block(system, there)


def provider_blocks(there: Environment) -> Iterator[str]:
    accounts = (
        {} if there.account is None else {"allowed_account_ids": hcl.Expression("[var.account]")}
    )
    yield hcl.block('provider "aws"', hcl.arguments({"region": variable("region"), **accounts}))
    if there.dr_region is not None:
        region = variable("dr_region")
        alias = {"alias": alias_of(there.dr_region), "region": region}
        yield hcl.block('provider "aws"', hcl.arguments({**alias, **accounts}))


def variable(name: str) -> hcl.Expression:
    return hcl.Expression(f"var.{name}")


def alias_of(region: str) -> str:
    return region.replace("-", "_")


def identifier(name: str) -> str:
    """A table's name as an HCL identifier."""
    word = re.sub(r"\W", "_", name)
    return word if word[0].isalpha() else f"table_{word}"


def attribute_of(table: Table, name: str) -> hcl.Expression:
    """A reference to an output of the table's module."""
    return hcl.Expression(f"module.{identifier(table.name)}.{name}")


def module(name: str, source: str, values: Mapping[str, hcl.Value]) -> str:
    """A block that calls a module of `terraform/modules`."""
    arguments = {"source": f"../modules/{source}", **values}
    return hcl.block(f'module "{name}"', hcl.arguments(arguments))


def table_blocks(table: Table) -> Iterator[str]:
    name = identifier(table.name)
    attributes = [
        {"name": attribute.name, "type": attribute.type} for attribute in key_attributes(table)
    ]
    indexes = [
        {"name": index.name, "hash_key": index.hash[0].name, **index_values(index)}
        for index in table.indexes
        if index.is_global
    ]
    yield module(f"{name}_gsi", "gsi", {"attributes": attributes, "indexes": indexes})
    yield module(name, "dynamodb_table", table_values(table, name))


def writers_block() -> str:
    """The table that says which region writes; a global table, like those that it guards.

    It is in no backup: restoring an old epoch would let an old writer write again.
    """
    table = Table(WRITERS.name, "PK", "SK", stream="NEW_AND_OLD_IMAGES")
    values = {
        "name": table.name,
        "hash_key": "PK",
        "range_key": "SK",
        "attributes": [{"name": name, "type": "S"} for name in ("PK", "SK")],
        "global_secondary_indexes": [],
        **setting_values(table),
    }
    return module("writers", "dynamodb_table", values)


def index_values(index: Index) -> dict[str, hcl.Value]:
    values: dict[str, hcl.Value] = {}
    if index.range:
        values["range_key"] = index.range[0].name
    values["projection_type"] = index.projection
    if index.include:
        values["non_key_attributes"] = list(index.include)
    return values


def table_values(table: Table, name: str) -> dict[str, hcl.Value]:
    """The arguments of a table's module; what it does not declare comes from the environment."""
    hash_key, *range_key = table.main.attributes
    values: dict[str, hcl.Value] = {
        "name": table.name,
        "hash_key": hash_key.name,
        "range_key": sort_key(range_key),
        "attributes": hcl.Expression(f"module.{name}_gsi.attributes"),
        "global_secondary_indexes": hcl.Expression(f"module.{name}_gsi.indexes"),
    }
    if local := [index for index in table.indexes if not index.is_global]:
        values["local_secondary_indexes"] = [
            {"name": index.name, **index_values(index)} for index in local
        ]
    if table.throughput:
        values["billing_mode"] = "PROVISIONED"
        values["read_capacity"] = table.throughput.read
        values["write_capacity"] = table.throughput.write
    if table.table_class:
        values["table_class"] = table.table_class
    return values | setting_values(table)


def sort_key(half: list[Attribute]) -> str | None:
    return half[0].name if half else None


def setting_values(table: Table) -> dict[str, hcl.Value]:
    days = table.point_in_time_recovery
    declared = None if table.encryption in (None, MANAGED_KEY) else table.encryption
    tags = variable("tags")
    if table.tags:
        tags = hcl.Expression(f"merge({hcl.render_inline(table.tags)}, var.tags)")
    protected = True if table.deletion_protection else variable("deletion_protection_enabled")
    return {
        "stream_enabled": table.stream is not None,
        **({"stream_view_type": table.stream} if table.stream else {}),
        **({"ttl_attribute": table.ttl} if table.ttl else {}),
        "pitr_days": days if type(days) is int else variable("pitr_days"),
        "sse_enabled": True if table.encryption else variable("sse_enabled"),
        "kms_key_arn": declared or variable("kms_key_arn"),
        "deletion_protection_enabled": protected,
        "replica_regions": list(table.replicas) or REPLICAS,
        "tags": tags,
    }


def backup_block(system: System, there: Environment) -> str:
    arns = ", ".join(attribute_of(table, "arn") for table in system.saved_tables)
    copy = f"aws.{alias_of(there.dr_region)}" if there.dr_region else "aws"
    values: dict[str, hcl.Value] = {
        "vault_name": variable("backup_vault"),
        "plan_name": variable("backup_plan"),
        "rule_name": variable("backup_rule"),
        "selection_name": variable("backup_selection"),
        "schedule": variable("backup_schedule"),
        "delete_after": variable("backup_retention_days"),
        "table_arns": hcl.Expression(f"[{arns}]"),
        "copy_region": variable("dr_region"),
        "tags": variable("tags"),
        "providers": {"aws": hcl.Expression("aws"), "aws.copy": hcl.Expression(copy)},
    }
    return module("backup", "backup", values)


def monitoring_block(system: System, there: Environment) -> str:
    names = ", ".join(attribute_of(table, "name") for table in system.tables)
    handed_on = (
        *("budget_dollars", "budget_alert_percent", "alert_emails", "anomaly_detection"),
        *("zone_id", "host", "primary_host", "secondary_host", "tags"),
    )
    values: dict[str, hcl.Value] = {
        "prefix": f"{there.prefix}-dynamodb-{there.name}",
        "topic_name": variable("alert_topic"),
        "table_names": hcl.Expression(f"[{names}]"),
        "replica_regions": REPLICAS,
        "account_id": variable("account"),
        **{name: variable(name) for name in handed_on},
        "alarms": {
            alarm.name: {
                "metric": alarm.metric,
                "statistic": alarm.statistic,
                "period": alarm.period_seconds,
                "threshold": alarm.threshold,
                "by": alarm.by,
                "action": alarm.action,
            }
            for alarm in system.alarms
        },
    }
    return module("monitoring", "monitoring", values)


def output_blocks(system: System, there: Environment) -> Iterator[str]:
    for name, attribute, description in (
        ("table_arns", "arn", "The ARNs of the tables by name."),
        ("stream_arns", "stream_arn", "The ARNs of their streams."),
    ):
        arns = {table.name: attribute_of(table, attribute) for table in system.tables}
        yield output(name, description, arns)
    if there.dr_region is not None:
        yield output(
            "writers_arn",
            "The ARN of the table that says which region writes.",
            hcl.Expression("module.writers.arn"),
        )
    yield output(
        "backup_vault_arn",
        "The ARN of the backup vault.",
        hcl.Expression("module.backup.vault_arn"),
    )
    yield output(
        "alert_topic_arn",
        "The ARN of the SNS topic of the alarms.",
        hcl.Expression("module.monitoring.topic_arn"),
    )


def output(name: str, description: str, value: hcl.Value) -> str:
    return hcl.block(
        f'output "{name}"', hcl.arguments({"description": description, "value": value})
    )


# Workflows


def workflows(system: System, environments: tuple[Environment, ...]) -> dict[str, str]:
    folder = ".github/workflows"
    common = {
        "system": system.name,
        "version": bigtime.__version__,
        "terraform": TERRAFORM_VERSION,
        "environments": ", ".join(there.name for there in environments),
    }
    found = {
        f"{folder}/{name}": fill(f"github/{name}", common)
        for name in ("validate-schemas.yml", "terraform-plan.yml")
    }
    for place, there in enumerate(environments):
        kind = "protected" if there.protected else "next" if place else "first"
        values = {
            **common,
            "environment": there.name,
            "region": there.region,
            "before": environments[place - 1].name,
            "alarms": f"{there.prefix}-dynamodb-{there.name}-",
        }
        text = fill("github/terraform-apply.yml", values, kind)
        found[f"{folder}/terraform-apply-{there.name}.yml"] = text
    return found


# README


def readme(system: System, environments: tuple[Environment, ...]) -> str:
    return fill(
        "README.md",
        {
            "system": system.name,
            "tables": table_list(system),
            "environments": environment_table(environments),
            "first": environments[0].name,
            "region": environments[0].region,
            "terraform": TERRAFORM_VERSION,
            "provider": PROVIDER_VERSION,
        },
    )


def table_list(system: System) -> str:
    return "\n".join(
        f"- [`{table.name}`](schemas/{schema_path(table)}): {summary(table.entities[0])}"
        + ("" if table in system.saved_tables else " It is in no backup.")
        for table in system.tables
    )


def environment_table(environments: tuple[Environment, ...]) -> str:
    rows = [
        [
            there.name,
            there.account or "any",
            " and ".join(there.regions),
            f"{there.backup_frequency}, `{there.backup_schedule}`, {there.retention_days} days",
            "on" if there.protected else "off",
            "-" if there.budget_dollars is None else f"${there.budget_dollars:,}",
        ]
        for there in environments
    ]
    head = ["environment", "account", "region", "backups", "deletion protection", "budget"]
    return markdown(head, rows)
