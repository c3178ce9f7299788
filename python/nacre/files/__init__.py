"""Results on disk: files that appear complete or not at all."""
