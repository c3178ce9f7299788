"""What is asked: scenarios, their settings, the catalog, models and templates."""
