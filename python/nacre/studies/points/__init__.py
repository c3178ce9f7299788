"""Points of a study, i.e. of a grid or a search, with their keys and repeats."""
