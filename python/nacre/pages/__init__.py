"""HTML: tables, sections and whole pages, without network or script."""
