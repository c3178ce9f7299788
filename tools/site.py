"""Makes a static site of the documents: HTML that needs no network, no server and no script.

    .venv/bin/python tools/site.py OUT

Links between documents lead from page to page; one that leads nowhere is an error.
"""

from __future__ import annotations

import html
import re
import shutil
import sys
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parent.parent
FIRST = ("README.md", "docs/tutorial.md", "docs/how-to.md", "docs/explore.md",
         "docs/studies.md", "docs/traces.md", "docs/serving.md", "docs/faults.md", "docs/api.md",
         "docs/models/README.md", "docs/glossary.md", "docs/validation.md", "docs/security.md",
         "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")  # fmt: skip
"""The pages of the menu, in its order; the others are reached from them."""
_LINK = re.compile(r"(?P<before>\b(?:href|src|srcset)=\")(?P<to>[^\"]*)\"")
_HEADING = re.compile(r"<h([1-4])>(.*?)</h\1>", re.DOTALL)
_STYLE = """
:root { color-scheme: light dark; font: 16px/1.55 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 78rem; padding: 1.5rem; display: flex; gap: 3rem; }
nav { flex: 0 0 12rem; font-size: .95rem; } nav a { display: block; padding: .15rem 0; }
main { flex: 1; min-width: 0; max-width: 52rem; }
a { color: #0b62a8; text-decoration: none; } a:hover { text-decoration: underline; }
pre { background: #8881; padding: .8rem 1rem; overflow-x: auto; border-radius: 4px; }
code { font: .88em/1.45 ui-monospace, monospace; } table { border-collapse: collapse; }
td, th { border-bottom: 1px solid #8884; padding: .3rem .8rem .3rem 0; text-align: left;
  vertical-align: top; } img { max-width: 100%; }
@media (max-width: 50rem) { body { display: block; } }
@media (prefers-color-scheme: dark) { a { color: #6cb4ee; } }
"""


def build(out: Path) -> list[str]:
    """Writes the site; what links to nothing, as `page: link`."""
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], key=lambda path: str(path))
    known = {path.relative_to(ROOT) for path in pages}
    anchors = {name: _anchors(_rendered(ROOT / name)) for name in known}
    broken: list[str] = []
    for name in sorted(known):
        text, wrong = _linked(_rendered(ROOT / name), name, anchors, out)
        broken += [f"{name}: {link}" for link in wrong]
        target = out / name.with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_page(text, name), encoding="utf-8")
    (out / "index.html").write_text((out / "README.html").read_text(), encoding="utf-8")
    return broken


def _rendered(path: Path) -> str:
    text = MarkdownIt("commonmark").enable("table").render(path.read_text(encoding="utf-8"))

    def heading(found: re.Match[str]) -> str:
        level, inner = found.groups()
        return f'<h{level} id="{_slug(inner)}">{inner}</h{level}>'

    return _HEADING.sub(heading, text)


def _slug(heading: str) -> str:
    """The anchor that code hosts give a heading."""
    plain = html.unescape(re.sub(r"<[^>]+>", "", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def _anchors(text: str) -> set[str]:
    return set(re.findall(r'id="([^"]+)"', text))


def _linked(
    text: str, page: Path, anchors: dict[Path, set[str]], out: Path
) -> tuple[str, list[str]]:
    """The page with links to documents as links to pages, and those that lead nowhere."""
    wrong: list[str] = []

    def link(found: re.Match[str]) -> str:
        to = found["to"]
        if re.match(r"[a-z]+:", to):
            return found[0]
        path, _, anchor = to.partition("#")
        target = page if not path else Path(_resolved(page.parent / path))
        if target in anchors:
            if anchor and anchor not in anchors[target]:
                wrong.append(to)
            shown = path.removesuffix(".md") + ".html" if path else ""
            return f'{found["before"]}{shown}{"#" + anchor if anchor else ""}"'
        source = ROOT / target
        if source.is_file():
            copy = out / target
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        elif not source.is_dir():
            wrong.append(to)
        return found[0]

    return _LINK.sub(link, text), wrong


def _resolved(path: Path) -> str:
    """The path without its steps back."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _page(text: str, name: Path) -> str:
    up = "../" * (len(name.parts) - 1)
    title = re.search(r"<h1[^>]*>(.*?)</h1>", text, re.DOTALL)
    said = re.sub(r"<[^>]+>", "", title[1]) if title else name.stem
    menu = "".join(
        f'<a href="{up}{Path(page).with_suffix(".html")}">{_menu(page)}</a>' for page in FIRST
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{said}</title>'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><nav>{menu}</nav><main>{text}</main></body></html>\n"
    )


def _menu(page: str) -> str:
    names = {"README.md": "Nacre", "docs/models/README.md": "models", "docs/api.md": "Python API"}
    return names.get(page) or Path(page).stem.replace("-", " ").lower().replace("how to", "how to")


def main() -> int:
    """Writes the site to the folder that is given; 1 where a link leads nowhere."""
    out = Path(sys.argv[1])
    broken = build(out)
    for each in broken:
        sys.stderr.write(f"leads nowhere: {each}\n")
    sys.stdout.write(f"{out}/index.html\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
