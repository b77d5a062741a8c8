"""The programs here measure this project; README.md lists them with their commands."""

import pathlib

REPO = pathlib.Path(__file__).resolve().parents[1]
