"""Global tables, version 2019.11.21: the regions of the replicas, and the settings they share.

Every replica's definition has the whole group in its notes, so that each region's file is
self-contained: an identity, the region of this replica, and each member with its status and its own
settings. A change is made in one region and spreads to the others, as items do:

1. Each member, and the settings that all replicas share, carry a revision; the higher one wins.
2. A member that is CREATING is created by its own region, from a copy of the member that requested
   it, and sets itself to ACTIVE. One that is DELETING is deleted by its own region.
3. A member whose table is missing from its file is GONE for the others. The last one left is no
   longer a global table.

What replicas share, may override, or keep for themselves is as in AWS: "Settings synchronization"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/V2globaltables_HowItWorks.html
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from bigtime import wire
from bigtime.engine import storage
from bigtime.engine.operations import table_schema
from bigtime.engine.storage import Database, IndexDefinition, TableDefinition, VectorIndexDefinition
from bigtime.wire import Params

Member: TypeAlias = Mapping[str, Any]

CREATING, ACTIVE, DELETING, GONE = "CREATING", "ACTIVE", "DELETING", "GONE"
IMAGES: Final = "NEW_AND_OLD_IMAGES"
DEFAULT_KEY: Final = "alias/aws/dynamodb"
SOURCE_SECONDS: Final = 24 * 3600.0
OWN_SETTINGS: Final = (
    "KMSMasterKeyId",
    "OnDemandThroughputOverride",
    "GlobalSecondaryIndexes",
    "TableClassOverride",
)
CAPACITY_NOTES: Final[tuple[str, ...]] = ("OnDemandThroughput", "WarmThroughput", "indexes")

# AWS's messages, as they were reported:
# https://github.com/aws-controllers-k8s/dynamodb-controller/blob/main/docs/api-quirks/table-replicas.md
# https://github.com/hashicorp/terraform-provider-aws/pull/29102
# https://github.com/go-to-k/cdkd/issues/1442
LOCAL_REGION: Final = (
    "Cannot add or delete the local region through ReplicaUpdates. "
    "Use CreateTable, DeleteTable, or UpdateTable as required."
)
NO_ACTION: Final = "There are no actions specified in the Replica Update Action of the request."
IN_USE: Final = "The resource which you are attempting to change is in use."
"""What AWS says of every table with replicas, whatever is in the way (DDB-TABLE-444)."""
ONE_KIND_OF_KEY: Final = "All replica keys must either be Customer Managed CMK or AWS Managed CMK."
NOT_SCALED: Final = "Table write capacity should either be Pay-Per-Request or AutoScaled."
STREAM_STAYS: Final = "Disabling Stream is not allowed for a Global Table replica."
KEY_FOR_EACH: Final = "KMSMasterKeyId must be specified for each replica."
WAS_SOURCE: Final = (
    "Replica cannot be deleted because it has acted as a source region for new replica(s) "
    "being added to the table in the last 24 hours."
)
PROTECTED: Final = (
    "Resource cannot be deleted as it is currently protected against deletion. "
    "Disable deletion protection first."
)


def other_members(table: TableDefinition) -> dict[str, Member]:
    """The other replicas of a table, by region."""
    group = table.global_table
    if group is None:
        return {}
    return {
        region: member
        for region, member in group["Members"].items()
        if region != group["Region"] and member["ReplicaStatus"] != GONE
    }


def is_changing(table: TableDefinition) -> bool:
    """Whether a replica is being created or deleted."""
    members = other_members(table).values()
    return any(member["ReplicaStatus"] != ACTIVE for member in members)


def next_revision(now: float, known: Iterable[Member]) -> int:
    revisions: list[int] = [each["Revision"] + 1 for each in known]
    return max([int(now * storage.MICROSECONDS), *revisions])


def check_is_settled(table: TableDefinition, params: Params) -> None:
    """Nothing else is updated while a replica is created or deleted (DDB-TABLE-227, -228)."""
    if is_changing(table) and "ReplicaUpdates" not in params:
        raise wire.ResourceInUseException(IN_USE)


# --- UpdateTable ----------------------------------------------------------------------------


def with_replica_updates(
    database: Database, table: TableDefinition, params: Params, now: float
) -> TableDefinition:
    """The table after the replica updates of an UpdateTable request."""
    if params.get("MultiRegionConsistency") == "STRONG" or "GlobalTableWitnessUpdates" in params:
        table_schema.invalid(
            "This engine replicates with MultiRegionConsistency EVENTUAL only: "
            "it has neither STRONG consistency nor witnesses"
        )
    updates = params.get("ReplicaUpdates", ())
    if not updates:
        return table
    kind, action = only_action(updates)
    return changed_group(database, table, kind, action, now)


def only_action(updates: Sequence[Params]) -> tuple[str, Params]:
    """The one action of a request; the same one twice is one (DDB-TABLE-223, -224, -265)."""
    if not all(updates):
        raise wire.ValidationException(NO_ACTION)
    if any(len(update) > 1 for update in updates) or len({kind for u in updates for kind in u}) > 1:
        raise wire.ValidationException(
            "Update table operation with more than one type of replica actions not allowed."
        )
    ((kind, action),) = updates[0].items()
    if kind == "Disassociate":
        table_schema.invalid("Disassociate is not supported by this engine")
    if any(update != updates[0] for update in updates):
        if kind != "Update":
            raise wire.ValidationException(
                "Update table operation with more than one create or delete replica actions not "
                "allowed"
            )
        table_schema.invalid("Only one Update is allowed in ReplicaUpdates by this engine")
    return kind, action


def changed_group(
    database: Database, table: TableDefinition, kind: str, action: Params, now: float
) -> TableDefinition:
    region = action["RegionName"]
    if region == database.region:
        raise wire.ValidationException(LOCAL_REGION)
    member = other_members(table).get(region)
    if kind == "Create" and (member is None or member["ReplicaStatus"] != DELETING):
        check_is_unchanging(table)
    if kind == "Create":
        return with_replica(database, table, action, now)
    if member is None:
        raise no_such_replica(table, region)
    check_is_unchanging(table)
    if kind == "Delete":
        check_deletable(database, table.name, region)
        return with_member(table, region, {**member, "ReplicaStatus": DELETING}, now)
    if "KMSMasterKeyId" in action:  # a key is never changed here (DDB-TABLE-309)
        table_schema.invalid(KEY_FOR_EACH)
    settings = changed_settings(table, action)
    if not settings:
        raise wire.ValidationException(NO_ACTION)
    if "GlobalSecondaryIndexes" in settings:  # the others keep their own (DDB-TABLE-252)
        named = {each["IndexName"]: each for each in member.get("GlobalSecondaryIndexes", ())}
        named |= {each["IndexName"]: each for each in settings["GlobalSecondaryIndexes"]}
        settings["GlobalSecondaryIndexes"] = [*named.values()]
    return with_member(table, region, {**member, **settings}, now)


def no_such_replica(table: TableDefinition, region: str) -> wire.ValidationException:
    """AWS's error for a replica that a table does not have (DDB-TABLE-203, -227).

    Of a table without replicas it has other words, by which Terraform's provider recognises that a
    replica is gone: https://github.com/hashicorp/terraform-provider-aws/pull/29102
    """
    if not other_members(table):
        return wire.ValidationException(
            "Replica specified in the Replica Update or Replica Delete action of the request was "
            "not found."
        )
    return wire.ValidationException(
        "Update global table operation failed because one or more replicas were not part of "
        f"the global table. Please retry the request without these replicas: [{region}]."
    )


def check_is_unchanging(table: TableDefinition) -> None:
    if is_changing(table):
        raise wire.ResourceInUseException(IN_USE)


def with_replica(
    database: Database, table: TableDefinition, action: Params, now: float
) -> TableDefinition:
    region = action["RegionName"]
    if not storage.is_region(region):
        # AWS goes on with the regions that it supports.
        raise wire.ValidationException(f"Region {region} is not supported.")
    check_can_replicate(table)
    settings = new_settings(table, action)
    check_key(table, settings.get("KMSMasterKeyId"))
    assert database.regions is not None
    peer = database.regions.open(region)
    peer.catalogue.refresh()
    if region in other_members(table) or table.name in peer.catalogue.tables:
        # AWS's message.
        raise wire.ValidationException(
            f"Failed to create a the new replica of table with name: \u2018{table.name}\u2019 "
            "because one or more replicas already existed as tables."
        )
    member = {"ReplicaStatus": CREATING, "Source": database.region, **settings}
    table = with_member(with_group(table, database.region, now), region, member, now)
    has_stream = table.stream is not None and table.stream.enabled
    return table if has_stream else replace(table, stream=table_schema.new_stream(IMAGES))


def check_can_replicate(table: TableDefinition) -> None:
    if table.billing_mode != table_schema.ON_DEMAND:
        raise wire.ValidationException(NOT_SCALED)
    if table.stream and table.stream.enabled and table.stream.view_type != IMAGES:
        table_schema.invalid(
            "The stream of a table with replicas must have the view type NEW_AND_OLD_IMAGES"
        )
    if any(index.building for index in table.all_indexes):
        raise table_schema.in_use(f"Table is being updated: {table.name}")


def check_key(table: TableDefinition, given: str | None) -> None:
    """The key of a new replica must be of the kind of the table's (DDB-TABLE-309, -313)."""
    key = None if table.sse is None else table.sse["KMSMasterKeyId"]
    is_needless = key is None and given is not None
    is_missing = key not in (None, DEFAULT_KEY) and given is None
    if is_needless or is_missing:
        table_schema.invalid(KEY_FOR_EACH)
    if given is not None and (given == DEFAULT_KEY) != (key == DEFAULT_KEY):
        table_schema.invalid(ONE_KIND_OF_KEY)


