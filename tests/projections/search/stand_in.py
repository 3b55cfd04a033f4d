"""A stand-in of OpenSearch's HTTP API, as far as the port uses it, by its documented shapes.

https://docs.opensearch.org/latest/api-reference/ : create index, delete index, index exists, get
alias, aliases, refresh, bulk, index document, get document, delete document, search. Of the query
language it knows what is asked: bool, dis_max, multi_match, prefix, wildcard, terms, range; sort
with search_after; post_filter; aggregations of filter and terms; highlight; the term suggester.
Anything else is answered with 400, as is a field that no mapping has.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cmp_to_key, partial
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from bigtime.projections.search.words import distance, typos_in

Json = Any
WORD = re.compile(r"[^\W_]+")


class Refused(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Cluster:
    """Indexes with their mappings and documents, and aliases."""

    def __init__(self) -> None:
        self.mappings: dict[str, Json] = {}
        self.documents: dict[str, dict[str, Json]] = {}
        self.aliases: dict[str, str] = {}
        self.requests: list[str] = []
        self.refuse_bulk = 0
        self.lock = threading.Lock()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Json]:
        with self.lock:
            self.requests.append(f"{method} {path}")
            parts = [unquote(part) for part in path.strip("/").split("/")]
            try:
                return self.route(method, parts, body)
            except Refused as error:
                return error.status, {
                    "error": {"type": "exception", "reason": str(error)},
                    "status": error.status,
                }

    def route(self, method: str, parts: list[str], body: bytes) -> tuple[int, Json]:
        if len(parts) == 3 and parts[1] == "_doc":
            return self.document(method, parts[0], parts[2], body)
        if len(parts) == 1 and not parts[0].startswith("_"):
            return self.index(method, parts[0], body)
        if parts[-1] in ("_search", "_refresh"):
            return 200, self.search(parts[0], json.loads(body or b"{}"))
        match method, parts:
            case "POST", ["_bulk"]:
                return 200, self.bulk(body)
            case "POST", ["_aliases"]:
                return 200, self.move_aliases(json.loads(body))
            case "GET", ["_alias", name]:
                if name not in self.aliases:
                    raise Refused(404, f"alias [{name}] missing")
                return 200, {self.aliases[name]: {"aliases": {name: {}}}}
        raise Refused(400, f"no handler found for [{method} /{'/'.join(parts)}]")

    def document(self, method: str, index: str, id: str, body: bytes) -> tuple[int, Json]:
        told = {"_index": index, "_id": id}
        if method in ("PUT", "POST"):
            self.put(index, id, json.loads(body))
            return 201, {**told, "result": "created"}
        found = self.documents_of(index).get(id)
        if found is None:
            return 404, {**told, "found": False}
        if method == "DELETE":
            del self.documents_of(index)[id]
        return 200, {**told, "found": True, "_source": found}

    def index(self, method: str, index: str, body: bytes) -> tuple[int, Json]:
        if method == "HEAD":
            return (200 if index in self.documents else 404), None
        if method == "PUT":
            return 200, self.create(index, json.loads(body))
        self.documents_of(index)
        del self.documents[index], self.mappings[index]
        self.aliases = {key: value for key, value in self.aliases.items() if value != index}
        return 200, {"acknowledged": True}

    # Indexes and documents

    def create(self, index: str, body: Json) -> Json:
        if index in self.documents:
            raise Refused(400, f"resource_already_exists_exception: {index}")
        if index != index.lower():
            raise Refused(400, f"invalid_index_name_exception: {index}")
        self.mappings[index] = body["mappings"]
        self.documents[index] = {}
        return {"acknowledged": True, "index": index}

    def documents_of(self, index: str) -> dict[str, Json]:
        index = self.aliases.get(index, index)
        if index not in self.documents:
            raise Refused(404, f"no such index [{index}]")
        return self.documents[index]

    def put(self, index: str, id: str, document: Json) -> None:
        documents, mapping = self.documents_of(index), self.mappings[index]
        if mapping.get("dynamic") == "strict":
            unknown = document.keys() - mapping["properties"].keys()
            if unknown:
                raise Refused(400, f"strict_dynamic_mapping_exception: {unknown}")
        documents[id] = document

    def bulk(self, body: bytes) -> Json:
        if self.refuse_bulk:
            self.refuse_bulk -= 1
            raise Refused(429, "rejected execution")
        lines = iter(body.decode().strip().split("\n"))
        items = []
        for line in lines:
            ((action, target),) = json.loads(line).items()
            documents = self.documents_of(target["_index"])
            if action == "delete":
                status = 404 if documents.pop(target["_id"], None) is None else 200
            else:
                self.put(target["_index"], target["_id"], json.loads(next(lines)))
                status = 201
            items.append({action: {**target, "status": status}})
        return {"errors": False, "items": items}

    def move_aliases(self, body: Json) -> Json:
        for action in body["actions"]:
            ((what, told),) = action.items()
            self.documents_of(told["index"])
            if what == "add":
                self.aliases[told["alias"]] = told["index"]
            elif self.aliases.get(told["alias"]) == told["index"]:
                del self.aliases[told["alias"]]
        return {"acknowledged": True}

    # Search

    def search(self, index: str, body: Json) -> Json:
        documents = self.documents_of(index)
        matching = {
            id: score
            for id, document in documents.items()
            if (score := score_of(body.get("query"), document)) is not None
        }
        wanted = {
            id: score
            for id, score in matching.items()
            if score_of(body.get("post_filter"), documents[id]) is not None
        }
        hits = [self.hit(body, documents, each) for each in wanted.items()]
        hits.sort(key=cmp_to_key(partial(compare_hits, body.get("sort", []))))
        if "search_after" in body:
            after = body["search_after"]
            hits = [hit for hit in hits if is_after(body["sort"], hit["sort"], after)]
        return {
            "hits": {
                "total": {"value": len(wanted), "relation": "eq"},
                "hits": hits[: body.get("size", 10)],
            },
            "aggregations": {
                name: aggregate(told, [documents[id] for id in matching])
                for name, told in body.get("aggs", {}).items()
            },
            "suggest": {"words": suggestions(body["suggest"], documents)}
            if "suggest" in body
            else {},
        }

    def hit(self, body: Json, documents: dict[str, Json], each: tuple[str, float]) -> Json:
        id, score = each
        return {
            "_id": id,
            "_score": score,
            "_source": documents[id],
            "sort": [field_value(name, documents[id], score) for name, _ in orders(body)],
            "highlight": highlight(body, documents[id]),
        }


def orders(body: Json) -> list[tuple[str, str]]:
    return [next(iter(each.items())) for each in body.get("sort", [])]


def field_value(name: str, document: Json, score: float) -> Json:
    return score if name == "_score" else document.get(name)


def compare_hits(sort: Json, hit: Json, other: Json) -> int:
    return 1 if is_after(sort, hit["sort"], other["sort"]) else -1


def is_after(sort: Json, place: list[Json], after: list[Json]) -> bool:
    for each, value, last in zip(sort, place, after, strict=True):
        ((_, order),) = each.items()
        if value != last:
            return bool(value < last) if order == "desc" else bool(value > last)
    return False


def words_in(document: Json, field: str) -> list[str]:
    value = document.get(field, "")
    return WORD.findall(" ".join(value) if isinstance(value, list) else str(value).lower())


def stem(word: str) -> str:
    return word.removesuffix("s")


def score_of(query: Json, document: Json) -> float | None:
    """The score of a document; None if the query does not match it."""
    if query is None:
        return 1.0
    ((kind, told),) = query.items()
    if kind not in QUERIES:
        raise Refused(400, f"unknown query [{kind}]")
    return QUERIES[kind](told, document)


def match_bool(told: Json, document: Json) -> float | None:
    scores = [score_of(each, document) for each in told.get("must", [])]
    passed = [score_of(each, document) for each in told.get("filter", [])]
    return None if None in (*scores, *passed) else sum(score or 0.0 for score in scores)


def dis_max(told: Json, document: Json) -> float | None:
    found = [score_of(each, document) for each in told["queries"]]
    return max((score for score in found if score is not None), default=None)


def prefix(told: Json, document: Json) -> float | None:
    ((field, how),) = told.items()
    found = any(word.startswith(how["value"]) for word in words_in(document, field))
    return float(how.get("boost", 1.0)) if found else None


def wildcard(told: Json, document: Json) -> float | None:
    ((field, how),) = told.items()
    return 1.0 if how["value"].strip("*") in document.get(field, "") else None


def terms(told: Json, document: Json) -> float | None:
    ((field, values),) = told.items()
    return 1.0 if document.get(field) in values else None


def in_range(told: Json, document: Json) -> float | None:
    ((field, bounds),) = told.items()
    low, high = bounds.get("gte", float("-inf")), bounds.get("lte", float("inf"))
    return 1.0 if field in document and low <= document[field] <= high else None


def multi_match(told: Json, document: Json) -> float | None:
    assert told["fuzziness"] == "AUTO:4,8"
    best: float | None = None
    for field in told["fields"]:
        name, _, weight = field.partition("^")
        for word in words_in(document, name):
            away = distance(stem(told["query"]), stem(word))
            if away <= typos_in(told["query"]):
                best = max(best or 0.0, float(weight) / (1 + away))
    return best


QUERIES: dict[str, Callable[[Json, Json], float | None]] = {
    "bool": match_bool,
    "dis_max": dis_max,
    "multi_match": multi_match,
    "prefix": prefix,
    "wildcard": wildcard,
    "terms": terms,
    "range": in_range,
}


def aggregate(told: Json, documents: list[Json]) -> Json:
    if "filter" in told:
        inside = [each for each in documents if score_of(told["filter"], each) is not None]
        return {name: aggregate(how, inside) for name, how in told["aggs"].items()}
    wanted = told["terms"]
    counts: Counter[str] = Counter()
    for document in documents:
        value = document.get(wanted["field"], [])
        counts.update(value if isinstance(value, list) else [value])
    pattern = re.compile(wanted.get("include", ".*"))
    listed = [(key, count) for key, count in counts.items() if pattern.fullmatch(key)]
    listed.sort(key=lambda each: (-each[1], each[0]))
    return {
        "buckets": [{"key": key, "doc_count": count} for key, count in listed[: wanted["size"]]]
    }


def highlight(body: Json, document: Json) -> dict[str, list[str]]:
    wanted = {stem(word) for word in WORD.findall(json.dumps(body.get("query", {})).lower())}
    marked = {}
    for field in body.get("highlight", {}).get("fields", {}):
        assert body["highlight"]["encoder"] == "html"
        text = re.sub(
            r"[^\W_]+|.",
            lambda found: (
                f"<mark>{found[0]}</mark>" if stem(found[0].lower()) in wanted else escape(found[0])
            ),
            document.get(field, ""),
        )
        if "<mark>" in text:
            marked[field] = [text]
    return marked


def suggestions(told: Json, documents: dict[str, Json]) -> list[Json]:
    """Entries for each word; options only where no document has it ("missing", the default)."""
    field = told["words"]["term"]["field"]
    known = Counter(word for each in documents.values() for word in words_in(each, field))
    return [
        {
            "text": word,
            "options": []
            if word in known
            else [
                {"text": other, "freq": freq}
                for other, freq in known.items()
                if distance(word, other) <= 2
            ],
        }
        for word in told["text"].split()
    ]


@contextmanager
def cluster_in_thread() -> Iterator[tuple[str, Cluster]]:
    """The address of a cluster, and the cluster."""
    cluster = Cluster()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            status, answer = cluster.answer(self.command, urlsplit(self.path).path, body)
            sent = b"" if answer is None else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    for verb in ("GET", "PUT", "POST", "DELETE", "HEAD"):
        setattr(Handler, f"do_{verb}", Handler.handle_any)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", cluster
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
