"""Lists models with their settings, and creates scenarios to start from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from nacre import _core
from nacre.base import toml
from nacre.errors import config_error, unknown
from nacre.scenario.catalog import entries
from nacre.scenario.examples import EXAMPLES
from nacre.scenario.source import scenarios


@dataclass(frozen=True)
class Setting:
    """A setting of a model."""

    name: str
    holds: str
    default: str | None
    """Default as text for a scenario. None if the setting is required or optional."""
    required: bool
    doc: str


@dataclass(frozen=True)
class Model:
    """A model, i.e. a possible value of a slot in a scenario."""

    family: str
    kind: str
    summary: str
    doc: str
    """Documentation of the model: what it simulates and omits, its sources, and its checks."""
    sources: tuple[str, ...]
    version: int
    settings: tuple[Setting, ...]

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `nacre describe --json` prints."""
        return {**vars(self), "settings": [vars(setting) for setting in self.settings]}


@cache
def models() -> tuple[Model, ...]:
    """All models, sorted by family."""
    families = json.loads(_core.models())["families"]
    return tuple(_model(family["name"], model) for family in families for model in family["models"])


def family(name: str | None) -> list[Model]:
    """Returns the models of a family, e.g. `replacement`. None means all families."""
    return [model for model in models() if name in (None, model.family)]


def describe(name: str) -> list[Model]:
    """Returns the models called `name`, such as `ssd` or `workload/zipf`.

    For a preset, returns its model.

    Raises `ConfigError` for an unknown name.
    """
    family, slash, kind = name.partition("/")
    if slash:
        found = [model for model in models() if (model.family, model.kind) == (family, kind)]
    else:
        found = [model for model in models() if model.kind == name]
    shipped = entries()
    if not found and name in shipped:
        entry = shipped[name]
        found = [
            model for model in models() if (model.family, model.kind) == (entry.family, entry.kind)
        ]
    if not found:
        known = [*(model.kind for model in models()), *shipped]
        problem = unknown("there is no model or preset called", name, known)
        if owners := _with_setting(name):
            problem["hint"] = f"it is a setting of {', '.join(owners)}: nacre describe {owners[0]}"
        raise config_error([problem])
    return found


def _with_setting(name: str) -> list[str]:
    """Returns the kinds of the models that have a setting of this name."""
    having = (model.kind for model in models() if name in {each.name for each in model.settings})
    return list(dict.fromkeys(having))


KINDS = {
    "envy": "envy",
    "faulty": "fail-slow",
    "hdd": "disk-15k",
    "nvram_card": "nvram-card",
    "onyx": "onyx",
    "server_cache": "server-cache-zipf",
    "ssd": "ssd",
    "tiers": "tiers",
    "zns_ssd": "zns-ssd",
}
"""Maps each kind of device to the built-in scenario to start from."""

_PLAIN = """\
# {summary}.
schema = 1
name = "{kind}"

# Serial requests of 4 KiB with skewed popularity (Zipf's law).
[workload]
kind = "zipf"
requests = 100_000
footprint = "{footprint}"
read_share = "70 %"
arrival = {{ kind = "closed", queue_depth = 1 }}

[stack]
{stack}
"""
_FOOTPRINT = "1 GiB"
_SMALL = {"envy_prototype": "64 MiB"}
"""Footprints for catalog devices whose capacity is less than the default footprint."""
_CACHE = 'kind = "{kind}"\n{size}\nbacking = {{ preset = "disk_15k" }}'
_STACKS = {
    "measured": 'preset = "pcm_ssd"',
    "mirror": 'kind = "mirror"\nmember = [{ preset = "tlc_nvme" }, { preset = "tlc_nvme" }]',
    "network": 'preset = "network_store"',
    "dram_disk_cache": _CACHE.format(kind="dram_disk_cache", size='capacity = "32 MiB"'),
    "flash_disk_cache": _CACHE.format(
        kind="flash_disk_cache", size='blocks = 512\necc = { kind = "bch", t = 4 }'
    ),
    "pcm_disk_cache": _CACHE.format(
        kind="pcm_disk_cache", size='capacity = "128 MiB"\necc = { kind = "bch", t = 4 }'
    ),
}


def stacks() -> list[str]:
    """Returns kinds of stacks to start from: kinds of devices, then devices of the catalog."""
    devices = [name for name, entry in entries().items() if entry.family == "device"]
    return list(dict.fromkeys([*(model.kind for model in family("device")), *devices]))


