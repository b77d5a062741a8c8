"""Makes folders of 400 to 1,000 pictures, one folder a class, from what packages bring.

    python -m benchmarks.pictures.folders --output=/tmp/pictures [--share=/usr/share] [NAME ...]

The photographs are those of scikit-image and scikit-learn (PyPI), the wallpapers, icons and fonts
those of Debian's packages mate-backgrounds, elementary-xfce-icon-theme, faenza-icon-theme,
gnome-icon-theme, oxygen-icon-theme, tango-icon-theme, fonts-aenigma and fonts-dustin. Every fifth
picture of a class, which `image_folder` holds out, shows what no other picture shows where that is
possible: another part of a wallpaper, another font, another icon.
"""

from __future__ import annotations

import argparse
import functools
import os.path
import pathlib
from typing import Any, Callable, Iterator

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageFont
import skimage.data
import sklearn.datasets

_PHOTOS = {"astronaut": skimage.data.astronaut, "cat": skimage.data.chelsea,
           "coffee": skimage.data.coffee,
           "flower": lambda: sklearn.datasets.load_sample_image("flower.jpg"),
           "temple": lambda: sklearn.datasets.load_sample_image("china.jpg")}
_TEXTURES = ("brick", "grass", "gravel")  # of scikit-image
_WALLPAPERS = ("Aqua", "Dune", "GreenMeadow", "RainDrops", "Wood")
_THEMES = {"elementary": "elementary-xfce/*/48", "faenza": "Faenza/*/48", "gnome": "gnome/48x48/*",
           "oxygen": "oxygen/base/48x48/*", "tango": "Tango/32x32/*"}
_HELD_OUT = 5

Pictures = Iterator[tuple[str, Image.Image]]


def photos(share: pathlib.Path, random: np.random.Generator) -> Pictures:
    """Parts of five photographs, 80 of each, turned, at any light, from 90 to 320 pixels wide."""
    for kind, load in _PHOTOS.items():
        photo = Image.fromarray(load())
        for _ in range(80):
            yield kind, _relit(_part(photo, random, 0.25, 0.6, turn=30), random, 0.55)


def textures(share: pathlib.Path, random: np.random.Generator) -> Pictures:
    """Parts of eight surfaces, 60 of each; those held out are from the right third."""
    images = {name: Image.fromarray(getattr(skimage.data, name)()) for name in _TEXTURES}
    images |= {name: Image.open(share / f"backgrounds/mate/nature/{name}.jpg").resize((960, 600))
               for name in _WALLPAPERS}
    for kind, image in images.items():
        edge = image.width * 2 // 3
        left = image.convert("RGB").crop((0, 0, edge, image.height))
        right = image.convert("RGB").crop((edge, 0, image.width, image.height))
        for number in range(1, 61):
            source = left if number % _HELD_OUT else right
            part = _part(source, random, 0.3, 0.6, turn=15)
            yield kind, _relit(ImageEnhance.Color(part).enhance(random.uniform(0, 1)), random, 0.4)


def letters(share: pathlib.Path, random: np.random.Generator) -> Pictures:
    """Ten letters in 70 fonts, in any colours, sizes and places."""
    files = sorted(path for path in share.glob("fonts/**/*.ttf") if _has_letters(path))
    chosen = [files[i] for i in np.linspace(0, len(files) - 1, 70).astype(int)]
    random.shuffle(chosen)
    for letter in "ABEGKMRSTX":
        for path in chosen:
            size = int(random.integers(64, 129))
            dark, light = sorted(random.integers(0, 256, 2))
            colours = [tuple(int(np.clip(value + random.normal(0, 40), 0, 255)) for _ in "rgb")
                       for value in random.permutation([dark * 0.6, 150 + light * 0.4])]
            image = Image.new("RGB", (size, size), colours[0])
            font = ImageFont.truetype(str(path), int(size * random.uniform(0.45, 0.8)))
            place = tuple(size / 2 + random.uniform(-0.1, 0.1, 2) * size)
            ImageDraw.Draw(image).text(place, letter, colours[1], font, anchor="mm")
            yield letter, image.rotate(random.uniform(-12, 12), Image.Resampling.BILINEAR,
                                       fillcolor=colours[0])


