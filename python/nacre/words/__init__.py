"""Summaries of results for users, as sentences and tables; each kind has a module."""
