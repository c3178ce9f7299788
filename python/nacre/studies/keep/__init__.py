"""Stores the results of points when they complete."""
