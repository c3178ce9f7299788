"""HTML tables, sections, and pages, which require no network or script."""
