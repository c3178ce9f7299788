"""MkDocs hooks for the documentation site.

In documents, links to other documents, sources, and folders are relative to the source tree, as on
code hosts. In addition to the documents in `docs/`, the site contains documents of the root folder,
and copies of the sources to which documents link.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ROOT_DOCUMENTS = ("README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY")
SOURCES = "source"
"""Folder of the site with copies of sources."""
TITLES = {
    "cleaning": "Garbage collection",
    "ecc": "Error correction (ECC)",
    "fault": "Fault injection",
    "wear_leveling": "Wear leveling",
}
"""Titles of folders in the navigation. For other folders, the title is derived from the folder
name."""
BOOSTS = (
    ("how-to/garbage-collection.md", 4.0),
    (("how-to/", "start/"), 2.0),
    (("crashing.md", "serving.md", "studies.md", "traces.md", "tutorial.md"), 2.0),
    (("CHANGELOG.md", "decisions/", "fio-examples.md", "sensitivity.md", "accuracy/"), 0.5),
)
"""Rank of pages in search results, by the prefix of their paths. Guides come before references, and
references come before records."""

_HEADING = re.compile(r"#{1,6} +(.*?)(?: +#+)?$")
_FENCE = re.compile(r"^\s*(```|~~~)")
_LINK = re.compile(r'(?P<before>\]\(|\b(?:src|srcset|href)=")(?P<to>[^)\s"]+)')


def expanded(nav: list[Any]) -> list[Any]:
    """Replaces each entry `FOLDER/*` of the navigation with the pages of that folder."""
    items: list[Any] = []
    for item in nav:
        if isinstance(item, dict):
            items += [
                {title: expanded(to) if isinstance(to, list) else to} for title, to in item.items()
            ]
        elif item.endswith("/*"):
            items += _folder(DOCS / item.removesuffix("/*"))
        else:
            items.append(item)
    return items


def _folder(folder: Path) -> list[Any]:
    """Returns the pages of a folder in alphabetical order. Subfolders are sections."""
    items: list[Any] = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            title = TITLES.get(path.name, path.name.replace("_", " ").capitalize())
            items.append({title: _folder(path)})
        elif path.suffix == ".md" and path.name != "README.md":
            items.append(path.relative_to(DOCS).as_posix())
    return items


def links(text: str) -> list[str]:
    """Returns the targets of a document's internal links. Ignores code."""
    found: list[str] = []

    def keep(to: str) -> str:
        found.append(to)
        return to

    _with_links(text, keep)
    return found


def anchors(text: str) -> set[str]:
    """Returns the anchors of a document's headings, which code hosts and the site use."""
    found = set()
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (heading := _HEADING.match(line)):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "").lower()
            found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def _with_links(text: str, changed: Any) -> str:
    """Replaces every link of a document with `changed(link)`."""
    lines = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        lines.append(line if fenced else _line_with_links(line, changed))
    return "\n".join(lines)


def _line_with_links(line: str, changed: Any) -> str:
    def new(found: re.Match[str]) -> str:
        to = found["to"]
        elsewhere = re.match(r"[a-z]+:", to) or to.startswith("#")
        return found["before"] + (to if elsewhere else changed(to))

    parts = line.split("`")
    for number in range(0, len(parts), 2):
        parts[number] = _LINK.sub(new, parts[number])
    return "`".join(parts)


def place(page: str) -> Path:
    """Returns the file of a page, which is in `docs/` or in the root folder."""
    own = DOCS / page
    above = ROOT / page
    return above if above.is_file() and page.removesuffix(".md") in ROOT_DOCUMENTS else own


def target(page: str, to: str) -> Path:
    """Returns the file or folder in the source tree to which a page links."""
    path = to.partition("#")[0]
    return Path(os.path.normpath(place(page).parent / path)) if path else place(page)


def _on_site(page: str, to: str, sources: set[Path]) -> str:
    """Returns the form of a link on the site.

    If it leads to a source, adds the source to `sources`.
    """
    anchor = to.partition("#")[2]
    end = target(page, to)
    if end.is_dir():
        inside = [end / name for name in ("README.md", "mod.rs", "lib.rs")]
        listing = sorted(each for each in end.iterdir() if each.is_file())
        end = next((each for each in inside if each.is_file()), listing[0] if listing else end)
    if end.is_relative_to(DOCS):
        uri = end.relative_to(DOCS).as_posix()
    elif end.parent == ROOT and end.suffix == ".md":
        uri = end.name
    elif end.is_file():
        sources.add(end)
        uri = f"{SOURCES}/{end.relative_to(ROOT).as_posix()}.txt"
    else:
        return to
    way = os.path.relpath(uri, PurePosixPath(page).parent)
    return f"{way}#{anchor}" if anchor else way


def left_out() -> str:
    """Returns the sections "Not modeled" of all model pages."""
    lines = ["## Model by model", ""]
    for page in sorted((DOCS / "models").glob("*/*.md")):
        text = re.search(r"^## Not modeled\n(.*?)(?=^## |\Z)", page.read_text(), re.M | re.S)
        said = text[1].strip() if text else "Nothing."
        if not said.startswith("Nothing"):
            name = f"{page.parent.name.replace('_', ' ')}: `{page.stem}`"
            lines += [f"**[{name}]({page.relative_to(DOCS).as_posix()})**", "", said, ""]
    return "\n".join(lines)


# MkDocs calls the following hooks.

_sources: set[Path] = set()


def on_config(config: Any) -> Any:
    """Completes the navigation, sets the version, and gives headings the anchors of code hosts."""
    from pymdownx.slugs import slugify

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    config.copyright = f"Nacre {version}, {config.copyright}"
    config.nav = expanded(config.nav)
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the documents of the root folder, and copies of the sources to which documents link."""
    from mkdocs.structure.files import File

    for name in ROOT_DOCUMENTS:
        files.append(File.generated(config, f"{name}.md", abs_src_path=str(ROOT / f"{name}.md")))
    _sources.clear()
    for file in files.documentation_pages():
        for to in links(file.content_string):
            _on_site(file.src_uri, to, _sources)
    for path in sorted(_sources):
        uri = f"{SOURCES}/{path.relative_to(ROOT).as_posix()}.txt"
        files.append(File.generated(config, uri, content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Any, **_context: Any) -> str:
    """Replaces links to the source tree with links on the site.

    Sets the search rank of the page.
    """
    uri = page.file.src_uri
    boost = next((factor for start, factor in BOOSTS if uri.startswith(start)), 1.0)
    page.meta.setdefault("search", {"boost": boost})
    if uri == "not-modeled.md":
        markdown = f"{markdown.partition('<!--')[0]}\n{left_out()}"
    return _with_links(markdown, lambda to: _on_site(uri, to, _sources))
