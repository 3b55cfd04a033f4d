"""Encoding: sizes, uprightness, and nothing of the file but its pixels."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image, ImageCms

from bigtime.pictures import PictureFault, encode_upload, read_header
from bigtime.pictures.encoding import WIDTHS, Encoded, Rendition, encode_file
from bigtime.pictures.files import ANIMATED, INCOMPLETE, TOO_MANY_PIXELS
from tests.pictures import images


def open_image(rendition: Rendition) -> Image.Image:
    image = Image.open(BytesIO(rendition.content))
    image.load()
    return image


def check(encoded: Encoded) -> None:
    for each in encoded.renditions:
        assert read_header(each.content) == ("WEBP", each.width, each.height)
        image = open_image(each)
        assert image.size == (each.width, each.height)
        assert not {"exif", "icc_profile", "xmp"} & set(image.info)


def test_a_large_picture_comes_in_all_widths() -> None:
    encoded = encode_file(images.jpeg(1600, 1200))
    assert [(each.width, each.height) for each in encoded.renditions] == [
        (160, 120), (320, 240), (640, 480), (1280, 960),
    ]  # fmt: skip
    assert encoded.widths == WIDTHS and encoded.height == 960
    check(encoded)


def test_a_small_picture_is_not_enlarged() -> None:
    assert encode_file(images.png(200, 100)).widths == (160, 200)
    assert encode_file(images.png(1, 1)).widths == (1,)


def test_a_high_picture_is_at_most_twice_as_high_as_wide() -> None:
    encoded = encode_file(images.png(100, 4_000))
    assert all(each.height <= 2 * WIDTHS[-1] for each in encoded.renditions)
    check(encoded)


def test_the_same_file_gives_the_same_digest_and_another_another() -> None:
    first, again = (encode_file(images.jpeg()).digest for _ in range(2))
    assert first == again and len(first) == 32
    assert encode_file(images.jpeg(quality=30)).digest != first


def test_a_picture_is_turned_upright_and_loses_its_metadata() -> None:
    image = images.make_image(90, 60)
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    exif[0x010E] = "taken at home"
    exif.get_ifd(0x8825)[2] = (51.0, 30.0, 0.0)
    file = images.file_of(image, "JPEG", exif=exif, comment=b"by Erin")
    assert b"taken at home" in file
    encoded = encode_file(file)
    assert (encoded.widths[-1], encoded.height) == (60, 90)
    check(encoded)
    assert all(b"taken" not in each.content for each in encoded.renditions)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "1", "I;16"])
def test_every_kind_of_png_is_taken(mode: str) -> None:
    image = images.make_image(mode="L").convert("I;16") if mode == "I;16" else None
    file = images.file_of(image or images.make_image(mode=mode), "PNG")
    check(encode_file(file))


def test_transparency_stays() -> None:
    clear = Image.new("RGBA", (200, 100), (0, 0, 0, 0))
    assert open_image(encode_file(images.file_of(clear, "PNG")).renditions[0]).mode == "RGBA"


def test_other_colours_become_those_of_the_web() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    check(encode_file(images.jpeg(icc_profile=profile)))
    check(encode_file(images.jpeg(icc_profile=b"no profile")))
    check(encode_file(images.file_of(images.make_image(mode="CMYK"), "JPEG")))


def test_what_cannot_be_decoded_gets_a_sentence() -> None:
    for content, sentence in (
        (images.damaged_png(), INCOMPLETE),
        (images.animation("WEBP"), ANIMATED),
        (images.bomb(), TOO_MANY_PIXELS),
    ):
        with pytest.raises(PictureFault) as refused:
            encode_file(content)
        assert str(refused.value) == sentence


def test_an_upload_is_encoded_in_a_process_of_its_own() -> None:
    file = images.jpeg(400, 300)
    assert encode_upload(file) == encode_file(file)
    with pytest.raises(PictureFault, match="incomplete or damaged"):
        encode_upload(images.damaged_png())
