"""Executes the runs of papers."""
