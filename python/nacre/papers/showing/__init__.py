"""Recomputed papers as tables, figures and pages."""
