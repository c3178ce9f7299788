"""Input files of a paper: claims, plan, and points."""
