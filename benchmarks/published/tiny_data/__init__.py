"""Tiny random data in the formats that published programs read."""
