"""Encoding: a picture is decoded, turned upright, and saved as WebP in a few widths.

Only the pixels of an uploaded file are kept, in sRGB. A picture is named by the hash of all its
sizes, so that the content at a URL with the hash in it never changes.
"""

from __future__ import annotations

import warnings
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING, Final, NamedTuple

from bigtime.extras import extra
from bigtime.pictures import files

if TYPE_CHECKING:
    from PIL import Image

WIDTHS: Final = (160, 320, 640, 1280)
MOST_HEIGHT: Final = 2
"""The greatest height of a picture, in multiples of its width."""
QUALITY: Final = 80
METHOD: Final = 2
DIGITS: Final = 32


class Rendition(NamedTuple):
    """A picture in one of its sizes, as a WebP file."""

    width: int
    height: int
    content: bytes


class Encoded(NamedTuple):
    """A picture in all of its sizes, the smallest first."""

    renditions: tuple[Rendition, ...]

    @property
    def digest(self) -> str:
        """The hash of all sizes, 32 hexadecimal digits."""
        hashed = sha256()
        for each in self.renditions:
            hashed.update(b"%d %d %d " % (each.width, each.height, len(each.content)))
            hashed.update(each.content)
        return hashed.hexdigest()[:DIGITS]

    @property
    def widths(self) -> tuple[int, ...]:
        return tuple(each.width for each in self.renditions)

    @property
    def height(self) -> int:
        """The height of the largest size."""
        return self.renditions[-1].height


def encode_file(content: bytes) -> Encoded:
    """The picture in a file; raises PictureFault. To be called in a confined process."""
    header = files.read_header(content)
    with extra("site"):
        from PIL import Image, ImageOps
    Image.MAX_IMAGE_PIXELS = files.MOST_PIXELS
    most = WIDTHS[-1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(BytesIO(content), formats=(header.format,))
            if getattr(image, "n_frames", 1) != 1:
                raise files.PictureFault(files.ANIMATED)
            image.draft("RGB", (most, most))
            image.load()
            image.thumbnail((2 * most, 2 * most), reducing_gap=2.0)
            ImageOps.exif_transpose(image, in_place=True)
            return encode_image(in_srgb(image))
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise files.PictureFault(files.TOO_MANY_PIXELS) from error
    except (OSError, ValueError, SyntaxError, MemoryError, TypeError, EOFError) as error:
        raise files.PictureFault(files.INCOMPLETE) from error


def encode_image(
    image: Image.Image, widths: tuple[int, ...] = WIDTHS, *, lossless: bool = False
) -> Encoded:
    """An image in these widths, or its own if that is less; each is scaled from the next larger."""
    how = {"lossless": True, "method": 0} if lossless else {"quality": QUALITY, "method": METHOD}
    renditions: list[Rendition] = []
    for width in reversed(widths):
        image = image.copy()
        image.thumbnail((width, width * MOST_HEIGHT), reducing_gap=2.0)
        if renditions and renditions[-1].width == image.width:
            continue
        file = BytesIO()
        image.info.clear()
        image.save(file, "WEBP", **how)
        renditions.append(Rendition(image.width, image.height, file.getvalue()))
    return Encoded(tuple(reversed(renditions)))


def in_srgb(image: Image.Image) -> Image.Image:
    """The image as RGB, or RGBA if it is transparent, converted to sRGB."""
    mode = "RGBA" if image.has_transparency_data else "RGB"
    profile = image.info.get("icc_profile")
    if profile and image.mode in ("RGB", "CMYK"):
        from PIL import ImageCms

        try:
            source = ImageCms.ImageCmsProfile(BytesIO(profile))
            converted = ImageCms.profileToProfile(
                image, source, ImageCms.createProfile("sRGB"), outputMode="RGB"
            )
        except (ImageCms.PyCMSError, OSError):
            converted = None  # an unusable profile is ignored
        if converted is not None:
            return converted
    return image if image.mode == mode else image.convert(mode)
