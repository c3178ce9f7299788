"""Reports: self-contained HTML made of saved records."""

from nacre.report.page import report

__all__ = ["report"]