def icons(share: pathlib.Path, random: np.random.Generator) -> Pictures:
    """Icons of five themes, 120 of each, on backgrounds of any colour."""
    for kind, pattern in _THEMES.items():
        files = sorted(path for path in (share / "icons").glob(f"{pattern}/*.png")
                       if not path.is_symlink())
        for i in random.permutation(len(files))[:120]:
            icon = Image.open(files[i]).convert("RGBA").resize((48, 48))
            image = Image.new("RGBA", (64, 64), tuple(int(v) for v in random.integers(90, 256, 3)))
            image.alpha_composite(icon, tuple(int(v) for v in random.integers(0, 17, 2)))
            yield kind, image.convert("RGB")


def solids(share: pathlib.Path, random: np.random.Generator) -> Pictures:
    """Five bodies, 100 of each, turned and lit at random in front of photographs."""
    backgrounds = [Image.fromarray(load()) for load in _PHOTOS.values()]
    for kind, distance in _BODIES.items():
        for _ in range(100):
            size = int(random.integers(72, 145))
            behind = _part(backgrounds[random.integers(len(backgrounds))], random, 0.3, 0.7)
            yield kind, _rendered(distance, behind.resize((size, size)), random)


def digits(share: pathlib.Path, random: np.random.Generator) -> Pictures:
    """Handwritten digits, 100 of each, enlarged, turned, in any colours, with noise."""
    data = sklearn.datasets.load_digits()
    for kind in range(10):
        for i in np.flatnonzero(data.target == kind)[:100]:
            size = int(random.integers(56, 113))
            small = Image.fromarray((data.images[i] * 15.9).astype(np.uint8))
            inner = int(size * random.uniform(0.6, 0.95))
            mask = Image.new("L", (size, size))
            mask.paste(small.resize((inner, inner), Image.Resampling.BICUBIC),
                       tuple(int(v) for v in random.integers(0, size - inner + 1, 2)))
            mask = mask.rotate(random.uniform(-20, 20), Image.Resampling.BILINEAR)
            ink, paper = (random.uniform(0, 110, 3), random.uniform(140, 255, 3))
            share_of_ink = np.asarray(mask)[..., None] / 255
            pixels = ink * share_of_ink + paper * (1 - share_of_ink)
            pixels = pixels + random.normal(0, random.uniform(0, 20), pixels.shape)
            if random.random() < 0.5:
                pixels = 255 - pixels
            yield str(kind), Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def _part(image: Image.Image, random: np.random.Generator, least: float, most: float,
          turn: float = 0) -> Image.Image:
    """Returns a part of an image, a share of its shorter side wide, turned by some degrees."""
    side = min(image.size) * random.uniform(least, most)
    width, height = side, side * random.uniform(0.7, 1)
    reach = (width + height) / 2 if turn else max(width, height) / 2
    x, y = (random.uniform(min(reach, each / 2), max(each - reach, each / 2))
            for each in image.size)
    turned = image.convert("RGB").rotate(random.uniform(-turn, turn), Image.Resampling.BILINEAR,
                                         center=(x, y))
    part = turned.crop(tuple(int(v) for v in (x - width / 2, y - height / 2, x + width / 2,
                                              y + height / 2)))
    scale = random.uniform(90, 320) / part.width
    return part.resize((int(part.width * scale), int(part.height * scale)))


def _relit(image: Image.Image, random: np.random.Generator, change: float) -> Image.Image:
    """Changes light, contrast and tint, mirrors, and blurs some."""
    for enhance in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        image = enhance(image).enhance(random.uniform(1 - change, 1 + change))
    pixels = np.asarray(image) * random.uniform(1 - change / 2, 1 + change / 2, 3)
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return image.filter(ImageFilter.GaussianBlur(random.uniform(0, 1.5)))


