"""Generates files from the Python package: API reference, man pages, and typed presets.

    .venv/bin/python tools/reference.py [--check]

With --check, nothing is written. The exit status is 0 if all files are up to date.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, get_args

import nacre
import typer
from nacre import (
    catalog,
    config,
    devices,
    errors,
    figures,
    kinds,
    papers,
    policies,
    results,
    simulate,
    studies,
    traces,
)
from nacre.cli.app import app

ROOT = Path(__file__).parent.parent
MAN = ROOT / "packaging/data/share/man/man1"
API = ROOT / "docs/api"
MODELS = ROOT / "docs/models"
PRESETS = ROOT / "python/nacre/config/_presets.py"


def documents() -> Iterator[tuple[Path, str]]:
    """Yields every generated file with its text."""
    yield PRESETS, presets()
    yield from api()
    yield from man_pages()


# The API reference consists of pages with public names. The site adds the documentation of the
# names.


def api() -> Iterator[tuple[Path, str]]:
    """Yields the pages in `docs/api`: one page for `nacre`, and one for each of its modules."""
    functions = [
        name
        for name in nacre.__all__
        if not inspect.ismodule(getattr(nacre, name)) and not name.startswith("__")
    ]
    yield API / "nacre.md", _api_page(nacre, functions)
    for module in (results, simulate, studies, devices, traces, catalog, papers, policies, errors):
        yield API / f"{module.__name__.partition('.')[2]}.md", _api_page(module, _names(module))
    yield API / "figures.md", _figures_page()
    yield API / "config.md", _config_page()
    yield API / "presets.md", _api_page(config.presets, sorted(config.presets.__all__))


def _api_page(module: ModuleType, names: Sequence[str]) -> str:
    title = module.__name__
    lines = [f"# {title}", "", _linked(_module_doc(module)), ""]
    for name in sorted(names, key=str.lower):
        item = getattr(module, name)
        if inspect.ismodule(item):
            lines += [f"## {title}.{name}", "", _linked(_module_doc(item)), ""]
            for inner in _names(item):
                lines += [f"::: {title}.{name}.{inner}", "    options: { heading_level: 3 }", ""]
        else:
            lines += [f"::: {title}.{name}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _figures_page() -> str:
    """Returns the page of `nacre.figures`, followed by the figures of each result's `plot`."""
    lines = [_api_page(figures, figures.__all__)]
    for known in kinds.KINDS:
        plots = kinds.at(known.place).plots()
        public = {name: make for name, make in plots.items() if make.__name__.isidentifier()}
        public = {name: make for name, make in public.items() if not make.__name__.startswith("_")}
        if public:
            lines += [f"## Figures of `{known.result}`", ""]
        for name, make in public.items():
            options = f'{{ heading: "plot.{name}", toc_label: "plot.{name}", heading_level: 3 }}'
            lines += [f"::: {make.__module__}.{make.__name__}", f"    options: {options}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _config_page() -> str:
    """Returns the page of `nacre.config`, with classes by family.

    Classes of models link to the pages of the models.
    """
    lines = ["# nacre.config", "", _module_doc(config), ""]
    plain = [name for name in config.__all__ if not _model_of(name) and name != "presets"]
    lines += [
        "Functions in [`nacre.config.presets`](presets.md) return the devices of the catalog.",
        "A class is named after its model and family, e.g. `ZipfWorkload`.",
        "The table lists the class of each model:",
        "",
        "| class | model |",
        "|---|---|",
    ]
    for name in sorted(config.__all__):
        if model := _model_of(name):
            lines.append(f"| `{name}` | [{model}](../models/{model}.md) |")
    lines += ["", "Other classes:", ""]
    for name in sorted(plain):
        lines += [f"- `{name}`: {_first_line(getattr(config, name))}"]
    return "\n".join(lines).rstrip() + "\n"


def _first_line(item: Any) -> str:
    """Returns the first line of the documentation. For a union, returns its classes."""
    if isinstance(item, UnionType):
        return "one of " + ", ".join(f"`{each.__name__}`" for each in get_args(item))
    return _doc(item).splitlines()[0]


def _model_of(name: str) -> str | None:
    """Returns the page of a class' model, or None. For example, `SsdDevice` gives `device/ssd`."""
    kind = getattr(config, name)
    own = {item.name: item for item in fields(kind)} if is_dataclass(kind) else {}
    if "kind" not in own:
        return None
    for family in sorted(each.name for each in MODELS.iterdir() if each.is_dir()):
        page = f"{family}/{own['kind'].default}"
        if name.endswith(_camel(family)) and (MODELS / f"{page}.md").is_file():
            return page
    return None


def _camel(words: str) -> str:
    return "".join(part.capitalize() for part in words.split("_"))


def _linked(text: str) -> str:
    """Returns the text with links from public names to their entries."""

    def link(found: re.Match[str]) -> str:
        name = found[1].removesuffix("()")
        return f"[{found[0]}][nacre.{name}]" if name in _FUNCTIONS else found[0]

    return re.sub(r"`([\w.]+(?:\(\))?)`", link, text)


_FUNCTIONS = frozenset(name for name in nacre.__all__ if callable(getattr(nacre, name)))


def _names(module: ModuleType) -> list[str]:
    """Returns the public names of a module: names that it lists, or its functions and classes."""
    if listed := getattr(module, "__all__", None) or (
        "__getattr__" in vars(module) and dir(module)
    ):
        return sorted(listed)
    return [
        name
        for name, item in sorted(vars(module).items())
        if not name.startswith("_")
        and getattr(item, "__module__", "") == module.__name__
        and (inspect.isfunction(item) or inspect.isclass(item))
    ]


def _doc(item: Any) -> str:
    return inspect.cleandoc(inspect.getdoc(item) or "")


def _module_doc(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "")


# Man pages.


def man_pages() -> Iterator[tuple[Path, str]]:
    """Yields a page for the command, and a page for each subcommand."""
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name="nacre")
    yield MAN / "nacre.1", _page(root, context, "nacre")
    for name, command in sorted(root.commands.items()):  # type: ignore[attr-defined]
        inner = typer.Context(command, info_name=name, parent=context)
        yield MAN / f"nacre-{name}.1", _page(command, inner, f"nacre-{name}")


