"""Rows: clicks as libsvm, the columns of the census, Avazu's advertisements, houses."""

from __future__ import annotations

import pathlib
import random

import numpy as np

_RANDOM = random.Random(2)
_FIELDS = 10
_CHOICES = {"workclass": ("Private", "State-gov"), "education": ("Bachelors", "HS-grad"),
            "marital": ("Never-married", "Divorced"), "occupation": ("Sales", "Tech-support"),
            "relationship": ("Husband", "Wife", "Unmarried"), "race": ("White", "Black"),
            "gender": ("Male", "Female")}


def make(root: pathlib.Path) -> None:
    """Makes the folders clicks/, census/, avazu/ and houses/."""
    for name in ("clicks", "census", "avazu", "houses"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name, count in (("tr", 512), ("va", 128), ("te", 128)):
        _write(root / "clicks" / f"{name}.libsvm", [_clicks() for _ in range(count)])
    for name, count in (("train", 400), ("eval", 200)):
        _write(root / "census" / f"{name}.csv", [_person() for _ in range(count)])
        _write(root / "avazu" / f"{name}.csv", [_advertisement() for _ in range(count)])
    numbers = np.random.RandomState(0)
    inputs = numbers.rand(200, 13)
    np.savez(root / "houses" / "boston_housing.npz", x=inputs, y=inputs.sum(axis=1))


def _write(path: pathlib.Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines) + "\n")


def _clicks() -> str:
    """Returns a label and an id:value for each field; a field has ten ids of its own."""
    ids = [field * 10 + _RANDOM.randrange(10) for field in range(_FIELDS)]
    return f"{int(ids[0] > 4)} " + " ".join(f"{id_}:{_RANDOM.random():.3f}" for id_ in ids)


def _person() -> str:
    age, chosen = _RANDOM.randrange(17, 80), {
        name: _RANDOM.choice(choices) for name, choices in _CHOICES.items()}
    columns = [age, chosen["workclass"], _RANDOM.randrange(10000, 90000), chosen["education"],
               _RANDOM.randrange(1, 16), chosen["marital"], chosen["occupation"],
               chosen["relationship"], chosen["race"], chosen["gender"], _RANDOM.randrange(9999),
               _RANDOM.randrange(999), _RANDOM.randrange(10, 60), "United-States",
               ">50K" if age > 45 else "<=50K"]
    return ", ".join(map(str, columns))


def _advertisement() -> str:
    """Returns the columns of Avazu's clicks: a label, the hour, numbers, names and numbers."""
    numbers = [str(_RANDOM.randrange(20)) for _ in range(5)]
    names = [f"n{_RANDOM.randrange(20)}" for _ in range(16)]
    return ",".join([str(int(names[0] > "n2")), "14102100", *numbers[:2], *names, *numbers[2:]])