@functools.lru_cache(maxsize=None)
def _has_letters(path: pathlib.Path) -> bool:
    """Returns whether a font draws different things for different letters."""
    try:
        font = ImageFont.truetype(str(path), 40)
        drawn = [bytes(font.getmask(letter)) for letter in "ABEGKMRSTX"]
    except (OSError, ValueError):
        return False
    return min(map(len, drawn)) > 100 and len(set(drawn)) == len(drawn)


def _length(*parts: Any) -> Any:
    return np.sqrt(sum(np.square(part) for part in parts))


def _of_box(x: Any, y: Any, z: Any, size: float = 0.62) -> Any:
    parts = [abs(v) - size for v in (x, y, z)]
    return _length(*(np.maximum(v, 0) for v in parts)) + np.minimum(np.maximum.reduce(parts), 0)


# Distances of points from the surface of each body.
_BODIES: dict[str, Callable[..., Any]] = {
    "ball": lambda x, y, z: _length(x, y, z) - 0.85,
    "box": _of_box,
    "cone": lambda x, y, z: np.maximum(0.87 * _length(x, z) + 0.45 * (y - 0.8), -y - 0.75),
    "cylinder": lambda x, y, z: np.maximum(_length(x, z) - 0.5, abs(y) - 0.75),
    "ring": lambda x, y, z: _length(_length(x, z) - 0.65, y) - 0.25,
}


def _rendered(distance: Callable[..., Any], behind: Image.Image,
              random: np.random.Generator) -> Image.Image:
    """Draws a body in front of an image, by rays that walk as far as the body is away."""
    size = behind.width
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    scale = random.uniform(1.15, 1.6)
    y, x = np.mgrid[:size, :size] / size * 2 - 1
    x, y = x + random.uniform(-0.2, 0.2), y + random.uniform(-0.2, 0.2)
    points = np.stack([x * scale, y * scale, np.full_like(x, -3)], -1)
    ray = np.array([0, 0, 1.0])

    def away(places: Any) -> Any:
        return distance(*np.moveaxis(places @ turn, -1, 0))

    for _ in range(40):
        points = points + away(points)[..., None] * ray
    hit = away(points) < 0.02
    normal = np.stack([away(points + step) - away(points - step)
                       for step in np.eye(3) * 1e-3], -1)
    normal /= np.maximum(_length(*np.moveaxis(normal, -1, 0)), 1e-9)[..., None]
    light = random.normal(size=3) * [1, 1, 0.3] - [0, 0, 1]
    light /= _length(*light)
    bright = 0.25 + 0.75 * np.maximum(normal @ light, 0)
    colour = random.uniform(60, 255, 3)
    shaded = np.where(hit[..., None], bright[..., None] * colour, np.asarray(behind))
    return Image.fromarray(np.clip(shaded, 0, 255).astype(np.uint8))


FOLDERS: dict[str, Callable[[pathlib.Path, np.random.Generator], Pictures]] = {
    each.__name__: each for each in (photos, textures, letters, icons, solids, digits)}


def write(name: str, output: pathlib.Path, share: pathlib.Path) -> pathlib.Path:
    """Writes a folder, JPEG and PNG files in turn, unless it is there; returns its path."""
    folder = output / name
    if folder.is_dir():
        return folder
    counts: dict[str, int] = {}
    for kind, image in FOLDERS[name](share, np.random.default_rng(1)):
        counts[kind] = counts.get(kind, 0) + 1
        ending = "png" if counts[kind] % 3 == 0 else "jpg"
        path = folder / kind / f"{counts[kind]:04d}.{ending}"
        os.makedirs(path.parent, exist_ok=True)
        image.save(path, quality=90)
    return folder


def main() -> None:
    """Writes the folders that the command line names, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(FOLDERS))
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--share", type=pathlib.Path, default=pathlib.Path("/usr/share"))
    args = parser.parse_args()
    for name in args.names:
        print(write(name, args.output, args.share))


if __name__ == "__main__":
    main()
