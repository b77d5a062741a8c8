"""Words with tags: the files of tf_ner, and CoNLL."""

from __future__ import annotations

import pathlib

import numpy as np

from benchmarks.published.tiny_data import language

_TAGS = ("B-LOC", "B-PER", "O")
_DIMENSIONS = 300


def make(root: pathlib.Path) -> None:
    """Makes the folder words/, with vectors for all words, and the folder conll/."""
    words, conll = root / "words", root / "conll"
    words.mkdir(parents=True, exist_ok=True)
    conll.mkdir(parents=True, exist_ok=True)
    for name, conll_name, count in (("train", "train", 60), ("testa", "dev", 20),
                                    ("testb", "test", 20)):
        lines = [language.sentence(3 + number % 6) for number in range(count)]
        tags = [" ".join(_tag(word) for word in line.split()) for line in lines]
        (words / f"{name}.words.txt").write_text("\n".join(lines) + "\n")
        (words / f"{name}.tags.txt").write_text("\n".join(tags) + "\n")
        (conll / f"{conll_name}.txt").write_text("".join(
            "".join(f"{word} {_tag(word)}\n" for word in line.split()) + "\n" for line in lines))
    for name, entries in (("words", language.WORDS), ("chars", "w0123456789"), ("tags", _TAGS)):
        (words / f"vocab.{name}.txt").write_text("\n".join(entries) + "\n")
    vectors = np.random.RandomState(0).randn(len(language.WORDS), _DIMENSIONS)
    np.savez_compressed(words / "glove.npz", embeddings=vectors.astype("float32"))


def _tag(word: str) -> str:
    return _TAGS[int(word[1:]) % len(_TAGS)]
