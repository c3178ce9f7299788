"""Verdicts on claims, and their value as evidence."""
