"""Reads the file of a study: axes, metrics, objectives, and constraints."""
