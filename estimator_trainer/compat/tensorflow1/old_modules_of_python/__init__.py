"""Modules of Python and setuptools that are gone, as far as programs use them."""
