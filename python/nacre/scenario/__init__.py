"""Reads scenarios and their settings, and describes the catalog, models, and templates."""
