"""Summaries of results for users, as sentences and tables, a module for each kind."""