def new_settings(table: TableDefinition, action: Params) -> dict[str, Any]:
    """The settings that a new replica does not share; some are ignored (DDB-TABLE-307)."""
    settings = {name: action[name] for name in OWN_SETTINGS if name in action}
    if "GlobalSecondaryIndexes" in settings:
        known = [each for each in settings["GlobalSecondaryIndexes"] if is_known(table, each)]
        settings["GlobalSecondaryIndexes"] = known
    return settings


def is_known(table: TableDefinition, declared: Params) -> bool:
    index = table.index(declared["IndexName"])
    return index is not None and index.is_global


def changed_settings(table: TableDefinition, action: Params) -> dict[str, Any]:
    """The settings that a replica does not share, as an Update changes them."""
    indexes = action.get("GlobalSecondaryIndexes", ())
    if any("ProvisionedThroughputOverride" in each for each in (action, *indexes)):
        raise wire.ValidationException(  # without the usual words before it (DDB-TABLE-223)
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode "
            "is PAY_PER_REQUEST"
        )
    for index in indexes:
        if not is_known(table, index):
            raise table_schema.no_index(table, index["IndexName"])
    if indexes and all(index.keys() == {"IndexName"} for index in indexes):
        raise wire.ValidationException(NO_ACTION)  # (DDB-TABLE-252)
    return {name: action[name] for name in OWN_SETTINGS if name in action}


