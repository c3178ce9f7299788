"""Writes results to disk, each file completely or not at all."""
