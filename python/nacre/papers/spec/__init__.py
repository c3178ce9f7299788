"""Documents of a paper: claims, plans, points."""
