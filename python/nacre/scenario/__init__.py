"""Scenarios, their settings, the catalog, models, and templates."""
