"""Drawn pictures, for demo data: one of each product, and a logo of each brand.

A product is a few shapes in a line of `products.txt`, on a field of 100 by 100, in colours derived
from its name:

    r x0 y0 x1 y1 radius colour       a rectangle with round corners
    e x0 y0 x1 y1 colour              an ellipse
    a x0 y0 x1 y1 from to width colour   an arc, in degrees
    l width colour x y x y ...        a line
    p colour x y x y ...              a polygon

The colours are m (main), d (dark), b (bright), y (another), k (black), g (grey), w
(white). The same name gives the same picture.
"""

from __future__ import annotations

from colorsys import hls_to_rgb
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from bigtime.extras import extra
from bigtime.pictures.encoding import Encoded, encode_image

if TYPE_CHECKING:
    from PIL import ImageDraw

Colour: TypeAlias = tuple[int, int, int]

PRODUCT_WIDTHS: Final = (200, 400, 800)
LOGO_WIDTHS: Final = (128,)
SCALE: Final = 2
"""Pictures are drawn this many times larger, and reduced, for smooth edges."""
WIDTH, HEIGHT = 800 * SCALE, 600 * SCALE
UNIT: Final = HEIGHT / 100
LEFT: Final = (WIDTH - HEIGHT) / 2

PARCEL: Final = "r 20 28 80 82 3 y; r 45 28 55 82 0 d; r 20 48 80 54 0 d"


@cache
def product_shapes() -> dict[str, str]:
    """The shapes of each known product, from the file beside this one."""
    lines = Path(__file__).with_name("products.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines)


def draw_product(name: str) -> Encoded:
    """The picture of a product; an unknown product gets a parcel."""
    with extra("site"):
        from PIL import Image, ImageDraw
    hue = draw_hue(name)
    image = Image.new("RGB", (WIDTH, HEIGHT), shade(hue + 0.45, 0.93, 0.5))
    draw = ImageDraw.Draw(image)
    draw_backdrop(draw, hue, name)
    colours = palette(hue)
    for shape in product_shapes().get(name, PARCEL).split(";"):
        draw_shape(draw, shape.split(), colours)
    return encode_image(image.reduce(SCALE), PRODUCT_WIDTHS, lossless=True)


def draw_logo(name: str) -> Encoded:
    """A square with the first letter of a name."""
    with extra("site"):
        from PIL import Image, ImageDraw, ImageFont
    side, hue = LOGO_WIDTHS[-1] * SCALE, draw_hue(name)
    image = Image.new("RGB", (side, side), shade(hue, 0.34, 0.42))
    draw = ImageDraw.Draw(image)
    turn = sum(name.encode()) % 4
    draw.ellipse(corner_disc(turn, side), fill=shade(hue + 0.06, 0.42, 0.42))
    draw.text(
        (side / 2, side / 2),
        name[:1].upper(),
        font=ImageFont.load_default(size=side * 0.62),
        fill=(255, 255, 255),
        anchor="mm",
    )
    return encode_image(image.reduce(SCALE), LOGO_WIDTHS, lossless=True)


def corner_disc(turn: int, side: int) -> tuple[float, float, float, float]:
    x, y = (turn % 2) * side, (turn // 2) * side
    return x - side * 0.7, y - side * 0.7, x + side * 0.7, y + side * 0.7


def draw_backdrop(draw: ImageDraw.ImageDraw, hue: float, name: str) -> None:
    """A disc behind the product, and a shadow below it."""
    at = 0.3 + 0.4 * (sum(name.encode()) % 7) / 6
    radius = HEIGHT * 0.47
    x, y = WIDTH * at, HEIGHT * 0.5
    draw.ellipse(
        (x - radius, y - radius, x + radius, y + radius), fill=shade(hue + 0.5, 0.87, 0.55)
    )
    draw.ellipse(
        (WIDTH * 0.26, HEIGHT * 0.86, WIDTH * 0.74, HEIGHT * 0.95), fill=shade(hue + 0.5, 0.78, 0.3)
    )


def draw_shape(draw: ImageDraw.ImageDraw, words: list[str], colours: dict[str, Colour]) -> None:
    kind, *rest = words
    if kind == "l":
        points = [place(*pair) for pair in pairs(rest[2:])]
        width = round(float(rest[0]) * UNIT)
        draw.line(points, fill=colours[rest[1]], width=width, joint="curve")
    elif kind == "p":
        draw.polygon([place(*pair) for pair in pairs(rest[1:])], fill=colours[rest[0]])
    else:
        (x0, y0), (x1, y1) = (place(*pair) for pair in pairs(rest[:4]))
        fill = colours[rest[-1]]
        if kind == "r":
            draw.rounded_rectangle((x0, y0, x1, y1), float(rest[4]) * UNIT, fill=fill)
        elif kind == "e":
            draw.ellipse((x0, y0, x1, y1), fill=fill)
        else:
            width = round(float(rest[6]) * UNIT)
            draw.arc((x0, y0, x1, y1), float(rest[4]), float(rest[5]), fill=fill, width=width)


def pairs(words: list[str]) -> list[tuple[float, float]]:
    numbers = [float(word) for word in words]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def place(x: float, y: float) -> tuple[float, float]:
    return LEFT + x * UNIT, y * UNIT


def draw_hue(name: str) -> float:
    return sha256(name.encode()).digest()[0] / 256


def palette(hue: float) -> dict[str, Colour]:
    return {
        "m": shade(hue, 0.48, 0.42),
        "d": shade(hue, 0.29, 0.4),
        "b": shade(hue, 0.78, 0.45),
        "y": (233, 156, 66) if 0.2 < hue < 0.95 else (64, 138, 166),
        "k": (43, 42, 46),
        "g": (150, 150, 152),
        "w": (250, 249, 246),
    }


def shade(hue: float, lightness: float, saturation: float) -> Colour:
    red, green, blue = hls_to_rgb(hue % 1.0, lightness, saturation)
    return round(red * 255), round(green * 255), round(blue * 255)
