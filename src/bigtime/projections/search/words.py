"""Words: splitting user input into search words, and the edit distance of two words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

MOST_TEXT: Final = 200
MOST_WORDS: Final = 10
MOST_LETTERS: Final = 40
SHORTEST_WITH_TYPO: Final = 4
SHORTEST_WITH_TWO: Final = 8
WORD: Final = re.compile(r"[^\W_]+")
STOP_WORDS: Final = frozenset(
    "a an and are as at be by for from in is it of on or that the this to was with".split()
)


def words_of(text: str) -> list[str]:
    """The distinct words of a text in lower case; stop words only if there are no others.

    Text longer than a person types is cut off, because each word adds to a query's cost.
    """
    found = dict.fromkeys(word[:MOST_LETTERS] for word in WORD.findall(text[:MOST_TEXT].lower()))
    telling = [word for word in found if word not in STOP_WORDS]
    return (telling or list(found))[:MOST_WORDS]


def typos_in(word: str) -> int:
    """The number of typos to tolerate: none in a short word."""
    if len(word) < SHORTEST_WITH_TYPO:
        return 0
    return 1 if len(word) < SHORTEST_WITH_TWO else 2


def similar_words(word: str, texts: Iterable[str]) -> dict[str, int]:
    """Words in the texts that match the word with typos, and the number of texts with each."""
    most = typos_in(word)
    counts: dict[str, int] = {}
    for text in texts:
        for other in set(WORD.findall(text.lower())):
            counts[other] = counts.get(other, 0) + 1
    return {other: count for other, count in counts.items() if is_similar(word, other, most)}


def likeliest(word: str, similar: Mapping[str, int]) -> str:
    """The similar word at the least distance; of several, the one in the most texts."""
    return min(similar, key=lambda other: (distance(word, other), -similar[other], other))


def is_similar(word: str, other: str, most: int) -> bool:
    if abs(len(word) - len(other)) > most or len({*word} ^ {*other}) > 2 * most:
        return False
    return distance(word, other) <= most


def distance(word: str, other: str) -> int:
    """The edit distance: letters to insert, delete, replace, or swap with the next."""
    before: list[int] = []
    row: list[int] = [*range(len(other) + 1)]
    for i, letter in enumerate(word, 1):
        before, row, above = row, [i], before
        for j, its in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == its:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]
