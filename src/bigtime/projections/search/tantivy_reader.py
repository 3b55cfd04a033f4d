"""The reader of a tantivy index: words become terms, and terms become a page of hits.

A word is searched by its stem in every text field, the first of which counts most, and as a
substring in the fields declared as `parts`. If no document has it, words with that prefix (the last
word may be half typed) and words with a typo or two are searched. A hit must match all words.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import tantivy
from tantivy import Occur, Query

from bigtime.model import Position, SearchIndex
from bigtime.projections.search import port
from bigtime.projections.search import tantivy_files as files
from bigtime.projections.search.documents import rank_bounds
from bigtime.projections.search.folder import IndexFolder, folder_bytes, mark_damaged
from bigtime.projections.search.words import likeliest, similar_words, typos_in, words_of

T = TypeVar("T")
Stat = tuple[int, int, int]

MOST_COMPLETIONS: Final = 32
MOST_FACETS: Final = 20
SNIPPET_LETTERS: Final = 200
FIRST_WEIGHT: Final = 3.0


class TantivyReader:
    """Searches the generation in use, and follows the worker's commits."""

    def __init__(self, folder: IndexFolder, index: SearchIndex) -> None:
        self.folder = folder
        self.index = index
        self._lock = threading.Lock()
        self._seen: tuple[Stat, Stat] | None = None
        self._generation = folder.path
        self._opened: tantivy.Index | None = None

    def find(self, query: port.Query) -> port.SearchPage:
        return self._ask(lambda opened: Search(self.index, opened, query).page())

    def suggest(self, text: str, limit: int = 8) -> list[str]:
        return self._ask(lambda opened: completions(opened.searcher(), text, limit))

    def status(self) -> port.IndexStatus:
        building = self.folder.progress()
        try:
            documents, progress = self._ask(counts_of)
        except port.SearchUnavailable:
            return port.IndexStatus("building" if building else "missing", building=building)
        return port.IndexStatus(
            "ready",
            documents,
            progress.built_at if progress else None,
            progress.followed_at if progress else None,
            folder_bytes(self._generation),
            building,
        )

    def _ask(self, question: Callable[[tantivy.Index], T]) -> T:
        """Queries the current index. An unreadable index is marked as damaged, for the worker."""
        try:
            with files.index_faults():
                return question(self._current())
        except port.IndexFault as error:
            mark_damaged(self._generation)
            raise port.SearchUnavailable() from error

    def _current(self) -> tantivy.Index:
        with self._lock:
            generation = self._generation
            try:
                pointer = stat_of(self.folder.pointer)
                if self._seen is None or pointer != self._seen[0]:
                    generation = self.folder.current() or generation
                    self._opened = None
                meta = stat_of(generation / "meta.json")
            except FileNotFoundError:
                raise port.SearchUnavailable() from None
            self._generation = generation
            if self._opened is None:
                self._opened = files.open_index(generation)
            elif self._seen is None or meta != self._seen[1]:
                self._opened.reload()
            self._seen = pointer, meta
            return self._opened


def stat_of(path: Path) -> Stat:
    found = path.stat()
    return found.st_mtime_ns, found.st_ino, found.st_size


def counts_of(opened: tantivy.Index) -> tuple[int, port.Progress | None]:
    searcher = opened.searcher()
    progress = files.read_progress(searcher, opened.schema)
    return searcher.num_docs - (progress is not None), progress


# --- One query --------------------------------------------------------------------------------


def completions(searcher: tantivy.Searcher, text: str, limit: int) -> list[str]:
    """The text with its last word completed, ordered by the number of documents with that word."""
    words = words_of(text)
    if not words or not text[-1:].isalnum():
        return []
    *before, last = words
    found = searcher.terms_with_prefix(files.WORDS, last, limit=MOST_COMPLETIONS)
    best = sorted(found, key=lambda each: (-each[1], each[0]))[:limit]
    return [" ".join((*before, term)) for term, _ in best]


