"""The part of the page on the columns."""

import pytest

from estimator_trainer.reports import columns_section, markup

pytestmark = pytest.mark.any_tensorflow

_HOSTILE = "<script>alert(1)</script>"
_NUMBER = {"name": "months", "kind": "number", "at": [1.0, 5.0, 9.0], "deciles": [1.0, 5.0],
           "means": [{"of": "yes", "values": [0.4, 0.2, 0.1]}], "rows": 90, "missing": 7,
           "at_missing": [0.31]}
_CATEGORY = {"name": _HOSTILE, "kind": "category", "at": ["monthly", _HOSTILE], "counts": [60, 30],
             "means": [{"of": "yes", "values": [0.4, 0.2]}], "rows": 90}


def _importance(*drops, columns=0):
    return {"metric": "AUC", "base": 0.8, "rows": 1000, "repeats": 5, "tried": len(drops),
            "columns": columns or len(drops),
            "found": [{"name": name, "drop": drop, "deviation": 0.01} for name, drop in drops]}


def _shown(content):
    charts = markup.Charts()
    return columns_section.section(content, charts), charts.charts


def test_the_first_sentence_answers_which_column_matters():
    text, _ = _shown({"importance": _importance(
        ("contract", 0.2), ("months", 0.05), ("region", 0.01)), "secs": 0.5})
    assert ("<p>contract matters most: shuffled, it lowers AUC by 0.2; next months (0.05).</p>"
            in text)
    assert "Without a measurable effect: region." in text and "in 0.5 s altogether" in text
    together = {"together": [{"name": "a, b", "drop": 0.3, "deviation": 0.01}]}
    text, _ = _shown({"importance": {**_importance(("a", 0.1), ("b", 0.1)), **together}})
    assert "shuffled together: a, b lower AUC by 0.3." in text
    text, _ = _shown({"importance": _importance(("a", 0.001), ("b", -0.2))})
    assert "No column lowers AUC measurably" in text


def test_many_columns_are_folded_under_how_they_were_chosen():
    names = [(f"column {i}", 0.5) for i in range(20)]
    text, _ = _shown({"importance": _importance(*names, columns=300)})
    assert "<summary>10 less important columns</summary>" in text
    assert "for the other 280 there was no time" in text


def test_responses_are_charts_and_tables_without_hostile_names():
    text, [chart] = _shown({"importance": _importance((_HOSTILE, 0.2), ("months", 0.1)),
                            "responses": [_CATEGORY, _NUMBER]})
    assert "<script" not in text and "&lt;script&gt;" in text
    assert chart["title"] == "months" and chart["data"][:2] == [[1.0, 5.0, 9.0], [0.4, 0.2, 0.1]]
    assert "Missing in 7 of 90 rows; there: yes 0.31." in text


def test_the_reason_why_the_columns_are_not_known():
    text, _ = _shown({"reason": "the feature 'x' is not a dense tensor of 1 to 4 dimensions"})
    assert "Not known: the feature &#x27;x&#x27; is not a dense tensor" in text
    assert _shown({})[0] == ""
