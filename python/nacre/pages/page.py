"""HTML pages with Nacre's theme, which require no network or script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import TYPE_CHECKING

from nacre.base.table import Table
from nacre.base.text import printable
from nacre.base.toml import setting
from nacre.base.view import View
from nacre.pages.html import paragraphs, table

if TYPE_CHECKING:
    import altair as alt

    from nacre.results.record import Record
    from nacre.words.summary import Summary

_STYLE = """
:root { color-scheme: light dark; --ink: #222; --soft: #666; --line: #ddd; --paper: #fff;
  --link: #0072B2; --box: #f3f6f9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --soft: #a5a5a5; --line: #3c3c3c;
  --paper: #161616; --link: #56B4E9; --box: #22272c; } }
body { font: 15px/1.5 'Liberation Sans', Arial, Helvetica, sans-serif; color: var(--ink);
  background: var(--paper); max-width: 960px; margin: 40px auto; padding: 0 24px; }
h1 { font-size: 26px; margin: 0 0 24px; } h2 { font-size: 20px; margin: 48px 0 10px;
  border-top: 1px solid var(--line); padding-top: 24px; }
body > h2:first-child { font-size: 26px; margin: 0 0 24px; border: 0; padding: 0; }
h3 { font-size: 15px; margin: 28px 0 6px; }
.headline { font-size: 18px; line-height: 1.45; background: var(--box); border-radius: 6px;
  padding: 14px 18px; margin: 0 0 18px; }
.wide { overflow-x: auto; } .wide td, .wide th { vertical-align: top; }
table { font-size: 13px; } th { color: var(--soft); font-weight: normal; }
th, thead td { border-bottom: 1px solid var(--line); }
figure { margin: 20px 0; overflow-x: auto; background: #fff; border-radius: 6px; }
svg { max-width: 100%; height: auto; overflow: visible; }
@font-face { font-family: narrowed; src: local('DejaVu Sans'); size-adjust: 87%; }
@font-face { font-family: narrowed; font-weight: bold; src: local('DejaVu Sans Bold');
  size-adjust: 83%; }
svg text { font-family: 'Liberation Sans', Arial, Helvetica, narrowed, sans-serif; }
details { margin: 12px 0; } summary { cursor: pointer; color: var(--link); }
pre { background: var(--box); border-radius: 6px; padding: 12px 16px; overflow-x: auto;
  font-size: 13px; }
@media (max-width: 600px) { body { margin: 16px auto; padding: 0 14px; } h1 { font-size: 22px; }
  .headline { font-size: 16px; padding: 12px 14px; } .wide table { min-width: 720px; }
  figure svg { max-width: max(100%, 600px); } }
"""


def document(title: str, body: str) -> str:
    """Returns a complete HTML page with this body."""
    return (
        "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def page(title: str, section: str) -> str:
    """Returns a complete HTML page with one section."""
    return document(printable(title), section)


def section(
    name: str,
    said: Summary,
    *parts: str,
    lines: Iterable[str] | None = None,
    after: Iterable[str] = (),
) -> str:
    """Returns a section of a report: heading, headline, facts, parts, and figures.

    `lines` replaces the facts of the summary, and `after` follows the figures.

    Every section of a report is created by this function.
    """
    facts = said.facts if lines is None else lines
    top = [heading(printable(name)), headline(said.headline), paragraphs(facts)]
    return "".join([*top, *parts, *(drawn(make()) for make in said.figures.values()), *after])


def titled(title: str, *tables: Table) -> str:
    """Returns a titled part of a section with tables.

    Returns an empty string if no table has rows.
    """
    return part(title, *shown(*tables))


def shown(*tables: Table) -> list[str]:
    """Returns the HTML of the tables that have rows."""
    return [wide(table(each)) for each in tables if each.rows]


def headline(sentences: Iterable[str]) -> str:
    """Returns the headline of a section as HTML, or an empty string if there are no sentences."""
    text = " ".join(sentences)
    return f"<p class='headline'>{escape(text)}</p>" if text else ""


def heading(text: str) -> str:
    """Returns a heading with the name of a result."""
    return f"<h2>{escape(text)}</h2>"


def part(title: str, *content: str) -> str:
    """Returns a titled part of a section. Returns an empty string if there is no content."""
    shown = "".join(content)
    return f"<h3>{escape(title)}</h3>{shown}" if shown else ""


def wide(content: str) -> str:
    """Wraps content in an element that scrolls if the content is wider than the page."""
    if not content:
        return ""
    return f"<div class='wide' tabindex='0' role='group' aria-label='table'>{content}</div>"


def figure(drawing: str) -> str:
    """Wraps an SVG figure in a scrollable frame that the keyboard can reach."""
    return f"<figure tabindex='0' role='group' aria-label='figure'>{drawing}</figure>"


def drawn(chart: alt.TopLevelMixin) -> str:
    """Returns the HTML of a figure."""
    from nacre.figures.export import svg

    return figure(svg(chart))


def runs(title: str, records: Mapping[str, Record]) -> str:
    """Returns the part of a report that compares runs and lists their assumed values."""
    from nacre.words.bills import bills

    tables = "".join(shown(*bills(records)))
    origins = (origin for record in records.values() for origin in record.origins)
    return part(title, tables, assumptions(origins)) if records else ""


def folded(summary: str, content: str) -> str:
    """Returns a block that the reader can expand with a click."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def listing(text: str) -> str:
    """Returns a block of text that the reader can copy."""
    return f"<pre tabindex='0'>{escape(text)}</pre>"


def assumptions(origins: Iterable[View]) -> str:
    """Returns a collapsed block that lists the assumed values without duplicates."""
    found: dict[tuple[str, str], list[str]] = {}
    for origin in origins:
        if origin.confidence == "assumed":
            said = setting(origin.value)
            found.setdefault((origin.path, said), [origin.path, said, origin.source])
    listed = wide(table(Table("", ["value", "is", "why"], [False] * 3, list(found.values()))))
    return folded(f"Assumed values: {len(found)} values", listed)