class Search:
    """The execution of one query."""

    def __init__(self, index: SearchIndex, opened: tantivy.Index, query: port.Query) -> None:
        self.index = index
        self.schema = opened.schema
        self.searcher = opened.searcher()
        self.query = query
        self.words = words_of(query.text)
        self.unknown: list[str] = []
        self.completed: list[str] = []

    def page(self) -> port.SearchPage:
        place = self.query.place(self.index)
        matching = self.text_query()
        wanted = self.within(matching, self.query.filters)
        if self.query.sort is None:
            total, hits, position = self.by_relevance(wanted, place)
        else:
            total, hits, position = self.by_field(wanted, self.query.sort, place)
        documents = [self.searcher.doc(address) for address in hits]
        corrections, marked = self.found_words(documents)
        return port.SearchPage(
            self.highlight(documents, marked),
            total,
            self.facets(matching, wanted),
            corrections,
            position,
        )

    # What matches

    def text_query(self) -> Query:
        """Matches documents with all words, before filters; all documents if there are no words."""
        if not self.words:
            everything = (Occur.Must, Query.all_query())
            checkpoint = Query.term_query(self.schema, files.KEY, files.CHECKPOINT, "basic")
            return Query.boolean_query([everything, (Occur.MustNot, checkpoint)])
        last = len(self.words) - 1
        return self.all_of(
            self.with_word(word, is_last=position == last)
            for position, word in enumerate(self.words)
        )

    def all_of(self, queries: Iterable[Query]) -> Query:
        wanted = [(Occur.Must, query) for query in queries]
        return wanted[0][1] if len(wanted) == 1 else Query.boolean_query(wanted)

    def with_word(self, word: str, *, is_last: bool) -> Query:
        """Matches documents with a word; if there are none, with its prefix or with typos."""
        root = files.stem(word)
        known = [
            Query.boost_query(Query.term_query(self.schema, field, root, "freq"), weight)
            for field, weight in self.text_weights()
            if self.searcher.doc_freq(field, root)
        ]
        known += self.with_part(word)
        if not known:
            known = [*self.with_completions(word, is_last=is_last), *self.with_typos(word)]
        if not known:
            return Query.empty_query()
        return known[0] if len(known) == 1 else Query.disjunction_max_query(known, 0.1)

    def text_weights(self) -> Iterator[tuple[str, float]]:
        for place, name in enumerate(self.index.text):
            yield f"t_{name}", max(FIRST_WEIGHT - place, 1.0)

    def with_part(self, word: str) -> list[Query]:
        """Matches documents with the word as a substring of a field declared as `parts`."""
        size = min(len(word), 3)
        if size < 2:
            return []
        grams = {word[start : start + size] for start in range(len(word) - size + 1)}
        return [
            self.all_of(
                Query.const_score_query(
                    Query.term_query(self.schema, f"p_{name}", gram, "basic"), 1.0
                )
                for gram in sorted(grams)
            )
            for name in self.index.parts
            if all(self.searcher.doc_freq(f"p_{name}", gram) for gram in grams)
        ]

    def with_completions(self, word: str, *, is_last: bool) -> list[Query]:
        if not is_last:
            return []
        found = self.searcher.terms_with_prefix(files.WORDS, word, limit=MOST_COMPLETIONS)
        self.completed = [term for term, _ in found]
        return [Query.term_set_query(self.schema, files.WORDS, self.completed)] if found else []

    def with_typos(self, word: str) -> list[Query]:
        most = typos_in(word)
        if not most:
            return []
        self.unknown.append(word)
        return [Query.fuzzy_term_query(self.schema, files.WORDS, word, most)]

    def within(self, matching: Query, filters: Mapping[str, Any]) -> Query:
        """Matches what passes the filters and ranges too."""
        wanted = [(Occur.Must, matching)]
        for name, values in filters.items():
            if values:
                chosen = Query.term_set_query(self.schema, f"f_{name}", list(values))
                wanted.append((Occur.Must, Query.const_score_query(chosen, 0.0)))
        for name, bounds in self.query.ranges.items():
            if bounds != (None, None):
                wanted.append((Occur.Must, self.in_range(name, *rank_bounds(*bounds))))
        return matching if len(wanted) == 1 else Query.boolean_query(wanted)

    def in_range(self, name: str, low: int | None, high: int | None) -> Query:
        inside = Query.range_query(self.schema, f"s_{name}", tantivy.FieldType.Integer, low, high)
        return Query.const_score_query(inside, 0.0)

    # Pages

    def by_relevance(
        self, wanted: Query, place: Mapping[str, Any] | None
    ) -> tuple[int, list[tantivy.DocAddress], Position | None]:
        offset = 0 if place is None else place["offset"]
        limit = self.query.limit
        found = self.searcher.search(wanted, limit, offset=offset)
        total = count_of(found)
        following = offset + limit
        has_more = following < min(total, port.MOST_OFFSET)
        addresses = [address for _, address in found.hits]
        return total, addresses, self.position(offset=following) if has_more else None

    def by_field(
        self, wanted: Query, sort: str, place: Mapping[str, Any] | None
    ) -> tuple[int, list[tantivy.DocAddress], Position | None]:
        """A page starting at a rank. Documents of exactly that rank already shown are skipped."""
        name, descends = sort.removeprefix("-"), sort.startswith("-")
        limit, shown = self.query.limit, []
        rest = wanted
        if place is not None:
            rank, shown = place["rank"], place["keys"]
            bounds = (None, rank) if descends else (rank, None)
            rest = Query.boolean_query(
                [(Occur.Must, wanted), (Occur.Must, self.in_range(name, *bounds))]
            )
        order = tantivy.Order.Desc if descends else tantivy.Order.Asc
        found = self.searcher.search(
            rest, limit + len(shown) + 1, order_by_field=f"s_{name}", order=order
        )
        passed = {*shown}
        hits = [hit for hit in found.hits if not passed or self.key_at(hit[1]) not in passed]
        total = count_of(found if place is None else self.searcher.search(wanted, 1))
        addresses = [address for _, address in hits[:limit]]
        if len(hits) <= limit:
            return total, addresses, None
        last = hits[limit - 1][0]
        keys = [self.key_at(address) for rank, address in hits[:limit] if rank == last]
        keys += shown if place is not None and place["rank"] == last else []
        return total, addresses, self.position(rank=last, keys=keys)

    def position(self, **place: Any) -> Position:
        return Position(self.query.fingerprint(self.index), place)

    def key_at(self, address: tantivy.DocAddress) -> str:
        key: str = self.searcher.doc(address)[files.KEY][0]
        return key

    # Facets

    def facets(self, matching: Query, wanted: Query) -> dict[str, list[port.FacetCount]]:
        """Counts by value. A facet with a filter is counted without that filter."""
        filters = {name: values for name, values in self.query.filters.items() if values}
        found = self.counts(wanted, [name for name in self.index.facets if name not in filters])
        for name in filters:
            others = {other: values for other, values in filters.items() if other != name}
            found |= self.counts(self.within(matching, others), [name])
        return {name: found[name] for name in self.index.facets}

    def counts(self, query: Query, names: list[str]) -> dict[str, list[port.FacetCount]]:
        if not names:
            return {}
        terms = {name: {"terms": {"field": f"f_{name}", "size": MOST_FACETS}} for name in names}
        found = self.searcher.aggregate(query, terms)
        return {
            name: port.most_first(
                (bucket["key"], int(bucket["doc_count"])) for bucket in found[name]["buckets"]
            )
            for name in names
        }

    # Highlights

    def found_words(self, documents: list[tantivy.Document]) -> tuple[dict[str, str], list[str]]:
        """The corrections of words with typos, from the documents, and all words to highlight."""
        corrections, marked = {}, [*self.words, *self.completed]
        if self.unknown:
            texts = [text for each in documents for text in self.texts_in(each)]
            for word in self.unknown:
                similar = similar_words(word, texts)
                marked += similar
                if similar and word not in similar:
                    corrections[word] = likeliest(word, similar)
        return corrections, marked

    def texts_in(self, document: tantivy.Document) -> Iterator[str]:
        for name in self.index.text:
            yield from document.get_all(f"t_{name}")

    def highlight(self, documents: list[tantivy.Document], words: list[str]) -> list[port.Hit]:
        roots = {files.stem(word) for word in words}
        generators = {
            name: generator for name in self.index.text if (generator := self.snippets(name, roots))
        }
        return [
            port.Hit(document[files.KEY][0], marks_in(document, generators))
            for document in documents
        ]

    def snippets(self, name: str, roots: set[str]) -> tantivy.SnippetGenerator | None:
        """The highlighter for words in a field; None if no document has one of them there."""
        field = f"t_{name}"
        terms = [
            (Occur.Should, Query.term_query(self.schema, field, root, "freq"))
            for root in roots
            if self.searcher.doc_freq(field, root)
        ]
        if not terms:
            return None
        query = Query.boolean_query(terms)
        generator = tantivy.SnippetGenerator.create(self.searcher, query, self.schema, field)
        generator.set_max_num_chars(SNIPPET_LETTERS)
        return generator


def count_of(found: tantivy.SearchResult) -> int:
    count: int = found.count  # type: ignore[attr-defined]  # its stub file does not name it
    return count


def marks_in(
    document: tantivy.Document, generators: Mapping[str, tantivy.SnippetGenerator]
) -> dict[str, str]:
    marked = {}
    for name, generator in generators.items():
        html = generator.snippet_from_doc(document).to_html()
        if html:
            # Any other < in the text is already escaped.
            marked[name] = html.replace("<b>", "<mark>").replace("</b>", "</mark>")
    return marked
