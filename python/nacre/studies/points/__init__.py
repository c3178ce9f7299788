"""The points of a study: a grid, or a search; their keys and repeats."""
