"""Converts prices between currencies. The user provides the factors.

`{"USD 2009": "1.42 USD 2023"}` means that 1 USD of 2009 is worth 1.42 USD of 2023. A converted
price is an ordinary setting. The record therefore contains the price, its currency, and their
origins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

from nacre.base import toml
from nacre.errors import Problem, config_error
from nacre.scenario.source import Source, parsed

Prices: TypeAlias = Mapping[str, str]
"""Maps each currency to a factor and a target currency."""

_FACTOR = re.compile(r"\s*(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s+(\S.*?)\s*\Z")
_PRICE = re.compile(r"\s*([\d_.]+(?:[eE][+-]?\d+)?)\s*(/\s*\S+)\s*\Z")


def conversions(resolved: Mapping[str, Any], prices: Prices | None) -> list[tuple[str, str]]:
    """Returns the settings that convert the prices of a resolved scenario.

    Raises `ConfigError` if a factor is missing or invalid.
    """
    if not prices:
        return []
    factors = {basis: _factor(basis, given) for basis, given in prices.items()}
    found = list(_priced(resolved.get("stack", {}), "stack"))
    problems = [
        Problem(
            code="missing-setting",
            path=f"{path}.price_basis",
            problem=f'there is no factor from "{table.get("price_basis") or ""}"',
            hint=f"give one next to {', '.join(factors)}, or price and price_basis of the device",
        )
        for path, table in found
        if table.get("price_basis") not in {*factors, *(to for _, to in factors.values())}
    ]
    if problems:
        raise config_error(problems)
    settings = []
    for path, table in found:
        basis = table["price_basis"]
        if basis not in factors:
            continue
        factor, to = factors[basis]
        for key, value in table.items():
            if key.endswith("price") and (price := _PRICE.match(str(value))):
                number = Decimal(price[1].replace("_", "")) * factor
                settings.append((f"{path}.{key}", toml.value(f"{number:f} {price[2]}")))
        settings.append((f"{path}.price_basis", toml.value(to)))
    return settings


def priced(source: Source, settings: list[tuple[str, str]], prices: Prices | None) -> None:
    """Appends converted prices to the settings of a scenario."""
    if prices:
        with source.cited():
            text = parsed(source).resolve(settings)
        settings += conversions(json.loads(text), prices)


def given(texts: list[str] | None) -> dict[str, str]:
    """Parses the options `--prices`, such as `USD 2009=1.42 USD 2023`.

    Raises `ConfigError` for invalid text.
    """
    found = {}
    for text in texts or []:
        basis, equals, factor = text.partition("=")
        if not equals or not basis.strip():
            raise config_error([_wrong("--prices", text)])
        found[basis.strip()] = factor.strip()
    return found


def _factor(basis: str, text: str) -> tuple[Decimal, str]:
    matched = _FACTOR.match(text) if isinstance(text, str) else None
    if matched is None or Decimal(matched[1]) == 0:
        raise config_error([_wrong(f'prices."{basis}"', text)])
    return Decimal(matched[1]), matched[2]


def _wrong(path: str, text: object) -> Problem:
    return Problem(
        code="invalid-value",
        path=path,
        problem="it is not a factor and a currency",
        given=str(text),
        hint='write it as "USD 2009=1.42 USD 2023"',
    )


def _priced(value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields every table of a stack that has a price, with its path."""
    if isinstance(value, Mapping):
        if any(key.endswith("price") and _PRICE.match(str(item)) for key, item in value.items()):
            yield path, value
        for key, inner in value.items():
            yield from _priced(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _priced(inner, f"{path}[{number}]")
