"""The files of a tantivy index: its schema, its documents, and the errors of damaged files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from bigtime.extras import extra
from bigtime.model import SearchIndex
from bigtime.projections.search.documents import Document
from bigtime.projections.search.port import IndexFault, Progress, progress_from

with extra("search"):
    import tantivy
    from tantivy import Query

KEY: Final = "key"
WORDS: Final = "words"
STATE: Final = "state"
CHECKPOINT: Final = "\0checkpoint"
"""The key of the document with the stream's checkpoints."""
STEMS: Final = "en_stem"
PARTS: Final = "parts"


# The schema: `key`, `words` (all text, unstemmed, for typos and completion), and the declared
# fields, with a letter before each name that says what it is used for.


def schema_of(index: SearchIndex) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field(KEY, stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(WORDS, tokenizer_name="default", index_option="basic")
    builder.add_text_field(STATE, stored=True, tokenizer_name="raw", index_option="basic")
    for name in index.text:
        builder.add_text_field(f"t_{name}", stored=True, tokenizer_name=STEMS, index_option="freq")
    for name in index.parts:
        builder.add_text_field(f"p_{name}", tokenizer_name=PARTS, index_option="basic")
    for name in index.facets:
        builder.add_text_field(f"f_{name}", fast=True, tokenizer_name="raw", index_option="basic")
    for name in index.sort:
        builder.add_integer_field(f"s_{name}", fast=True)
    return builder.build()


def parts_analyzer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.ngram(2, 3))
    return builder.filter(tantivy.Filter.lowercase()).build()


@lru_cache(maxsize=1)
def stemmer() -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    return builder.filter(tantivy.Filter.stemmer("english")).build()


def stem(word: str) -> str:
    return stemmer().analyze(word)[0]


def fields_of(document: Document) -> dict[str, Any]:
    fields: dict[str, Any] = {KEY: document.key, WORDS: " ".join(document.text.values())}
    fields |= {f"t_{name}": text for name, text in document.text.items()}
    fields |= {f"p_{name}": text for name, text in document.parts.items()}
    fields |= {f"f_{name}": text for name, text in document.facets.items()}
    fields |= {f"s_{name}": value for name, value in document.ranks.items()}
    return fields


@contextmanager
def index_faults() -> Iterator[None]:
    """Converts an index's errors to IndexFault, including Rust panics, which are no Exception."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, ValueError) or type(error).__name__ == "PanicException":
            raise IndexFault(str(error)) from error
        raise


def open_index(path: Path) -> tantivy.Index:
    opened = tantivy.Index.open(str(path))
    opened.register_tokenizer(PARTS, parts_analyzer())
    opened.config_reader("manual")
    opened.reload()
    return opened


def read_progress(searcher: tantivy.Searcher, schema: tantivy.Schema) -> Progress | None:
    found = searcher.search(Query.term_query(schema, KEY, CHECKPOINT, "basic"), 1, count=False)
    if not found.hits:
        return None
    text: str = searcher.doc(found.hits[0][1])[STATE][0]
    return progress_from(json.loads(text))
