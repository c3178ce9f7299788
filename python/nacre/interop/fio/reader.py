"""Reads the settings of a job. Settings that remain unread have no equivalent."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from nacre.base.text import printable
from nacre.errors import Code, Problem
from nacre.interop.fio import numbers
from nacre.interop.fio.grammar import Section, Setting
from nacre.interop.fio.numbers import Percent
from nacre.interop.fio.options import SILENT

_EXPANDED = re.compile(r"\$|^\(")
_OFF = {"0", "none", "off"}


@dataclass
class Reader:
    """Reads settings. Collects errors, and notes on options without an equivalent."""

    path: str
    section: Section
    capacity: int | None
    """Capacity of the scenario's device in bytes, or `None` if it is unlimited."""
    problems: list[Problem] = field(default_factory=list)
    without: list[str] = field(default_factory=list)

    @property
    def settings(self) -> dict[str, Setting]:
        """Settings that are not read yet."""
        return self.section.settings

    def take(self, key: str) -> Setting | None:
        """Returns the unparsed value and the line of a setting, and marks the setting as read.

        Returns None if it is not set.
        """
        return self.settings.pop(key, None)

    def word(self, key: str, default: str = "") -> str:
        """Returns a setting as text."""
        found = self.take(key)
        return default if found is None else found.value.strip()

    def flag(self, key: str) -> bool:
        """Returns whether a switch is on, i.e. given without a value or with a nonzero number."""
        found = self.take(key)
        return found is not None and found.value.strip() != "0"

    def count(self, key: str, default: int, least: int = 1, most: int | None = None) -> int:
        """Returns a setting as a whole number. As in fio, units of sizes are allowed."""
        found = self.take(key)
        if found is None:
            return default
        number = self._number(key, found, found.value, "a whole number", "e.g. 32")
        if isinstance(number, Percent):
            self.wrong(
                "invalid-value",
                key,
                "a percentage is not a whole number",
                f"write {key}={least}",
                found,
            )
        if number is None or isinstance(number, Percent):
            return default
        if number < least or (most is not None and number > most):
            limit = f"at least {least}" + ("" if most is None else f" and at most {most}")
            self.wrong(
                "out-of-range", key, f"it is out of range: {limit}", f"write {key}={least}", found
            )
            return default
        return number

    def size(self, key: str, whole: int | None, of: str) -> int | None:
        """Returns a setting as a number of bytes.

        A percentage refers to `whole`, the size of the item named `of`.
        """
        found = self.take(key)
        if found is None:
            return None
        number = self._number(key, found, found.value, "a size", "e.g. 4k, 1g or 40%")
        if isinstance(number, Percent):
            if whole is None:
                hint = f"write bytes, e.g. {key}=1g, or choose another --stack"
                self.wrong(
                    "invalid-value",
                    key,
                    f"a percentage needs the size of {of}, which is unknown",
                    hint,
                    found,
                )
                return None
            if number > 100:
                self.wrong("out-of-range", key, "it is more than 100 %", f"write {key}=100%", found)
                return None
            return whole * number // 100
        return number

    def each(self, key: str, what: str, example: str) -> list[int | None]:
        """Returns the numbers for reads, writes, and trims. `None` means fio's default."""
        found = self.take(key)
        if found is None:
            return [None] * 3
        if not found.value.strip(","):
            self.wrong("invalid-value", key, f"it is not {what}", f"write {example}", found)
        values: list[int | None] = []
        for part in numbers.spread(numbers.listed(found.value)):
            number = None if part is None else self._number(key, found, part, what, example)
            if isinstance(number, Percent):
                self.wrong(
                    "invalid-value", key, f"a percentage is not {what}", f"write {example}", found
                )
                number = None
            values.append(number)
        return values

    def time(self, key: str, unit: str) -> Decimal | None:
        """Returns a setting in seconds, or `None` if it is zero or not set."""
        found = self.take(key)
        if found is None:
            return None
        value = numbers.seconds(found.value, unit)
        if value is None:
            self.wrong(
                "invalid-value",
                key,
                "it is not a time",
                "write a whole number, e.g. 60 or 60s",
                found,
            )
        return value or None

    def _number(
        self, key: str, setting: Setting, text: str, what: str, example: str
    ) -> int | Percent | None:
        number = numbers.size(text, setting.kb_base)
        if number is None and _EXPANDED.search(text):
            problem = "fio computes it when it starts, so its value is unknown"
            self.wrong("not-supported", key, problem, f"write the number, {example}", setting)
        elif number is None:
            hint = f"write a whole number with its unit and without blanks, {example}"
            self.wrong("invalid-value", key, f"it is not {what}", hint, setting)
        return number

    def wrong(
        self, code: Code, key: str, problem: str, hint: str, given: Setting | None = None
    ) -> None:
        """Records an error in a setting."""
        at = f":{given.line}" if given is not None else ""
        found = Problem(
            code=code,
            path=f"{self.path}{at} [{self.section.name}] {key}",
            problem=problem,
            hint=hint,
        )
        if given is not None:
            found["given"] = f'"{printable(given.value)}"'
        self.problems.append(found)

    def no(self, key: str, what: str) -> None:
        """Records an option without an equivalent."""
        self.without.append(f"{key}: {what}")

    def leftovers(self) -> None:
        """Records unread settings that affect requests as options without an equivalent."""
        for key, setting in self.settings.items():
            value = setting.value.strip()
            if key not in SILENT and value not in _OFF:
                self.no(key, f'"{printable(value)}"' if value else "it is set")
