"""Files of pictures, good and bad, for the tests."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any, Final

from PIL import Image, ImageDraw

PNG: Final = b"\x89PNG\r\n\x1a\n"


def make_image(width: int = 90, height: int = 60, mode: str = "RGB") -> Image.Image:
    image = Image.new("RGB", (width, height), (200, 40, 60))
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, width // 2, height // 2), fill=(20, 90, 220))
    draw.line((0, 0, width, height), fill=(250, 240, 30), width=3)
    return image.convert(mode)


def file_of(image: Image.Image, format: str, **how: Any) -> bytes:
    file = BytesIO()
    image.save(file, format, **how)
    return file.getvalue()


def jpeg(width: int = 90, height: int = 60, **how: Any) -> bytes:
    return file_of(make_image(width, height), "JPEG", **how)


def png(width: int = 90, height: int = 60, mode: str = "RGB") -> bytes:
    return file_of(make_image(width, height, mode), "PNG")


def webp(width: int = 90, height: int = 60, mode: str = "RGB", **how: Any) -> bytes:
    return file_of(make_image(width, height, mode), "WEBP", **how)


def animation(format: str) -> bytes:
    frames = [make_image(), make_image(mode="L").convert("RGB")]
    return file_of(frames[0], format, save_all=True, append_images=frames[1:])


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def bomb(width: int = 30_000, height: int = 30_000) -> bytes:
    """A small file that would decode to gigabytes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1_000_000, 9)
    return PNG + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def damaged_png() -> bytes:
    """Whole by its structure, and its pixels cannot be decoded."""
    header = struct.pack(">IIBBBBB", 90, 60, 8, 2, 0, 0, 0)
    data = zlib.compress(b"\0" * 1_000)
    return PNG + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
