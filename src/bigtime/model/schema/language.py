"""The texts a key can be, so that a design can be searched for a key that two entities share.

A language is a sequence of pieces; a piece is a choice of words, taken once or any number of
times; a word is a sequence of character classes. That is enough to describe a template's keys:

- a literal is one word of one-character classes, an enum a choice of such words;
- a time, a padded number, a UUID, a KSUID is one word of fixed width;
- text is a choice of one-character words and escapes, any number of times.

A language read from left to right is an automaton: a position in it, and the classes that may
come next. Two languages share a text when their automata, run side by side, can both reach
the end; a breadth-first search finds the shortest such text. Languages may allow a little too
much (a 39th of the month), never too little: if they are found disjoint, they are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias


@dataclass(frozen=True, slots=True)
class Characters:
    """A class of characters, as inclusive ranges."""

    ranges: tuple[tuple[str, str], ...]

    def __contains__(self, character: str) -> bool:
        return any(first <= character <= last for first, last in self.ranges)


Word: TypeAlias = tuple[Characters, ...]
Point: TypeAlias = tuple[int, int, int]
"""A piece, a word in it, and how much of the word is read; before a piece, the last two are 0."""

# Surrogates are excluded: UTF-8 cannot encode them.
ANY_CHARACTER: Final = Characters((("\0", "\ud7ff"), ("\ue000", "\U0010ffff")))
# A date or an id may consist of ones only, so the examples are valid.
READABLE: Final = "1x"


class Piece(NamedTuple):
    words: tuple[Word, ...]
    repeated: bool = False

    @property
    def skippable(self) -> bool:
        return self.repeated or () in self.words


@dataclass(frozen=True, slots=True)
class Language:
    """The texts formed by taking one word of each piece in turn."""

    pieces: tuple[Piece, ...]

    def __add__(self, other: Language) -> Language:
        return Language(self.pieces + other.pieces)

    @property
    def width(self) -> int | None:
        """The length of every text, when they all have one length."""
        lengths = [{len(word) for word in piece.words} for piece in self.pieces]
        if any(piece.repeated for piece in self.pieces) or any(len(each) > 1 for each in lengths):
            return None
        return sum(length for each in lengths for length in each)

    def ends(self, position: Point) -> bool:
        piece, _, offset = position
        return offset == 0 and all(each.skippable for each in self.pieces[piece:])

    def steps(self, position: Point) -> Iterator[tuple[Characters, Point]]:
        """The character classes that may come next, and the positions they lead to."""
        piece, word, offset = position
        if offset:
            yield self.step(piece, word, offset)
            return
        for index in range(piece, len(self.pieces)):
            words = enumerate(self.pieces[index].words)
            yield from (self.step(index, word, 0) for word, spelling in words if spelling)
            if not self.pieces[index].skippable:
                return

    def step(self, index: int, word: int, offset: int) -> tuple[Characters, Point]:
        piece = self.pieces[index]
        spelling = piece.words[word]
        if offset + 1 < len(spelling):
            return spelling[offset], (index, word, offset + 1)
        return spelling[offset], (index if piece.repeated else index + 1, 0, 0)


def one_of(texts: Iterable[str]) -> Language:
    words = (tuple(Characters(((each, each),)) for each in text) for text in texts)
    return Language((Piece(tuple(words)),))


def literal(text: str) -> Language:
    return one_of([text])


def fixed_width(shape: str, **classes: Characters) -> Language:
    """Texts of one width: in `shape`, letters may name classes; a digit is the greatest allowed."""
    digits = {digit: Characters((("0", digit),)) for digit in "0123456789"}
    stands_for = digits | classes
    word = (stands_for.get(each) or Characters(((each, each),)) for each in shape)
    return Language((Piece((tuple(word),)),))


def repetition_of(*words: Word) -> Language:
    return Language((Piece(words, repeated=True),))


def common_text(a: Language, b: Language) -> str | None:
    """A shortest text of both languages."""
    start = ((0, 0, 0), (0, 0, 0))
    reached = {start}
    queue = deque([(start, "")])
    while queue:
        (here, there), text = queue.popleft()
        if a.ends(here) and b.ends(there):
            return text
        for characters, onward in a.steps(here):
            for others, beyond in b.steps(there):
                character = example(characters, others)
                if character is not None and (onward, beyond) not in reached:
                    reached.add((onward, beyond))
                    queue.append(((onward, beyond), text + character))
    return None


@lru_cache(maxsize=4096)
def example(a: Characters, b: Characters) -> str | None:
    """A character in both classes, a readable one if possible."""
    for character in READABLE:
        if character in a and character in b:
            return character
    overlaps = ((max(p, q), min(r, s)) for p, r in a.ranges for q, s in b.ranges)
    return min((first for first, last in overlaps if first <= last), default=None)
