"""Programs that measure this project; README.md beside this file lists them with their commands."""

import pathlib

REPO = pathlib.Path(__file__).resolve().parents[1]
