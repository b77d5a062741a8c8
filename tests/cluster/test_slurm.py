"""Slurm's short forms of names and counts."""

from __future__ import annotations

import pytest

from estimator_trainer.cluster import slurm

# Output of `scontrol show hostnames` of Slurm 22.05 for each.
_HOSTNAMES = {
    "tnode-[01-03,7,09-10]": "tnode-01 tnode-02 tnode-03 tnode-7 tnode-09 tnode-10",
    "a[1-2]b[01-02],c": "a1b01 a1b02 a2b01 a2b02 c",
    "x": "x",
    "n[8-11].site": "n8.site n9.site n10.site n11.site",
    "n2,n1": "n2 n1",
}


@pytest.mark.parametrize("text", _HOSTNAMES)
def test_expanded_names_are_those_that_slurm_prints(text):
    assert slurm.expanded_names(text) == _HOSTNAMES[text].split()


@pytest.mark.parametrize("text, expected", [
    ("3,2", [3, 2]), ("2(x3),1", [2, 2, 2, 1]), ("1", [1])])
def test_expanded_counts_of_each_node(text, expected):
    assert slurm.expanded_counts(text) == expected


@pytest.mark.parametrize("text", ["", "n[1", "n1-3]", "n[3-1]", "n[a-b]", "n[]", "a,,b",
                                  "n[0-99999999999]"])
def test_expanded_names_refuse_other_texts(text):
    with pytest.raises(ValueError, match="no"):
        slurm.expanded_names(text)


@pytest.mark.parametrize("text", ["", "x", "2(3)", "1,", "1(x99999999)"])
def test_expanded_counts_refuse_other_texts(text):
    with pytest.raises(ValueError, match="no list of counts"):
        slurm.expanded_counts(text)
