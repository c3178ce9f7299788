"""Whether claims are met, and how much that says."""
