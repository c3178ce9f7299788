"""Summarizes results as sentences and tables for users. Each kind of result has a module."""
