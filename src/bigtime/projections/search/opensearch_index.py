"""An OpenSearch index over its HTTP API: the same port, for more than one machine.

Each generation is a separate index, and an alias names the one in use. OpenSearch commits documents
one by one; so checkpoints are written after them, to an index of checkpoints: after a crash in
between, the documents are written again. Queries are built from words; user input is never parsed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from bigtime.extras import extra
from bigtime.model import Position, SearchIndex
from bigtime.projections.search import port
from bigtime.projections.search.documents import Document, rank_bounds
from bigtime.projections.search.folder import version_of
from bigtime.projections.search.port import BuildProgress, IndexFault, NoIndex, NotBuilt, Progress
from bigtime.projections.search.words import MOST_WORDS, WORD, words_of

with extra("opensearch"):
    from opensearchpy import OpenSearch, OpenSearchException
    from opensearchpy.exceptions import NotFoundError

CHECKPOINTS: Final = "bigtime-checkpoints"
TIMEOUT_SECONDS: Final = 10
LOOK_SECONDS: Final = 10.0
MOST_FACETS: Final = 20
NOTED_FOR_SECONDS: Final = 60.0
"""A build that has reported no progress for so long is considered dead."""


def mapping_of(index: SearchIndex) -> dict[str, Any]:
    """The mapping; a letter before a field's name says what it is used for."""
    fields: dict[str, Any] = {
        "key": {"type": "keyword"},
        "words": {"type": "text", "analyzer": "standard"},
        "terms": {"type": "keyword"},
    }
    fields |= {f"t_{name}": {"type": "text", "analyzer": "english"} for name in index.text}
    fields |= {f"p_{name}": {"type": "keyword"} for name in index.parts}
    fields |= {f"f_{name}": {"type": "keyword"} for name in index.facets}
    fields |= {f"s_{name}": {"type": "long"} for name in index.sort}
    return {"mappings": {"dynamic": "strict", "properties": fields}}


def fields_of(document: Document) -> dict[str, Any]:
    words = " ".join(document.text.values())
    fields: dict[str, Any] = {
        "key": document.key,
        "words": words,
        "terms": sorted(set(WORD.findall(words.lower()))),
    }
    fields |= {f"t_{name}": text for name, text in document.text.items()}
    fields |= {f"p_{name}": text.lower() for name, text in document.parts.items()}
    fields |= {f"f_{name}": text for name, text in document.facets.items()}
    fields |= {f"s_{name}": value for name, value in document.ranks.items()}
    return fields


@contextmanager
def index_faults() -> Iterator[None]:
    try:
        yield
    except OpenSearchException as error:
        raise IndexFault(str(error)) from error


class OpenSearchBackend:
    """Indexes at a URL, which may contain a user and a password."""

    def __init__(self, address: str, index: SearchIndex) -> None:
        self.index = index
        self.alias = f"bigtime-{index.name}-{version_of(index)}"
        self.client = OpenSearch(hosts=[address], timeout=TIMEOUT_SECONDS)

    def reader(self) -> OpenSearchReader:
        return OpenSearchReader(self)

    def open_writer(self) -> OpenSearchWriter:
        generation = self.current()
        if generation is None:
            raise NotBuilt("there is none of this version")
        writer = OpenSearchWriter(self, generation)
        if writer.progress is None:
            raise NoIndex("it has no checkpoint")
        return writer

    @contextmanager
    def build(self) -> Iterator[OpenSearchBuilding]:
        generation = f"{self.alias}-{datetime.now(UTC):%Y%m%d%H%M%S%f}-{os.getpid()}"
        with index_faults():
            self.prepare_checkpoints()
            self.client.indices.create(index=generation, body=mapping_of(self.index))
        try:
            building = OpenSearchBuilding(self, OpenSearchWriter(self, generation))
            building.note(BuildProgress(0, 0))
            yield building
        finally:
            with index_faults(), suppress(NotFoundError):
                if self.current() != generation:
                    self.client.indices.delete(index=generation)
                self.client.delete(index=CHECKPOINTS, id=f"{self.alias}-building")

    def prepare_checkpoints(self) -> None:
        if not self.client.indices.exists(index=CHECKPOINTS):
            unindexed = {"mappings": {"dynamic": False}}
            self.client.indices.create(index=CHECKPOINTS, body=unindexed)

    def current(self) -> str | None:
        """The index that the alias names."""
        with index_faults():
            try:
                return next(iter(self.client.indices.get_alias(name=self.alias)), None)
            except NotFoundError:
                return None

    def read_checkpoint(self, name: str) -> dict[str, Any] | None:
        """A document in the index of checkpoints."""
        with index_faults(), suppress(NotFoundError):
            found: dict[str, Any] = self.client.get(index=CHECKPOINTS, id=name)["_source"]
            return found
        return None

    def save(self, name: str, fields: Mapping[str, Any]) -> None:
        with index_faults():
            self.client.index(index=CHECKPOINTS, id=name, body=dict(fields))

    def progress(self) -> BuildProgress | None:
        noted = self.read_checkpoint(f"{self.alias}-building")
        if noted is None or noted["at"] < time.time() - NOTED_FOR_SECONDS:
            return None
        return BuildProgress(noted["done"], noted["total"])


