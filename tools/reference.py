"""Writes what is generated from the Python side: the API reference, man pages, typed presets.

    .venv/bin/python tools/reference.py [--check]

With --check nothing is written, and the exit status says whether all of it is fresh.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import nacre
import typer
from nacre import catalog, config, devices, papers, policies, results, simulate, studies, traces
from nacre.cli.app import app

ROOT = Path(__file__).parent.parent
MAN = ROOT / "packaging/data/share/man/man1"
API = ROOT / "docs/api.md"
PRESETS = ROOT / "python/nacre/config/_presets.py"


def documents() -> Iterator[tuple[Path, str]]:
    """Every file that is written, with its text."""
    yield PRESETS, presets()
    yield API, api()
    yield from man_pages()


# The API reference.


def api() -> str:
    """`docs/api.md`: what `nacre` exports, with signatures and documentation."""
    lines = [
        "# Python API",
        "",
        "Everything that `import nacre` gives, from the documentation in the code; written by"
        " `make reference`.",
        "Fields of records are in [schema/record.json](../schema/record.json), settings of models"
        " in [models](models/README.md).",
        "",
        _module_doc(nacre),
    ]
    for name in sorted(nacre.__all__, key=str.lower):
        item = getattr(nacre, name)
        if not inspect.ismodule(item) and not name.startswith("__"):
            lines += _item(f"nacre.{name}", item, "##")
    for module in (results, simulate, studies, devices, traces, catalog, papers, policies):
        title = module.__name__
        lines += [f"## {title}", "", _module_doc(module), ""]
        for name in _names(module):
            item = getattr(module, name)
            if inspect.ismodule(item):
                lines += [f"### {title}.{name}", "", _module_doc(item), ""]
                for own in _names(item):
                    lines += _item(f"{title}.{name}.{own}", getattr(item, own), "####")
            else:
                lines += _item(f"{title}.{name}", item, "###")
    lines += [
        "## nacre.config",
        "",
        _module_doc(config),
        "",
        "Classes are named after the model and its family: `SsdDevice`, `ZipfWorkload`,"
        " `LruReplacement`; `Scenario` and `Run` hold them together.",
        "Functions in `nacre.config.presets` are named after the entries of the catalogue and take"
        " the settings of their model:",
        "",
        *(f"- `presets.{name}`: {entry.summary}" for name, entry in _devices().items()),
        "",
    ]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _names(module: ModuleType) -> list[str]:
    """What a module or a package gives: what it lists, or its own functions and classes."""
    if listed := getattr(module, "__all__", None) or (
        "__getattr__" in vars(module) and dir(module)
    ):
        return sorted(listed)
    return [
        name
        for name, item in sorted(vars(module).items())
        if not name.startswith("_")
        and getattr(item, "__module__", "") == module.__name__
        and (inspect.isfunction(item) or _is_class(item))
    ]


def _item(title: str, item: Any, heading: str) -> list[str]:
    lines = [f"{heading} {title}", ""]
    if signature := _signature(item):
        lines += ["```text", f"{title.rpartition('.')[2]}{signature}", "```", ""]
    lines += [_doc(item), ""]
    if _is_class(item):
        for name, member in _members(item):
            plain = member.fget if isinstance(member, property) else member
            called = "" if isinstance(member, property) else _signature(plain)
            summary = _doc(member).split("\n\n")[0].replace("\n", " ")
            lines.append(f"- `{name}{called}`: {summary}")
        lines.append("")
    return lines


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties with a word about them, of the class itself."""
    for name in vars(kind):
        member = inspect.getattr_static(kind, name)
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        is_shown = inspect.isfunction(member) or isinstance(member, property)
        is_shown = is_shown or type(member).__name__ in ("method_descriptor", "cached_property")
        if not name.startswith("_") and is_shown and inspect.getdoc(member):
            yield name, member


def _signature(item: Any) -> str:
    if isinstance(item, type) and issubclass(item, BaseException):
        return ""
    try:
        text = str(inspect.signature(item))
    except (TypeError, ValueError):
        return ""
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text).replace("typing.", "")
    text = re.sub(r"<function [\w.]*<lambda> at \w+>|<[^<>]* object at \w+>", "...", text)
    return re.sub(r"\(self(, )?", "(", text)


def _doc(item: Any) -> str:
    return inspect.cleandoc(inspect.getdoc(item) or "")


def _module_doc(module: ModuleType) -> str:
    return inspect.cleandoc(module.__doc__ or "")


def _is_class(item: Any) -> bool:
    return inspect.isclass(item)


# Man pages.


def man_pages() -> Iterator[tuple[Path, str]]:
    """One page for the command, and one for each word behind it."""
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
            "the user's mistake, which is named with its place and a remedy",
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
    """The entries of the catalogue that stand where a device does."""
    return {name: e for name, e in sorted(catalog.entries().items()) if e.family == "device"}


def presets() -> str:
    """`nacre/config/_presets.py`: a function for each entry, with the settings of its model."""
    kinds = sorted({entry.kind for entry in _devices().values()})
    classes = {kind: _class_of(kind) for kind in kinds}
    used = "".join(_annotations(kind) for kind in classes.values())
    known = [name for name in config.__all__ if re.search(rf"\b{name}\b", used)]
    lines = [
        '"""A function for each device of the catalogue, with the settings of its model.',
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
        lines += [f'    """Settings of `{kind}` over those of a preset."""', ""]
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
    return "".join(part.capitalize() for part in kind.split("_")) + "Settings"


def _annotations(cls: type) -> str:
    return " ".join(str(item.type) for item in fields(cls) if item.name != "kind")


def _imported(names: Sequence[str]) -> list[str]:
    """The lines that import these types, as ruff sorts and breaks them."""
    if not names:
        return ["    pass"]
    head = "    from nacre.config._generated import"
    return [f"{head} (", *(f"        {name}," for name in names), "    )"]


def _plain(annotation: str) -> str:
    return annotation.removesuffix(" | None")


def main() -> int:
    """Writes, or checks."""
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
