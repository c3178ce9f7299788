"""What a paper's files say: claims, plans, points."""
