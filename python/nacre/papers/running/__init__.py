"""The runs behind claims, and what came of them."""