def _page(command: Any, context: Any, title: str) -> str:
    said = inspect.cleandoc(command.help or "")
    lines = [
        f'.TH {title.upper()} 1 "" "nacre {nacre.__version__}" "Nacre"',
        ".SH NAME",
        f"{_roff(title)} \\- {_roff(said.split('.')[0].splitlines()[0])}",
        ".SH SYNOPSIS",
        *_command(command, context, title.replace("-", " ", 1)),
    ]
    words = getattr(command, "commands", {})
    for name, inner in sorted(words.items()):
        if title != "nacre":
            below = typer.Context(inner, info_name=name, parent=context)
            lines += [f".SH {name.upper()}", *_command(inner, below, f"{title} {name}")]
    if title == "nacre":
        lines.append(".SH COMMANDS")
        for name, inner in sorted(words.items()):
            first = inspect.cleandoc(inner.help or "").split("\n")[0]
            lines += [".TP", f".BR nacre\\-{_roff(name)} (1)", _roff(first)]
        lines += [
            ".SH EXIT STATUS",
            ".TP",
            ".B 0",
            "done",
            ".TP",
            ".B 1",
            "ran but failed: a claim missed, a point failed",
            ".TP",
            ".B 2",
            "the user's error, which is named with its place and a remedy",
        ]
    return "\n".join(lines) + "\n"


def _command(command: Any, context: Any, called: str) -> list[str]:
    pieces = " ".join(command.collect_usage_pieces(context))
    lines = [f".B {_roff(called.replace('-', ' ', 1) if ' ' not in called else called)}"]
    lines += [_roff(pieces), ".PP", *map(_roff, inspect.cleandoc(command.help or "").split("\n"))]
    for parameter in command.get_params(context):
        row = parameter.get_help_record(context)
        if row is not None:
            lines += [".TP", f".B {_roff(row[0])}", _roff(" ".join(row[1].split()) or "-")]
    return lines


def _roff(text: str) -> str:
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


# Typed presets.


def _devices() -> dict[str, Any]:
    """Returns the catalog entries for devices."""
    return {name: e for name, e in sorted(catalog.entries().items()) if e.family == "device"}


def presets() -> str:
    """Returns `nacre/config/_presets.py`: a function per entry, with the settings of its model."""
    kinds = sorted({entry.kind for entry in _devices().values()})
    classes = {kind: _class_of(kind) for kind in kinds}
    used = "".join(_annotations(kind) for kind in classes.values())
    known = [name for name in config.__all__ if re.search(rf"\b{name}\b", used)]
    lines = [
        '"""A function for each device of the catalog, with the settings of its model.',
        "",
        "Written by `make reference`; do not edit.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import TYPE_CHECKING, Literal, TypedDict, Unpack",
        "",
        "from nacre.config.base import Preset",
        "",
        "if TYPE_CHECKING:",
        *_imported(known),
        "",
        f"__all__ = [{', '.join(repr(name) for name in _devices())}]".replace("'", '"'),
        "",
    ]
    if "Literal[" not in used:
        lines = [line.replace("Literal, ", "") for line in lines]
    for kind, cls in classes.items():
        lines += ["", f"class {_settings_of(kind)}(TypedDict, total=False):"]
        lines += [f'    """Settings of `{kind}` that override those of a preset."""', ""]
        for item in fields(cls):
            if item.name != "kind":
                lines.append(f"    {item.name}: {_plain(str(item.type))}")
        lines.append("")
    for name, entry in _devices().items():
        lines += [
            "",
            f"def {name}(**settings: Unpack[{_settings_of(entry.kind)}]) -> Preset:",
            f'    """{entry.summary[0].upper()}{entry.summary[1:].rstrip(".")}."""',
            f'    return Preset("{name}", settings)',
            "",
        ]
    return "\n".join(lines).rstrip() + "\n"


def _class_of(kind: str) -> type:
    for name in config.__all__:
        found = getattr(config, name)
        if is_dataclass(found) and name.endswith("Device") and isinstance(found, type):
            own = {item.name: item for item in fields(found)}
            if "kind" in own and own["kind"].default == kind:
                return found
    raise LookupError(kind)


def _settings_of(kind: str) -> str:
    return _camel(kind) + "Settings"


def _annotations(cls: type) -> str:
    return " ".join(str(item.type) for item in fields(cls) if item.name != "kind")


def _imported(names: Sequence[str]) -> list[str]:
    """Returns the import lines of these types in ruff's format."""
    if not names:
        return ["    pass"]
    head = "    from nacre.config._generated import"
    return [f"{head} (", *(f"        {name}," for name in names), "    )"]


def _plain(annotation: str) -> str:
    return annotation.removesuffix(" | None")


def main() -> int:
    """Writes or checks all files. Returns the exit status."""
    check = "--check" in sys.argv[1:]
    stale = [path for path, text in documents() if not path.exists() or path.read_text() != text]
    if check:
        for path in stale:
            sys.stderr.write(f"not fresh: {path.relative_to(ROOT)}; run `make reference`\n")
        return 1 if stale else 0
    for path, text in documents():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
