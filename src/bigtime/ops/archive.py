"""Archives: copies of old records with all that belongs to them, as DynamoDB JSON lines.

    PLACE/archive.json                    the manifest: files with their SHA-256, records
    PLACE/data/<table>/000001.json.gz     lines as in an export of DynamoDB

The place is a folder, or a bucket of S3 (s3://BUCKET/FOLDER), whose lifecycle may move the files of
`data` to GLACIER; the manifest is read each time.

Records are archived in batches. The files of a batch are written in full, and then the manifest,
which names them: an interrupted batch is written again under the same names, and a record that the
manifest names is skipped. So an archive can be run again at any time, and holds nothing twice. A
record that changes after it was archived is archived again when it is old enough.

The live records stay. If the operator also asks for it, they are anonymised, each only once it is
in the manifest.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson

from bigtime.formats import Bucket, Folder, item_line, place_named
from bigtime.model import Entity, Position, Retention, System
from bigtime.store import Store

MANIFEST: Final = "archive.json"
FORMAT: Final = "DYNAMODB_JSON"
BATCH: Final = 100
AGE: Final = re.compile(r"([1-9]\d{0,3})([yd])")


class CannotArchive(Exception):
    """Why archiving cannot begin or continue; the message says what to do."""


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of a batch."""

    path: str
    table: str
    items: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ArchivedRecord:
    """A record: its id, its last change, and when it was archived and anonymised."""

    id: str
    last_change: str
    archived_at: str
    batch: int
    items: int
    anonymised_at: str | None = None


class FolderFiles(Folder):
    """The files of a folder."""

    def is_of_others(self) -> bool:
        """Whether the folder holds anything other than the files of a first batch."""
        return self.folder.exists() and any(each.name != "data" for each in self.folder.iterdir())


class BucketFiles(Bucket):
    """The objects of a bucket under a prefix."""

    def is_of_others(self) -> bool:
        """Whether the prefix holds anything other than the files of a first batch."""
        return any(not found.name.startswith("data/") for found in self.objects())


Files: TypeAlias = FolderFiles | BucketFiles
"""Where an archive is. Each file is written whole or not at all."""


@dataclass(slots=True)
class Archive:
    """A place, and what its manifest says it holds."""

    place: Files
    system: str
    files: list[ArchivedFile] = field(default_factory=list)
    records: list[ArchivedRecord] = field(default_factory=list)

    @property
    def known_versions(self) -> set[tuple[str, str]]:
        return {(record.id, record.last_change) for record in self.records}

    @property
    def next_batch(self) -> int:
        return max((record.batch for record in self.records), default=0) + 1

    def save(self) -> None:
        content = {
            "system": self.system,
            "format": FORMAT,
            "files": [asdict(file) for file in self.files],
            "records": [asdict(record) for record in self.records],
        }
        self.place.write(MANIFEST, orjson.dumps(content, option=orjson.OPT_INDENT_2))


def open_archive(where: str | Path, system: System) -> Archive:
    """A new archive, or the existing one, whose files must match its manifest."""
    place = place_named(str(where), "an archive", FolderFiles, BucketFiles)
    manifest = place.read(MANIFEST)
    if manifest is None:
        if place.is_of_others():  # anything but an interrupted first batch
            raise CannotArchive(f"{where} is not empty and no archive; name another folder")
        return Archive(place, system.name)
    try:
        content = orjson.loads(manifest)
        archive = Archive(
            place,
            content["system"],
            [ArchivedFile(**file) for file in content["files"]],
            [ArchivedRecord(**record) for record in content["records"]],
        )
    except (ValueError, TypeError, KeyError) as error:
        raise CannotArchive(f"{where}/{MANIFEST} is no manifest of an archive: {error}") from error
    if archive.system != system.name:
        raise CannotArchive(f"{where} is an archive of {archive.system}; name another folder")
    check_files(archive)
    return archive


def check_files(archive: Archive) -> None:
    for file in archive.files:
        path, content = f"{archive.place.where}/{file.path}", archive.place.read(file.path)
        if content is None:
            raise CannotArchive(f"{path} is missing; bring it back from a copy of the archive")
        if sha256(content).hexdigest() != file.sha256:
            raise CannotArchive(
                f"{path} is not as it was written; bring it back from a copy of the archive"
            )


