"""The document of a study: axes, metrics, objectives, constraints."""
