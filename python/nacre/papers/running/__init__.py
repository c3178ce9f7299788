"""Runs of claims, and their outcomes."""
