"""All published programs that are tried, in the order of the table."""

from benchmarks.published.catalog import click_through
from benchmarks.published.catalog import language
from benchmarks.published.catalog import libraries
from benchmarks.published.catalog import samples

PROGRAMS = (*language.PROGRAMS, *click_through.PROGRAMS, *libraries.PROGRAMS, *samples.PROGRAMS)