def moment_before(age: str, now: datetime) -> datetime:
    """The moment that is an age such as `7y` or `90d` before another."""
    parsed = AGE.fullmatch(age)
    if parsed is None:
        raise CannotArchive(f"{age!r} is no age: say 7y for seven years, or 90d for ninety days")
    number, unit = int(parsed[1]), parsed[2]
    if unit == "d":
        return now - timedelta(days=number)
    if number >= now.year:
        raise CannotArchive(f"{age} lies before the first year")
    try:
        return now.replace(year=now.year - number)
    except ValueError:  # the 29th of February
        return now.replace(year=now.year - number, day=28)


# Archiving


def archive_records(store: Store, system: System, archive: Archive, before: datetime) -> int:
    """Adds the records last changed before a moment; returns how many were added."""
    retention = retention_of(system)
    collected = collected_records(store, retention, archive, before)
    added = 0
    while batch := list(islice(collected, BATCH)):
        added += write_batch(archive, retention, batch, store.clock())
    return added


def retention_of(system: System) -> Retention:
    if system.retention is None:
        raise CannotArchive(
            f"system {system.name} does not say what is archived of it; declare it, as in"
            " System(retention=Retention(...))"
        )
    return system.retention


def collected_records(
    store: Store, retention: Retention, archive: Archive, before: datetime
) -> Iterator[list[Entity]]:
    """Yields each record that is not in the archive yet, with all that belongs to it."""
    known = archive.known_versions
    position: Position | None = None
    while True:
        page = store.run(retention.find(before, position))
        for record in page:
            if identity_of(retention, record) in known:
                continue
            collected = store.run(retention.collect(record.id, before))
            if collected and identity_of(retention, collected[0]) not in known:
                yield collected
        position = page.position
        if position is None:
            return


def identity_of(retention: Retention, record: Any) -> tuple[str, str]:
    return record.id, stamp(retention.last_change(record))


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def write_batch(
    archive: Archive, retention: Retention, batch: list[list[Entity]], moment: datetime
) -> int:
    """Writes the files of a batch, and then the manifest that names them."""
    number = archive.next_batch
    lines: defaultdict[str, list[bytes]] = defaultdict(list)
    for entity in (entity for collected in batch for entity in collected):
        layout = entity.layout
        lines[layout.table.name].append(item_line(layout.to_item(entity)))
    archive.files += [
        write_file(archive.place, f"data/{table}/{number:06}.json.gz", table, items)
        for table, items in lines.items()
    ]
    for collected in batch:
        id, last_change = identity_of(retention, collected[0])
        record = ArchivedRecord(id, last_change, stamp(moment), number, len(collected))
        archive.records.append(record)
    archive.save()
    return len(batch)


def write_file(place: Files, name: str, table: str, items: list[bytes]) -> ArchivedFile:
    content = gzip.compress(b"".join(items), mtime=0)
    place.write(name, content)
    return ArchivedFile(name, table, len(items), sha256(content).hexdigest())


# Anonymising


def anonymise_archived(
    store: Store, system: System, archive: Archive, reason: str, by: str
) -> tuple[int, int]:
    """Anonymises the live records of an archive, except those changed since they were archived.

    Returns how many were anonymised, and how many were left.
    """
    retention = retention_of(system)
    if retention.anonymise is None:
        raise CannotArchive(f"nothing of system {system.name} can be anonymised")
    latest = {record.id: place for place, record in enumerate(archive.records)}
    done = left = 0
    for place in latest.values():
        record = archive.records[place]
        if record.anonymised_at is not None:
            continue
        changed = datetime.fromisoformat(record.last_change)
        if store.run(retention.anonymise(record.id, changed, reason, by)):
            archive.records[place] = replace(record, anonymised_at=stamp(store.clock()))
            done += 1
        else:
            left += 1
        if done and done % BATCH == 0:
            archive.save()
    archive.save()
    return done, left