def check_deletable(database: Database, name: str, region: str) -> None:
    peer = database.regions.find(region) if database.regions else None
    if peer is None:
        return
    peer.catalogue.refresh()
    table = peer.catalogue.tables.get(name)
    if table and table.definition.deletion_protected:
        raise wire.ValidationException(
            f"Cannot delete table {name} in region {region} because it has deletion protection "
            "enabled. Disable deletion protection first."
        )


def check_is_no_source(table: TableDefinition, now: float) -> None:
    """The source of new replicas cannot be deleted for a day, as long as it has replicas."""
    sourced_at = (table.global_table or {}).get("SourcedAt")
    if sourced_at is not None and other_members(table) and now - sourced_at < SOURCE_SECONDS:
        raise wire.ValidationException(WAS_SOURCE)


def with_group(table: TableDefinition, region: str, now: float) -> TableDefinition:
    """The table as a member of its global table, or of a new one."""
    group = table.global_table or {
        "Id": str(uuid.uuid4()),
        "Region": region,
        "Revision": next_revision(now, ()),
        "Members": {region: {"ReplicaStatus": ACTIVE, "Revision": next_revision(now, ())}},
    }
    return table_schema.with_note(table, storage.GLOBAL_TABLE, {**group, "SourcedAt": now})


def with_member(table: TableDefinition, region: str, member: Member, now: float) -> TableDefinition:
    group = table.global_table
    assert group is not None
    revision = next_revision(now, group["Members"].values())
    members = {**group["Members"], region: {**member, "Revision": revision}}
    return table_schema.with_note(table, storage.GLOBAL_TABLE, {**group, "Members": members})


def with_revision(before: TableDefinition, after: TableDefinition, now: float) -> TableDefinition:
    """Raises the revision if shared settings have changed, so that the replicas adopt them."""
    group = after.global_table
    if group is None or shared_settings(before) == shared_settings(after):
        return after
    revision = next_revision(now, [group])
    return table_schema.with_note(after, storage.GLOBAL_TABLE, {**group, "Revision": revision})


def shared_settings(table: TableDefinition) -> object:
    indexes = [replace(index, number=0, building=False) for index in table.indexes]
    vectors = [replace(index, number=0, building=False) for index in table.vectors]
    notes = {name: table.notes.get(name) for name in CAPACITY_NOTES}
    capacity = (table.billing_mode, table.throughput, notes)
    kept = (table.ttl_attribute, table.sse, table.table_class)
    return table.attributes, indexes, vectors, capacity, kept


# --- A replica among the others ---------------------------------------------------------------


def new_replica(source: TableDefinition, region: str, now: float) -> TableDefinition:
    """The table that a region creates because a member of the group requested it."""
    group = source.global_table
    assert group is not None
    own = {key: value for key, value in group.items() if key != "SourcedAt"}
    notes = {name: source.notes[name] for name in CAPACITY_NOTES if name in source.notes}
    table = replace(
        source,
        id=str(uuid.uuid4()),
        created_at=round(now, 3),
        number=0,
        indexes=tuple(replace(index, number=0, building=False) for index in source.indexes),
        vectors=tuple(replace(index, number=0, building=False) for index in source.vectors),
        deletion_protected=False,
        tags={},
        stream=table_schema.new_stream(IMAGES),
        notes={**notes, storage.GLOBAL_TABLE: {**own, "Region": region}},
    )
    return with_own_settings(table)


