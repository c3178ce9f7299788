"""Helpers for all other packages: text, quantities, JSON, TOML, views of documents, progress.

Imports only the bindings of the core and `nacre.errors`.
"""