# Writing


class OpenSearchWriter:
    """Writes to one index."""

    def __init__(self, backend: OpenSearchBackend, generation: str) -> None:
        self.backend = backend
        self.generation = generation
        saved = backend.read_checkpoint(generation)
        self.progress: Progress | None = None if saved is None else stored_progress(saved)
        self.looked_at = time.monotonic()

    def write(self, changes: Mapping[str, Document | None], progress: Progress) -> None:
        self._send(changes)
        self.backend.save(self.generation, stored_fields(progress))
        self.progress = progress

    def add(self, documents: Iterable[Document]) -> None:
        self._send({document.key: document for document in documents})

    def _send(self, changes: Mapping[str, Document | None]) -> None:
        if changes:
            with index_faults():
                done = self.backend.client.bulk(body=[*self.actions(changes)])
            check_bulk(done)

    def actions(self, changes: Mapping[str, Document | None]) -> Iterator[dict[str, Any]]:
        for key, document in changes.items():
            target = {"_index": self.generation, "_id": key}
            if document is None:
                yield {"delete": target}
            else:
                yield {"index": target}
                yield fields_of(document)

    def is_replaced(self) -> bool:
        """Checked every few seconds, because the worker's rounds are more frequent."""
        if time.monotonic() - self.looked_at < LOOK_SECONDS:
            return False
        self.looked_at = time.monotonic()
        return self.backend.current() != self.generation

    def mark_damaged(self) -> None:
        """Does nothing: OpenSearch repairs its own files."""

    def close(self) -> None:
        pass


def check_bulk(done: Mapping[str, Any]) -> None:
    """Raises the bulk request's errors; deleting a missing document is not one."""
    failed = [
        result
        for item in done["items"]
        for result in item.values()
        if result["status"] >= 400 and result["status"] != 404
    ]
    if failed:
        raise IndexFault(f"{len(failed)} documents were refused, the first: {failed[0]}")


def stored_fields(progress: Progress) -> dict[str, Any]:
    # A list, because in an object each shard would become a field of the mapping.
    shards = [[shard, *place] for shard, place in progress.shards.items()]
    return {**port.progress_fields(progress), "shards": shards}


def stored_progress(fields: Mapping[str, Any]) -> Progress:
    shards = {shard: place for shard, *place in fields["shards"]}
    return port.progress_from({**fields, "shards": shards})


@dataclass(frozen=True, slots=True)
class OpenSearchBuilding:
    """An index that is being built."""

    backend: OpenSearchBackend
    writer: OpenSearchWriter

    def note(self, progress: BuildProgress) -> None:
        fields = {"done": progress.done, "total": progress.total, "at": time.time()}
        self.backend.save(f"{self.backend.alias}-building", fields)

    def publish(self) -> None:
        """Moves the alias atomically, and removes the previous index."""
        client, before = self.backend.client, self.backend.current()
        alias = {"alias": self.backend.alias}
        actions: list[dict[str, Any]] = [{"add": {"index": self.writer.generation, **alias}}]
        if before is not None:
            actions.insert(0, {"remove": {"index": before, **alias}})
        with index_faults():
            client.indices.refresh(index=self.writer.generation)
            client.indices.update_aliases(body={"actions": actions})
            if before is not None:
                client.indices.delete(index=before)


# Reading