def merged_table(
    own: TableDefinition, others: Sequence[TableDefinition], absent: Iterable[str], now: float
) -> TableDefinition | None:
    """A replica with the others' newer revisions merged in; None if it must be deleted.

    `absent` are the regions whose file was read and has no such replica.
    """
    group = own.global_table
    assert group is not None
    region, members = group["Region"], dict(group["Members"])
    for other in others:
        for name, member in (other.global_table or {})["Members"].items():
            if name not in members or member["Revision"] > members[name]["Revision"]:
                members[name] = member
    for name in absent:
        if members[name]["ReplicaStatus"] in (ACTIVE, DELETING):
            revision = next_revision(now, members.values())
            members[name] = {"ReplicaStatus": GONE, "Revision": revision}
    if members[region]["ReplicaStatus"] in (DELETING, GONE):
        return None
    newest = max([own, *others], key=revision_of)
    merged = own if revision_of(newest) == revision_of(own) else with_shared(own, newest)
    is_alone = all(
        member["ReplicaStatus"] == GONE for name, member in members.items() if name != region
    )
    notes = {key: value for key, value in merged.notes.items() if key != storage.GLOBAL_TABLE}
    if is_alone:
        return replace(merged, notes=notes)
    revision = revision_of(newest)
    notes[storage.GLOBAL_TABLE] = {**group, "Members": members, "Revision": revision}
    return with_own_settings(replace(merged, notes=notes))


def revision_of(table: TableDefinition) -> int:
    revision: int = (table.global_table or {"Revision": 0})["Revision"]
    return revision


def with_shared(own: TableDefinition, other: TableDefinition) -> TableDefinition:
    """`own` with the shared settings of `other`."""
    notes = {key: value for key, value in own.notes.items() if key not in CAPACITY_NOTES}
    notes.update((name, other.notes[name]) for name in CAPACITY_NOTES if name in other.notes)
    keys = {(table.sse or {}).get("KMSMasterKeyId", DEFAULT_KEY) for table in (own, other)}
    has_own_class = any("TableClassOverride" in own_member(table) for table in (own, other))
    return replace(
        own,
        attributes=other.attributes,
        indexes=tuple(shared_index(own.index(index.name), index) for index in other.indexes),
        vectors=tuple(
            shared_vector_index(own.vector_index(index.name), index) for index in other.vectors
        ),
        billing_mode=other.billing_mode,
        throughput=other.throughput,
        ttl_attribute=other.ttl_attribute,
        sse=other.sse if keys == {DEFAULT_KEY} else own.sse,
        table_class=own.table_class if has_own_class else other.table_class,
        notes=notes,
    )


def shared_index(own: IndexDefinition | None, other: IndexDefinition) -> IndexDefinition:
    if own is not None:
        mine = replace(other, number=own.number, building=own.building)
        if replace(own, throughput=mine.throughput) == mine:
            return mine
    return replace(other, number=0, building=True)


def shared_vector_index(
    own: VectorIndexDefinition | None, other: VectorIndexDefinition
) -> VectorIndexDefinition:
    mine = own and replace(other, number=own.number, building=own.building)
    return mine if mine and mine == own else replace(other, number=0, building=True)


def own_member(table: TableDefinition) -> Member:
    group = table.global_table
    assert group is not None
    member: Member = group["Members"][group["Region"]]
    return member


def with_own_settings(table: TableDefinition) -> TableDefinition:
    """The replica with its own settings applied."""
    member, notes = own_member(table), dict(table.notes)
    key, table_class = member.get("KMSMasterKeyId"), member.get("TableClassOverride")
    if "OnDemandThroughputOverride" in member:
        ceilings = {**notes.get("OnDemandThroughput", {}), **member["OnDemandThroughputOverride"]}
        notes["OnDemandThroughput"] = ceilings
    for index in member.get("GlobalSecondaryIndexes", ()):
        if "OnDemandThroughputOverride" in index:
            name, indexes = index["IndexName"], notes.get("indexes", {})
            known = indexes.get(name, {})
            ceilings = {
                **known.get("OnDemandThroughput", {}),
                **index["OnDemandThroughputOverride"],
            }
            notes["indexes"] = {**indexes, name: {**known, "OnDemandThroughput": ceilings}}
    return replace(
        table,
        sse={"SSEType": "KMS", "KMSMasterKeyId": key} if key else table.sse,
        table_class=table_class or table.table_class,
        notes=notes,
    )
