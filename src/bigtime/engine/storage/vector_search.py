"""Exact nearest-vector search in a matrix that this process keeps in memory.

1. The rows of an index are read into a matrix of 32-bit floats when it is first searched. Each
   search takes a snapshot of the file; if the file has changed, the rows of later changes are added
   and deleted rows are removed (see `vector_index`).
2. All scores are computed at once in 32 bits. To make the order exact, every row that may be among
   the nearest within the rounding error is scored again in 64 bits.
3. Among equal scores, the item that has been in the table longer comes first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw
import orjson

from bigtime.engine.storage.catalogue import Catalogue
from bigtime.engine.storage.definition import DistanceFunction
from bigtime.engine.storage.file import File, all_rows
from bigtime.engine.storage.vector_index import VectorIndex
from bigtime.extras import MissingExtra, extra
from bigtime.wire import ValidationException

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.floating[Any]]
    Places = NDArray[np.int64]

ROUNDING: Final = 2.0**-23
CHUNK: Final = 4_096
LEAST_ROOM: Final = 1_024


class Match(NamedTuple):
    """An item's row, and its score."""

    base: int
    score: float


class NearestRows(NamedTuple):
    """The nearest rows, and how many rows were compared."""

    matches: list[Match]
    examined: int


def check_numpy() -> None:
    """Rejects vector operations if numpy is not installed."""
    try:
        with extra("vectors"):
            import numpy as np  # noqa: F401
    except MissingExtra as error:
        raise ValidationException(f"Vector indexes need numpy: {error}") from None