def new(kind: str) -> str:
    """Returns a scenario with a stack of this kind. Comments explain every setting.

    `kind` is a kind of device or a device of the catalog. Raises `ConfigError` for other names.
    """
    if kind not in stacks():
        known = [*stacks(), *EXAMPLES]
        problem = unknown("unknown kind of stack, device, or example", kind, known)
        raise config_error([problem])
    entry = None if _is_device(kind) else entries()[kind]
    model = next(each for each in family("device") if each.kind == (entry.kind if entry else kind))
    if kind in KINDS:
        text = next(row.text for row in scenarios() if row.name == KINDS[kind])
    elif entry:
        text = _plain(entry.summary, kind, f'preset = "{kind}"')
    else:
        summary = model.summary[0].upper() + model.summary[1:]
        text = _plain(summary, kind, _STACKS[kind])
    lines = text.rstrip().split("\n")
    place = lines.index("[stack]") + 2
    given = _given_settings(lines[place:])
    preset = lines[place - 1].partition("=")[2].strip(' "')
    offered = _offered(model, given, _cataloged(preset))
    return "\n".join([*lines[:place], *offered, *lines[place:]]) + "\n"


def _plain(summary: str, kind: str, stack: str) -> str:
    """Returns a scenario with a block workload for a stack."""
    footprint = _SMALL.get(kind, _FOOTPRINT)
    return _PLAIN.format(summary=summary, kind=kind, stack=stack, footprint=footprint)


def _is_device(kind: str) -> bool:
    """Returns whether a device model has this name. Ignores the catalog."""
    return any(model.kind == kind for model in family("device"))


def _cataloged(preset: str) -> dict[str, str]:
    """Returns the values of a preset as text for a scenario.

    Returns an empty dictionary for other names.
    """
    entries = json.loads(_core.catalog())
    found: list[dict[str, Any]] = next(
        (entry["values"] for entry in entries if entry["name"] == preset), []
    )
    return {value["path"]: toml.value(value["value"]) for value in found}


def _given_settings(lines: Sequence[str]) -> set[str]:
    """Returns the settings that a scenario sets in the table of the stack or in nested tables."""
    found = set()
    is_own = True
    for line in lines:
        if line.startswith("["):
            is_own = False
            if line.strip("[]").startswith("stack."):
                found.add(line.strip("[]").split(".")[1])
        elif is_own and "=" in line and not line.startswith("#"):
            found.add(line.split("=")[0].strip())
    return found


def _offered(model: Model, given: set[str], preset: Mapping[str, str]) -> Iterator[str]:
    """Yields the settings that the scenario does not set, as comments.

    To set one of them, the user removes the `#`.
    """
    yield "# Other settings with their current values:"
    for setting in model.settings:
        if setting.name not in given and "." not in setting.name:
            value = preset.get(setting.name) or setting.default or f"...  ({setting.holds})"
            yield f"#{setting.name} = {value}  # {setting.doc}"


def _model(family: str, model: Mapping[str, Any]) -> Model:
    return Model(
        family=family,
        kind=model["kind"],
        summary=model["summary"],
        doc=model["doc"],
        sources=tuple(model["sources"]),
        version=model["model_version"],
        settings=tuple(_settings(model["fields"])),
    )


def _settings(fields: Sequence[Mapping[str, Any]], before: str = "") -> Iterator[Setting]:
    for field in fields:
        default = None if field["default"] is None else toml.value(field["default"])
        bounds = [
            f"{word} {field[key]}"
            for key, word in (("min", "at least"), ("max", "at most"))
            if field[key] is not None
        ]
        yield Setting(
            name=f"{before}{field['name']}",
            holds=", ".join([_holds(field["shape"]), *bounds]),
            default=default,
            required=field["required"],
            doc=" ".join(field["doc"].split()),
        )
        if inner := _inner(field["shape"]):
            dots = "[]." if _is_list(field["shape"]) else "."
            yield from _settings(inner, f"{before}{field['name']}{dots}")


def _holds(shape: Mapping[str, Any]) -> str:
    match shape["is"]:
        case "quantity":
            return str(shape["of"])
        case "integer":
            return "a whole number"
        case "number":
            return "a number"
        case "flag":
            return "true or false"
        case "choice":
            return " or ".join(word["word"] for word in shape["words"])
        case "slot":
            return f"a {shape['family']}"
        case "count_or":
            return f"a whole number or a {shape['family']}"
        case "kinds":
            return f"{' or '.join(kind['kind'] for kind in shape['kinds'])}, or a table with `kind`"
        case "list":
            return f"a list of {_holds(shape['of'])}"
        case "optional":
            return _holds(shape["of"])
    return str(shape["is"])


def _inner(shape: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Returns the settings of a table, of the tables in a list, or of all kinds of a model."""
    if shape["is"] in ("list", "optional"):
        return _inner(shape["of"])
    if shape["is"] == "kinds":
        own = [field for kind in shape["kinds"] for field in kind["fields"]]
        return list({field["name"]: field for field in own}.values())
    fields: Sequence[Mapping[str, Any]] = shape["fields"] if shape["is"] == "table" else ()
    return fields


def _is_list(shape: Mapping[str, Any]) -> bool:
    return shape["is"] == "list" or (shape["is"] == "optional" and _is_list(shape["of"]))
