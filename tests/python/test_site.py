"""Checks the documentation site: its navigation contains every page, and every link is valid.

`make docs` also checks this when it builds the site, but this test does not require the packages of
the site.
"""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SOURCES = {".py", ".rs", ".toml", ".sh", ".js"}


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


hooks = _loaded(ROOT / "tools/site_hooks.py")
NAV: list[Any] = hooks.expanded(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])


def pages(nav: list[Any]) -> list[str]:
    found: list[str] = []
    for item in nav:
        targets = item.values() if isinstance(item, dict) else [item]
        for target in targets:
            found += pages(target) if isinstance(target, list) else [target]
    return found


def test_the_navigation_has_every_page_once() -> None:
    docs = ROOT / "docs"
    documents = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")]
    documents += [f"{name}.md" for name in hooks.ROOT_DOCUMENTS]
    assert sorted(pages(NAV)) == sorted(documents)


@pytest.mark.parametrize("page", pages(NAV))
def test_every_link_of_a_page_leads_to_a_file_and_a_heading(page: str) -> None:
    text = hooks.place(page).read_text()
    for to in hooks.links(text):
        end = hooks.target(page, to)
        assert end.exists(), f"{page}: {to}"
        anchor = to.partition("#")[2]
        if anchor and end.suffix == ".md":
            assert anchor in hooks.anchors(end.read_text()), f"{page}: {to}"


def test_broken_links_are_found_and_code_is_ignored() -> None:
    text = "[a](gone.md#x) `[b](code.md)` [c](https://example.org)\n```\n[d](fenced.md)\n```\n"
    assert hooks.links(text) == ["gone.md#x"]
    assert not hooks.target("tutorial.md", "gone.md").exists()
    assert hooks.anchors("# A `b` [c](d.md), e\n```\n# no\n```\n") == {"a-b-c-e"}


def test_documents_named_in_code_exist() -> None:
    named = re.compile(r"docs/(?:decisions/\d{4}|[\w/-]+\.(?:md|toml))")
    folders = [ROOT / name for name in ("python", "crates", "tools", "tests/python", "catalog")]
    sources = [path for folder in folders for path in folder.rglob("*") if path.suffix in SOURCES]
    assert len(sources) > 500
    for source in [*sources, ROOT / "Makefile"]:
        for name in named.findall(source.read_text()):
            assert list(ROOT.glob(f"{name}*")), f"{source.relative_to(ROOT)}: {name}"


def test_the_site_loads_nothing_from_elsewhere() -> None:
    text = (ROOT / "mkdocs.yml").read_text() + (ROOT / "docs/assets/site.css").read_text()
    assert yaml.safe_load((ROOT / "mkdocs.yml").read_text())["theme"]["font"] is False
    assert "http:" not in text
    assert "https:" not in text
