"""Stores the results of points as they complete."""