class VectorMatrix:
    """The rows of one index in memory. `lock` is held while it is updated and searched."""

    def __init__(self, index: VectorIndex) -> None:
        import numpy as np

        self.lock = threading.Lock()
        self._np = np
        self._index = index
        self._dimensions = index.definition.dimensions
        self._version: int | None = None
        self._vectors = np.empty((0, self._dimensions), np.float32)
        self._squares = np.empty(0, np.float64)
        self._changes = np.empty(0, np.int64)
        self._bases = np.empty(0, np.int64)
        self._keys = np.empty((0, len(index.key_names)), np.int64)
        self._forget()

    def _forget(self) -> None:
        """Starts without rows; those of the index are read at the next refresh."""
        self._last_change = 0
        self._count = 0
        # A number for each value of each search schema attribute; 0 means no value.
        self._numbers: list[dict[str | None, int]] = [{None: 0} for _ in self._index.key_names]

    # --- Bringing it up to date ---

    def refresh(self, reader: apsw.Connection, version: int | None) -> None:
        """Updates the matrix to the reader's snapshot; `version` is the file's, if known."""
        if version is not None and version == self._version:
            return
        self._version = None
        rows = self._index.rows
        total: int = reader.execute(f"SELECT count(*) FROM {rows}").get
        if any(len(numbers) > 2 * total + LEAST_ROOM for numbers in self._numbers):
            # Most of the numbered values are no longer in the index.
            self._forget()
        last = (self._last_change,)
        added: int = reader.execute(f"SELECT count(*) FROM {rows} WHERE change > ?", last).get
        if total - added < self._count:
            self._drop_missing(reader)
        self._reserve(total)
        columns = "change, base, keys, vector"
        cursor = reader.execute(
            f"SELECT {columns} FROM {rows} WHERE change > ? ORDER BY change", last
        )
        while chunk := list(islice(cursor, CHUNK)):
            self._append(chunk)
        self._version = version

    def _drop_missing(self, reader: apsw.Connection) -> None:
        """Removes rows that were deleted, or replaced by later changes."""
        np = self._np
        # The unique index on `base` covers both columns, so no vector is read.
        left = all_rows(reader, f"SELECT base, change FROM {self._index.rows} ORDER BY base")
        changes = np.fromiter((change for _, change in left), np.int64, len(left))
        places = np.flatnonzero(np.isin(self._changes[: self._count], changes))
        self._count = len(places)
        for name in ("_vectors", "_squares", "_changes", "_bases", "_keys"):
            values = getattr(self, name)
            values[: self._count] = values[places]

    def _append(self, rows: list[Any]) -> None:
        np = self._np
        start, end = self._count, self._count + len(rows)
        self._reserve(end)
        blob = b"".join(row[3] for row in rows)
        vectors = np.frombuffer(blob, "<f4").reshape(len(rows), self._dimensions)
        self._vectors[start:end] = vectors
        self._squares[start:end] = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
        self._changes[start:end] = [row[0] for row in rows]
        self._bases[start:end] = [row[1] for row in rows]
        if self._numbers:
            self._keys[start:end] = [self._number_keys(orjson.loads(row[2])) for row in rows]
        self._count = end
        self._last_change = rows[-1][0]

    def _number_keys(self, keys: list[str | None]) -> list[int]:
        return [
            numbers.setdefault(key, len(numbers))
            for key, numbers in zip(keys, self._numbers, strict=True)
        ]

    def _reserve(self, count: int) -> None:
        """Makes room for more rows; a growing matrix gets an eighth more than it needs."""
        room = len(self._vectors)
        if count <= room:
            return
        grown = max(count if not room else count + count // 8, LEAST_ROOM)
        for name in ("_vectors", "_squares", "_changes", "_bases", "_keys"):
            old = getattr(self, name)
            new = self._np.empty((grown, *old.shape[1:]), old.dtype)
            new[: self._count] = old[: self._count]
            setattr(self, name, new)

    # --- Searching ---

    def nearest(self, vector: bytes, most: int, keys: Mapping[str, str]) -> NearestRows:
        """The rows nearest to the vector among those with the given search schema values."""
        np = self._np
        query = np.frombuffer(vector, "<f4")
        places = self._matching(keys)
        examined = self._count if places is None else len(places)
        if not examined:
            return NearestRows([], 0)
        vectors, squares = self._vectors[: self._count], self._squares[: self._count]
        if places is not None:
            vectors, squares = vectors[places], squares[places]
        exact = query.astype(np.float64)
        length = float(np.sqrt(exact @ exact))
        distances = DISTANCES[self._index.definition.distance]
        rough = distances(np, (vectors @ query).astype(np.float64), squares, length)
        chosen = self._candidates(rough, squares, length, most)
        candidates = vectors[chosen].astype(np.float64)
        if self._index.definition.distance == "EUCLIDEAN":
            # For vectors close to each other the squares would cancel each other out.
            scores = np.linalg.norm(candidates - exact, axis=1)
        else:
            scores = distances(np, candidates @ exact, squares[chosen], length)
        bases = self._bases[: self._count] if places is None else self._bases[places]
        order = np.lexsort((bases[chosen], scores))[:most]
        sign = -1.0 if self._index.definition.distance == "DOT_PRODUCT" else 1.0
        matches = [
            Match(int(bases[chosen[place]]), sign * float(scores[place]) + 0.0) for place in order
        ]
        return NearestRows(matches, examined)

    def _matching(self, keys: Mapping[str, str]) -> Places | None:
        """The positions of the rows with those values; None for all rows."""
        np = self._np
        if not keys:
            return None
        mask = np.ones(self._count, np.bool_)
        for column, name in enumerate(self._index.key_names):
            if name in keys:
                number = self._numbers[column].get(keys[name], -1)
                mask &= self._keys[: self._count, column] == number
        found: Places = np.flatnonzero(mask)
        return found

    def _candidates(self, rough: Floats, squares: Floats, length: float, most: int) -> Places:
        """The positions of all rows that may be among the nearest, allowing for rounding."""
        np = self._np
        limit = float("inf")
        if len(rough) > most:
            limit = float(np.partition(rough, most - 1)[most - 1])
        relative = self._dimensions * ROUNDING
        absolute = relative * length * float(np.sqrt(squares.max()))
        match self._index.definition.distance:
            case "COSINE":
                limit += 2 * relative
            case "DOT_PRODUCT":
                limit += 2 * absolute
            case "EUCLIDEAN":
                limit = (limit**2 + 4 * absolute) ** 0.5
        found: Places = np.flatnonzero(rough <= limit)
        return found


# Each takes the dot products, the squared lengths of the vectors and the length of the search
# vector; smaller is nearer.


def cosine_distances(np: Any, products: Floats, squares: Floats, length: float) -> Any:
    """0 for the same direction, 2 for the opposite; 1 if a vector has no direction."""
    lengths = np.sqrt(squares) * length
    similar = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return 1.0 - np.clip(similar, -1.0, 1.0)


def euclidean_distances(np: Any, products: Floats, squares: Floats, length: float) -> Any:
    return np.sqrt(np.maximum(squares + length**2 - 2.0 * products, 0.0))


def negative_products(np: Any, products: Floats, squares: Floats, length: float) -> Any:
    return -products


DISTANCES: Final[dict[DistanceFunction, Callable[[Any, Floats, Floats, float], Any]]] = {
    "COSINE": cosine_distances,
    "EUCLIDEAN": euclidean_distances,
    "DOT_PRODUCT": negative_products,
}


def begin_snapshot(reader: apsw.Connection) -> None:
    """A transaction sees the file as it was at the first read."""
    reader.execute("SELECT value FROM settings LIMIT 1").fetchall()


class VectorMatrices:
    """The matrices of a file, each created when its index is first searched."""

    def __init__(self, file: File, catalogue: Catalogue) -> None:
        self._file = file
        self._catalogue = catalogue
        self._lock = threading.Lock()
        self._matrices: dict[int, VectorMatrix] = {}

    def search(
        self,
        index: VectorIndex,
        vector: bytes,
        most: int,
        keys: Mapping[str, str],
        show: Callable[[apsw.Connection, NearestRows], Any],
    ) -> Any:
        """The result of `show` on the nearest rows, in the snapshot in which they were found."""
        matrix = self._matrix(index)
        with matrix.lock:
            version = self._file.version()
            with self._file.snapshot() as reader:
                begin_snapshot(reader)
                is_settled = self._file.version() == version
                matrix.refresh(reader, version if is_settled else None)
                return show(reader, matrix.nearest(vector, most, keys))

    def _matrix(self, index: VectorIndex) -> VectorMatrix:
        with self._lock:
            found = self._matrices.get(index.number)
            if found is None:
                self._forget_dropped()
                found = self._matrices[index.number] = VectorMatrix(index)
            return found

    def _forget_dropped(self) -> None:
        tables = self._catalogue.tables.values()
        live = {index.number for table in tables for index in table.vectors}
        for number in self._matrices.keys() - live:
            del self._matrices[number]
