"""The page's colours can be told apart by readers who are colour-blind, and read by all."""

from __future__ import annotations

import itertools
import pathlib
import re

import numpy as np
import pytest

from estimator_trainer.reports import page

# Machado, Oliveira, Fernandes: A Physiologically-based Model for Simulation of Color Vision
# Deficiency (IEEE TVCG 15/6, 2009), table of severity 1.0, for linear RGB.
_VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                            [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                              [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                            [0.004733, 0.691367, 0.303900]])}
# IEC 61966-2-1 (sRGB), with the white of D65.
_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                 [0.0193339, 0.1191920, 0.9503041]])
_WHITE = np.array([0.95047, 1.0, 1.08883])
_TEXTS = [("--ink", "--page"), ("--ink-soft", "--page"), ("--quiet", "--page"),
          ("--quiet", "--panel"), ("--ink", "--panel"), ("--ink-soft", "--panel"),
          ("--accent", "--page"), ("--good", "--page"), ("--bad", "--page"),
          ("--good-ink", "--good-pale"), ("--bad-ink", "--bad-pale"),
          ("--warn-ink", "--warn-pale"), ("--info-ink", "--info-pale")]


def _themes():
    css = (pathlib.Path(page.__file__).parent / "web/report.css").read_text()
    light, dark = (dict(re.findall(r"(--[\w-]+): (#\w+);", part)) for part in re.findall(
        r":root(?::not\(.paper\))? \{(.*?)\}", css, re.S)[:2])
    return {"light": light, "dark": {**light, **dark}}


def _linear(colour):
    """Returns linear RGB of "#rgb" or "#rrggbb"; the formula of sRGB."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    value = np.array([int(digits[i:i + 2], 16) / 255 for i in (0, 2, 4)])
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def _lab(linear):
    """Returns CIE 1976 L*a*b* of linear RGB."""
    share = linear @ _XYZ.T / _WHITE
    f = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def _contrast(a, b):
    """Returns the contrast ratio of two colours, as in WCAG 2.2."""
    low, high = sorted(float(_linear(each) @ [0.2126, 0.7152, 0.0722]) for each in (a, b))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_readers_can_distinguish_the_series(theme):
    colours = _themes()[theme]
    series = [colours[f"--series-{i}"] for i in range(8)]
    for vision, matrix in _VISIONS.items():
        seen = [_lab(np.clip(_linear(each) @ matrix.T, 0, 1)) for each in series]
        neighbours = [np.linalg.norm(a - b) for a, b in zip(seen, [*seen[1:], seen[0]])]
        assert min(neighbours) > 30, (vision, neighbours)
        # All others differ by more than can just be seen, and by their dashes.
        assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) > 15, vision


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_series_and_texts_have_contrast(theme):
    colours = _themes()[theme]
    for i in range(8):
        assert _contrast(colours[f"--series-{i}"], colours["--page"]) >= 3, i
    for ink, background in _TEXTS:
        assert _contrast(colours[ink], colours[background]) >= 4.5, (ink, background)


def test_contrast_and_lab_are_those_of_the_standards():
    assert _contrast("#000", "#fff") == pytest.approx(21)
    # The value of CIE LAB for sRGB's red: 53.24, 80.09, 67.20.
    assert _lab(_linear("#ff0000")) == pytest.approx([53.24, 80.09, 67.20], abs=0.02)


def test_no_colour_stands_outside_of_the_variables():
    web = pathlib.Path(page.__file__).parent
    css = (web / "web/report.css").read_text()
    rules = css[css.index("* { box-sizing"):]
    assert not re.findall(r"#[0-9a-fA-F]{3,8}\b|rgba?\(", rules)
    for path in web.glob("*.py"):
        assert not re.findall(r"#[0-9a-f]{6}\b|rgba?\(", path.read_text()), path
