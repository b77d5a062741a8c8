"""Lookups in tables of embeddings: many tables' in one operation each."""
