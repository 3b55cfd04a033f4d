"""A picture's header, read without decoding: JPEG, PNG or WebP, its size, and where it ends.

This check runs in the process that serves requests. By structure alone it finds files that are not
pictures, are too large, animated or truncated, or have other data appended, such as an archive;
whether the picture can be decoded is found out later, in a separate process.

PNG: https://www.w3.org/TR/png-3/#5DataRep. JPEG: ITU T.81, annex B. WebP: RFC 9649.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

MOST_BYTES: Final = 5 * 1024 * 1024
MOST_PIXELS: Final = 40_000_000
MOST_PARTS: Final = 20_000
"""The most chunks or segments; walking through so many empty ones takes some 20 ms."""
PNG: Final = b"\x89PNG\r\n\x1a\n"
JPEG: Final = b"\xff\xd8\xff"

NO_PICTURE: Final = "Choose a JPEG, PNG or WebP picture."
TOO_LARGE: Final = "This picture has more than 5 MB. Make it smaller, and upload it again."
TOO_MANY_PIXELS: Final = (
    "This picture has more than 40 megapixels. Make it smaller, and upload it again."
)
ANIMATED: Final = "This picture is animated. Choose a still picture."
INCOMPLETE: Final = "This picture is incomplete or damaged. Choose another file."
MORE_INSIDE: Final = (
    "This file has something else in it after the picture. Open it in an image editor, save it"
    " again as JPEG, PNG or WebP, and upload that."
)


class PictureFault(Exception):
    """A file cannot be used as a picture; the message tells the person who chose it why."""


class Header(NamedTuple):
    """A picture's format, as Pillow names it, and its stored size in pixels."""

    format: str
    width: int
    height: int


def read_header(content: bytes) -> Header:
    """The header of a picture file; raises PictureFault if it cannot be used."""
    if len(content) > MOST_BYTES:
        raise PictureFault(TOO_LARGE)
    if content.startswith(PNG):
        header = read_png(content)
    elif content.startswith(JPEG):
        header = read_jpeg(content)
    elif content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        header = read_webp(content)
    else:
        raise PictureFault(NO_PICTURE)
    if not header.width or not header.height:
        raise PictureFault(INCOMPLETE)
    if header.width * header.height > MOST_PIXELS:
        raise PictureFault(TOO_MANY_PIXELS)
    return header


def check_end(content: bytes, end: int) -> None:
    if end > len(content):
        raise PictureFault(INCOMPLETE)
    if end < len(content):
        raise PictureFault(MORE_INSIDE)


def require_header(header: Header | None) -> Header:
    if header is None:
        raise PictureFault(INCOMPLETE)
    return header


# PNG: chunks of a length, a name, data and a checksum, from IHDR to IEND


def read_png(content: bytes) -> Header:
    place, header = len(PNG), None
    for _ in range(MOST_PARTS):
        name, length = content[place + 4 : place + 8], number(content, place, 4)
        if len(name) < 4:
            raise PictureFault(INCOMPLETE)
        if name == b"acTL":
            raise PictureFault(ANIMATED)
        if name == b"IHDR" and header is None:
            width, height = number(content, place + 8, 4), number(content, place + 12, 4)
            header = Header("PNG", width, height)
        place += 12 + length
        if name == b"IEND":
            check_end(content, place)
            return require_header(header)
    raise PictureFault(INCOMPLETE)


# JPEG: segments that begin with a marker; a scan's header is followed by data of unknown length


FRAMES: Final = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
SCAN: Final = 0xDA
END: Final = 0xD9
ALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers without a segment."""
MARKER: Final = re.compile(rb"\xff++[^\x00\xff]")  # it may be padded with more FF bytes
AFTER_DATA: Final = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")


def read_jpeg(content: bytes) -> Header:
    place, header = 2, None
    for _ in range(MOST_PARTS):
        marker, place = next_marker(content, place)
        if marker == END:
            check_end(content, place)
            return require_header(header)
        if marker in ALONE:
            continue
        length = number(content, place, 2)
        if length < 2:
            raise PictureFault(INCOMPLETE)
        if marker in FRAMES and header is None:
            height, width = number(content, place + 3, 2), number(content, place + 5, 2)
            header = Header("JPEG", width, height)
        place += length
        if marker == SCAN:
            following = AFTER_DATA.search(content, place)
            if following is None:
                raise PictureFault(INCOMPLETE)
            place = following.start()
    raise PictureFault(INCOMPLETE)


def next_marker(content: bytes, place: int) -> tuple[int, int]:
    """The next marker, and the position after it."""
    found = MARKER.match(content, place)
    if found is None:
        raise PictureFault(INCOMPLETE)
    return content[found.end() - 1], found.end()


# WebP: RIFF chunks, padded to an even length; the first one gives the kind


def read_webp(content: bytes) -> Header:
    end = 8 + number(content, 4, 4, "little")
    check_end(content, end)
    header = None
    for name, start in webp_chunks(content):
        if name in (b"ANIM", b"ANMF"):
            raise PictureFault(ANIMATED)
        if header is None:
            header = webp_header(name, content, start)
    return require_header(header)


def webp_chunks(content: bytes) -> Iterator[tuple[bytes, int]]:
    place = 12
    for _ in range(MOST_PARTS):
        if place >= len(content):
            break
        length = number(content, place + 4, 4, "little")
        yield content[place : place + 4], place + 8
        place += 8 + length + length % 2
    check_end(content, place)


def webp_header(name: bytes, content: bytes, start: int) -> Header | None:
    if name == b"VP8X":
        width, height = (number(content, start + at, 3, "little") + 1 for at in (4, 7))
    elif name == b"VP8 ":
        width, height = (number(content, start + at, 2, "little") & 0x3FFF for at in (6, 8))
    elif name == b"VP8L":
        bits = number(content, start + 1, 4, "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        return None
    return Header("WEBP", width, height)


def number(content: bytes, place: int, count: int, order: str = "big") -> int:
    digits = content[place : place + count]
    if len(digits) < count:
        raise PictureFault(INCOMPLETE)
    return int.from_bytes(digits, "little" if order == "little" else "big")
