"""Kinds of results: for each, how it is saved, read, drawn, described and reported."""
