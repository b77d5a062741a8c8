"""Platforms: a job in the words of each scheduler."""
