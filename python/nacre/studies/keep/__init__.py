"""Where points are kept as they end."""
