"""HTML tables, sections, and pages, which need no network or script."""
