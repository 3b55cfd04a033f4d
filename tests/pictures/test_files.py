"""What a file says it is, without decoding."""

from __future__ import annotations

import time
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from bigtime.pictures.files import (
    ANIMATED,
    INCOMPLETE,
    MORE_INSIDE,
    MOST_BYTES,
    NO_PICTURE,
    TOO_LARGE,
    TOO_MANY_PIXELS,
    PictureFault,
    read_header,
)
from tests.pictures import images

GOOD = {
    "a JPEG": images.jpeg(),
    "a progressive JPEG": images.jpeg(progressive=True),
    "a JPEG with restarts": images.jpeg(restart_marker_blocks=1),
    "a JPEG with a comment": images.jpeg(comment=b"<script>alert(1)</script>"),
    "a grey JPEG": images.file_of(images.make_image(mode="L"), "JPEG"),
    "a PNG": images.png(),
    "a transparent PNG": images.png(mode="RGBA"),
    "a PNG with a palette": images.png(mode="P"),
    "a WebP": images.webp(),
    "a transparent WebP": images.webp(mode="RGBA"),
    "a lossless WebP": images.webp(lossless=True),
    "a WebP with EXIF": images.webp(exif=b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_picture_has_the_size_that_a_decoder_finds(name: str) -> None:
    header = read_header(GOOD[name])
    image = Image.open(BytesIO(GOOD[name]))
    assert (header.format, (header.width, header.height)) == (image.format, image.size)


ZIP = b"PK\x03\x04" + b"\0" * 60 + b"PK\x05\x06" + b"\0" * 18
BAD = {
    "text": (b"Hello", NO_PICTURE),
    "nothing": (b"", NO_PICTURE),
    "a page": (b"<!doctype html><script>alert(1)</script>", NO_PICTURE),
    "an SVG": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", NO_PICTURE),
    "a GIF": (images.file_of(images.make_image(), "GIF"), NO_PICTURE),
    "a TIFF": (images.file_of(images.make_image(), "TIFF"), NO_PICTURE),
    "a JPEG and an archive": (images.jpeg() + ZIP, MORE_INSIDE),
    "a PNG and an archive": (images.png() + ZIP, MORE_INSIDE),
    "a WebP and an archive": (images.webp() + ZIP, MORE_INSIDE),
    "a JPEG and a page": (images.jpeg() + b"<script>alert(1)</script>", MORE_INSIDE),
    "an animated PNG": (images.animation("PNG"), ANIMATED),
    "an animated WebP": (images.animation("WEBP"), ANIMATED),
    "several JPEGs in one": (images.animation("MPO"), MORE_INSIDE),
    "a bomb": (images.bomb(), TOO_MANY_PIXELS),
    "a PNG of no width": (images.bomb(0, 5), INCOMPLETE),
    "a PNG without a header": (images.PNG + images.chunk(b"IEND", b""), INCOMPLETE),
    "a large file": (images.png() + b"\0" * MOST_BYTES, TOO_LARGE),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_picture_gets_a_sentence(name: str) -> None:
    content, sentence = BAD[name]
    with pytest.raises(PictureFault) as refused:
        read_header(content)
    assert str(refused.value) == sentence


@pytest.mark.parametrize("name", GOOD)
def test_a_picture_that_is_cut_off_anywhere_is_incomplete(name: str) -> None:
    content = GOOD[name]
    for end in range(12, len(content)):
        with pytest.raises(PictureFault) as refused:
            read_header(content[:end])
        assert str(refused.value) == INCOMPLETE


@given(
    st.sampled_from(list(GOOD.values())),
    st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_a_damaged_file_is_a_picture_or_gets_a_sentence(
    content: bytes, damage: list[tuple[int, int]]
) -> None:
    damaged = bytearray(content)
    for place, value in damage:
        damaged[place % len(damaged)] = value
    with suppress(PictureFault):
        assert read_header(bytes(damaged)).width > 0


@pytest.mark.parametrize(
    "content",
    [
        images.PNG + images.chunk(b"tEXt", b"") * (MOST_BYTES // 12 - 10),
        b"\xff\xd8" + b"\xff\xe0\0\x02" * (MOST_BYTES // 4 - 10),
        b"\xff\xd8\xff\xda\0\x02" + b"\xff" * (MOST_BYTES - 20) + b"\0",
        b"\xff\xd8" + b"\xff\x01" * (MOST_BYTES // 2 - 10),
    ],
    ids=["empty chunks", "empty segments", "fill bytes", "markers alone"],
)
def test_no_file_takes_long_to_read(content: bytes) -> None:
    began = time.process_time()
    with pytest.raises(PictureFault):
        read_header(content)
    assert time.process_time() - began < 0.5