class OpenSearchReader:
    """Searches the index that the alias names."""

    def __init__(self, backend: OpenSearchBackend) -> None:
        self.backend = backend
        self.index = backend.index

    def find(self, query: port.Query) -> port.SearchPage:
        place = query.place(self.index)
        found = self._search(search_body(self.index, query, place))
        hits = found["hits"]["hits"]
        has_more = len(hits) > query.limit
        hits = hits[: query.limit]
        return port.SearchPage(
            [port.Hit(hit["_id"], marks_in(hit)) for hit in hits],
            found["hits"]["total"]["value"],
            {name: counts_in(found, name) for name in self.index.facets},
            corrections_in(found),
            Position(query.fingerprint(self.index), {"after": hits[-1]["sort"]})
            if has_more
            else None,
        )

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        words = words_of(text)
        if not words or not text[-1:].isalnum():
            return []
        *before, last = words
        counted = {"field": "terms", "include": f"{last}.*", "size": limit}
        body = {"size": 0, "aggs": {"terms": {"terms": counted}}}
        found = self._search(body)["aggregations"]["terms"]["buckets"]
        return [" ".join((*before, bucket["key"])) for bucket in found]

    def status(self) -> port.IndexStatus:
        try:
            return self._status()
        except (IndexFault, port.SearchUnavailable):
            return port.IndexStatus("missing")

    def _status(self) -> port.IndexStatus:
        building, generation = self.backend.progress(), self.backend.current()
        if generation is None:
            return port.IndexStatus("building" if building else "missing", building=building)
        count = self._search({"size": 0, "track_total_hits": True})["hits"]["total"]["value"]
        saved = self.backend.read_checkpoint(generation)
        progress = None if saved is None else stored_progress(saved)
        return port.IndexStatus(
            "ready",
            count,
            progress.built_at if progress else None,
            progress.followed_at if progress else None,
            building=building,
        )

    def _search(self, body: Mapping[str, Any]) -> dict[str, Any]:
        try:
            found: dict[str, Any] = self.backend.client.search(
                index=self.backend.alias, body=dict(body)
            )
        except OpenSearchException as error:
            raise port.SearchUnavailable() from error
        return found


def search_body(
    index: SearchIndex, query: port.Query, place: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Facet filters go into `post_filter`; each aggregation has all filters but its own."""
    words = words_of(query.text)[:MOST_WORDS]
    filters = {
        name: {"terms": {f"f_{name}": list(values)}}
        for name, values in query.filters.items()
        if values
    }
    body: dict[str, Any] = {
        "size": query.limit + 1,
        "track_total_hits": True,
        "query": {
            "bool": {
                "must": [with_word(index, word, is_last=word == words[-1]) for word in words],
                "filter": [*ranges_of(query)],
            }
        },
        "post_filter": {"bool": {"filter": [*filters.values()]}},
        "aggs": {name: facet_of(name, filters) for name in index.facets},
        "sort": sort_of(query),
        "highlight": {
            "pre_tags": ["<mark>"],
            "post_tags": ["</mark>"],
            "encoder": "html",
            "fields": {
                f"t_{name}": {"fragment_size": 200, "number_of_fragments": 1} for name in index.text
            },
        },
    }
    if words:
        body["suggest"] = {"text": " ".join(words), "words": {"term": {"field": "words"}}}
    if place is not None:
        body["search_after"] = place["after"]
    return body


def with_word(index: SearchIndex, word: str, *, is_last: bool) -> dict[str, Any]:
    weighted = [f"t_{name}^{max(3 - place, 1)}" for place, name in enumerate(index.text)]
    ways: list[dict[str, Any]] = [
        {"multi_match": {"query": word, "fields": weighted, "fuzziness": "AUTO:4,8"}}
    ]
    # A word has only letters and digits, so the wildcard needs no escaping.
    ways += [{"wildcard": {f"p_{name}": {"value": f"*{word}*"}}} for name in index.parts]
    if is_last:
        ways.append({"prefix": {"terms": {"value": word, "boost": 0.5}}})
    return {"dis_max": {"queries": ways, "tie_breaker": 0.1}}


def ranges_of(query: port.Query) -> Iterator[dict[str, Any]]:
    for name, bounds in query.ranges.items():
        low, high = rank_bounds(*bounds)
        limits = {"gte": low, "lte": high}
        given = {way: limit for way, limit in limits.items() if limit is not None}
        if given:
            yield {"range": {f"s_{name}": given}}


def facet_of(name: str, filters: Mapping[str, Any]) -> dict[str, Any]:
    others = [each for other, each in filters.items() if other != name]
    values = {"terms": {"field": f"f_{name}", "size": MOST_FACETS}}
    return {"filter": {"bool": {"filter": others}}, "aggs": {"values": values}}


def sort_of(query: port.Query) -> list[dict[str, str]]:
    """Ties are sorted by key, so that each page begins where the previous one ended."""
    if query.sort is None:
        return [{"_score": "desc"}, {"key": "asc"}]
    order = "desc" if query.sort.startswith("-") else "asc"
    return [{f"s_{query.sort.removeprefix('-')}": order}, {"key": "asc"}]


def marks_in(hit: Mapping[str, Any]) -> dict[str, str]:
    marked: Mapping[str, list[str]] = hit.get("highlight", {})
    return {name.removeprefix("t_"): fragments[0] for name, fragments in marked.items()}


def counts_in(found: Mapping[str, Any], name: str) -> list[port.FacetCount]:
    buckets = found["aggregations"][name]["values"]["buckets"]
    return port.most_first((bucket["key"], bucket["doc_count"]) for bucket in buckets)


def corrections_in(found: Mapping[str, Any]) -> dict[str, str]:
    entries = found.get("suggest", {}).get("words", [])
    return {entry["text"]: entry["options"][0]["text"] for entry in entries if entry["options"]}
