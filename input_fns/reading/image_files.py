"""Finds the images in a folder and in the folders within it, and names the files that are none."""

from __future__ import annotations

import collections
import os.path
from typing import NamedTuple, Optional

from input_fns.reading import file_system
from input_fns.reading.errors import DataFileError

TENSORFLOW = file_system.tensorflow_version()
WEBP = ".webp"
_SINCE_WEBP = (2, 19)
ENDINGS = (".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".gif", ".bmp") + (
    (WEBP,) if tuple(map(int, TENSORFLOW.split(".")[:2])) >= _SINCE_WEBP else ())
# Images that TensorFlow does not read: files that their owner expects to be read.
UNREAD = (".tif", ".tiff", ".heic", ".heif", ".avif", ".jxl", ".jp2", ".svg", ".psd", ".ico",
          ".dng", ".cr2", ".nef", ".arw", ".pgm", ".ppm") + (() if WEBP in ENDINGS else (WEBP,))
# Files and folders that macOS, Windows and network drives put beside images.
_JUNK = ("__macosx", "thumbs.db", "ehthumbs.db", "desktop.ini", "@eadir", "$recycle.bin")
_DEPTH = 8  # folders within each other
_KINDS = ((b"\xff\xd8\xff", "JPEG"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"),
          (b"BM", "BMP"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"), (b"8BPS", "Photoshop"),
          (b"%PDF", "PDF"), (b"PK\3\4", "zip"), (b"<", "HTML, SVG or XML"))
_READ = ("JPEG", "PNG", "GIF", "BMP") + (("WebP",) if WEBP in ENDINGS else ())
_HEAD_BYTES = 16
# Numbers of files to open at the start; a remote file system takes a while for each.
_MOST_OPENED, _MOST_OPENED_REMOTE = 20_000, 100
_SHOWN = 3


class Found(NamedTuple):
    """The files of a folder and of the folders within it.

    Attributes:
      images: Paths of the images, relative to the folder; each folder's own files come first.
      others: Paths of the other files, relative to the folder.
    """

    images: list[str]
    others: list[str]


def found_in(folder: str) -> Found:
    """Returns the files of a folder; links are followed, a folder that holds itself is read once.
    """
    result = Found([], [])
    _add(folder, "", result, ())
    return result


def entries(folder: str) -> list[str]:
    """Returns the names in a folder, sorted, without hidden files and what systems leave there."""
    names = sorted(name.rstrip("/") for name in file_system.names_in(folder))
    return [name for name in names if not name.startswith(".") and name.lower() not in _JUNK]


def folders(folder: str) -> list[str]:
    """Returns the names of the folders in a folder, sorted."""
    return [name for name in entries(folder) if _is_folder(os.path.join(folder, name))]


def is_image(name: str) -> bool:
    """Returns whether a file is an image by the ending of its name."""
    return name.lower().endswith(ENDINGS)


def no_images(paths: list[str], most: int = 0) -> str:
    """Returns one sentence on the files whose first bytes are not those of an image, or "".

    Args:
      paths: Paths of images; of very many, or of remote ones, some are opened.
      most: The number of files to open, at most; 0: by where they are.
    """
    most = most or (_MOST_OPENED_REMOTE if paths and "://" in paths[0] else _MOST_OPENED)
    opened = paths[::-(-len(paths) // most)] if paths else []
    wrong = [(path, kind) for path in opened if (kind := _kind(path)) not in _READ]
    if not wrong:
        return ""
    shown = ", ".join(f"{path} ({kind})" for path, kind in wrong[:_SHOWN])
    return (f"{shown}{' and others' * (len(wrong) > _SHOWN)}: {len(wrong):,} of {len(opened):,} "
            f"files are no {', '.join(_READ)} by their first bytes; expected images. Convert "
            "these files, or remove them")


def passed_over(param: str, folder: str, others: list[str], total: int) -> str:
    """Returns one line on files that are not read, or ""; `total` counts all files."""
    if not others:
        return ""
    counts = collections.Counter(os.path.splitext(path)[1].lower() for path in others)
    kinds = ", ".join(f"{count:,} {ending or 'without ending'}"
                      for ending, count in counts.most_common(_SHOWN))
    unread = next((ending for ending in UNREAD if ending in counts), "")
    advice = (f"; TensorFlow {TENSORFLOW} reads no {unread}: convert them, for example with "
              f"`mogrify -format png *{unread}`" if unread else "")
    return (f"{len(others):,} of {total:,} files in {param} are passed over, because their names "
            f"do not end in {', '.join(ENDINGS)}: {kinds}, such as "
            f"{os.path.join(folder, others[0])}{advice}")


def _add(folder: str, inner: str, result: Found, above: tuple[str, ...]) -> None:
    """Adds the files of `folder`/`inner`; `above` are the real paths of the folders around it."""
    here = os.path.join(folder, inner)
    real = here if "://" in here else os.path.realpath(here)
    if real in above or len(above) > _DEPTH:
        return
    within = []
    for name in entries(here):
        path = os.path.join(inner, name)
        if is_image(name):
            result.images.append(path)
        elif _is_folder(os.path.join(here, name)):
            within.append(path)
        else:
            result.others.append(path)
    for path in within:
        _add(folder, path, result, (*above, real))


def _is_folder(path: str) -> bool:
    # A remote file system takes a while for each answer, and its folders rarely have an ending.
    may_be = "://" not in path or not os.path.splitext(path)[1]
    return may_be and file_system.is_folder(path)


def _kind(path: str) -> str:
    """Returns what a file is by its first bytes, such as "JPEG" or "empty".

    Raises:
      DataFileError: The file cannot be read.
    """
    try:
        with file_system.opened(path) as file:
            head: bytes = file.read(_HEAD_BYTES)
    except file_system.errors() as error:
        raise DataFileError(f"{path} cannot be read: {str(error)[:200]}. Look at its rights, or at "
                            "the file that it links to") from error
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    if head[4:8] == b"ftyp":
        return "AVIF" if head[8:11] == b"avi" else "HEIC" if head[8:11] in (
            b"hei", b"hev", b"mif", b"msf") else "video"
    kind: Optional[str] = next((kind for begin, kind in _KINDS if head.startswith(begin)), None)
    return kind or ("unknown" if head else "empty")
