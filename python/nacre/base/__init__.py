"""Helpers for all other packages: text, quantities, JSON, TOML, views of documents, progress.

The package imports only the bindings of the core and `nacre.errors`.
"""
