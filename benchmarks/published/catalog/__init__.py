"""All published programs that are tried, in the order of the table."""

from benchmarks.published.catalog import click_through, language, libraries, samples

PROGRAMS = (*language.PROGRAMS, *click_through.PROGRAMS, *libraries.PROGRAMS, *samples.PROGRAMS)
