"""What a study's file says: axes, metrics, objectives, constraints."""
