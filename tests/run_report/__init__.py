"""Tests of the page of a run, and of what it is made of."""
