"""Axes of a study: lists, ranges, log ranges, values that change together, and conditions."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

from nacre.base import quantity
from nacre.base.quantity import Quantity
from nacre.errors import Code
from nacre.studies.spec.entry import Entry, brief

Label: TypeAlias = "str | int | float | bool"
Number: TypeAlias = "int | float"

VALUES_MAX = 100_000
_SCALAR = (str, int, float, bool)
_NUMBER = (int, float, str)
_PLACE = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Choice:
    """A value of an axis, with its label and its settings."""

    label: Label
    settings: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True)
class Span:
    """A continuous range for a search, of numbers or of quantities in base units."""

    path: str
    low: float
    high: float
    log: bool
    whole: bool
    example: Quantity | None = None
    step: Quantity | None = None

    def choice(self, number: Number) -> Choice:
        """Returns the choice for a number within the range."""
        if self.example is None:
            return Choice(number, {self.path: number})
        text = quantity.like(Decimal(repr(float(number))), self.example, self.step).text()
        return Choice(text, {self.path: text})

    def ends(self) -> tuple[Choice, Choice]:
        """Returns both ends of the range."""
        if self.whole:
            return self.choice(int(self.low)), self.choice(int(self.high))
        return self.choice(self.low), self.choice(self.high)


Chosen = Mapping[str, "Choice | None"]
"""A combination: the choice for each axis, or None if the axis does not apply."""


@dataclass(frozen=True)
class Axis:
    """An axis, which consists of choices or of a range.

    It may apply only for some labels of earlier axes.
    """

    name: str
    choices: tuple[Choice, ...]
    span: Span | None
    when: Mapping[str, tuple[Label, ...]] = field(hash=False)
    where: str
    condition: bool = False
    """Whether the axis is a condition, e.g. the workload. Designs are compared only within equal
    conditions."""

    def applies(self, labels: Mapping[str, Label | None]) -> bool:
        """Returns whether the axis applies for these labels of earlier axes."""
        return all(labels.get(name) in allowed for name, allowed in self.when.items())

    @property
    def samples(self) -> tuple[Choice, ...]:
        """The choices, or both ends of the range."""
        return self.span.ends() if self.span else self.choices

    @cached_property
    def first(self) -> Choice | None:
        """First choice, or the lower end of the range. None if there are no choices."""
        return next(iter(self.samples), None)

    @cached_property
    def by_label(self) -> Mapping[Label, Choice]:
        """For each label, the first choice that has this label."""
        return {choice.label: choice for choice in reversed(self.samples)}

    @cached_property
    def types(self) -> frozenset[type]:
        """Types of the labels."""
        return frozenset(type(choice.label) for choice in self.samples)

    @cached_property
    def base(self) -> str | None:
        """Base unit of the labels if all of them are quantities of one kind, otherwise None."""
        found = [quantity.maybe(choice.label) for choice in self.samples]
        bases = {None if each is None else each.base for each in found}
        return bases.pop() if len(bases) == 1 else None


def read(entry: Entry, *, search: bool, taken: Collection[str] = ()) -> Axis | None:
    """Parses an axis from a table. If there are errors, records them and returns None.

    `taken` contains the names of other columns.
    """
    before = len(entry.errors.found)
    path = entry.take("path", str, "the path of a setting, as in `nacre run --set`", "")
    name = entry.take("name", str, "a name", _name_of(path, taken))
    choices, span = _extent(entry, path, search=search)
    when = _when(entry)
    condition = entry.take("condition", bool, "true or false", False)
    entry.done()
    if condition and search:
        entry.wrong(
            "conflicting-settings",
            "condition",
            "a search chooses the values of its axes, and a condition is given",
            "run a search for each condition, or remove [search]",
        )
    if not name:
        entry.wrong(
            "missing-setting",
            "name",
            "it is missing: give a name for the axis, or the path it sets",
        )
    _unlike(entry, choices)
    if len(entry.errors.found) > before:
        return None
    return Axis(name, choices, span, when, entry.where(), condition)


def _extent(entry: Entry, path: str, *, search: bool) -> tuple[tuple[Choice, ...], Span | None]:
    """Parses the values of an axis, given in one of several forms."""
    values = entry.take("values", (list, tuple), "a list")
    moving = entry.take("zip", Mapping, "a table of paths and lists of one length")
    linear = entry.take("range", Mapping, "a table such as { from = 1, to = 8, step = 1 }")
    log = entry.take("log", Mapping, 'a table such as { from = "1 MiB", to = "1 GiB", points = 6 }')
    forms = ("values", "zip", "range", "log")
    given = [key for key in forms if key in entry.table]
    if len(given) != 1:
        said = " and ".join(given) if given else "no values"
        entry.wrong("conflicting-settings", "", f"it has {said}", f"give one of {', '.join(forms)}")
        return (), None
    if moving is not None:
        return _zipped(entry, moving), None
    if values is not None:
        return _values(entry, values, path), None
    table = linear if log is None else log
    if table is None:
        return (), None
    if not path:
        entry.wrong("missing-setting", "path", "it is missing: say which setting the range is for")
        return (), None
    return _Range(entry, given[0], table, path).read(search=search)


def _values(entry: Entry, values: Sequence[Any], path: str) -> tuple[Choice, ...]:
    """Parses a list of values at the path of the axis.

    An item may be a table with `label`, `value`, and `set`.
    """
    if not values:
        entry.wrong("missing-setting", "values", "it is empty: there is nothing to study")
    choices = []
    for item in values:
        if isinstance(item, Mapping) and not item.keys() - {"label", "value", "set"} and item:
            choices.append(_spelled(entry, item, path))
        elif not path:
            entry.wrong(
                "missing-setting", "path", "it is missing: say which setting the values are for"
            )
            return ()
        elif isinstance(item, _SCALAR):
            choices.append(Choice(item, {path: item}))
        elif isinstance(item, Mapping | list | tuple):
            choices.append(Choice(brief(item), {path: item}))
        else:
            entry.wrong("wrong-type", "values", "expected a value of a setting", given=item)
    return tuple(choices)


def _spelled(entry: Entry, item: Mapping[str, Any], path: str) -> Choice:
    value, label, settings = item.get("value"), item.get("label"), item.get("set", {})
    if not isinstance(settings, Mapping):
        entry.wrong(
            "wrong-type", "values", "set is not a table of paths and values", given=settings
        )
        settings = {}
    if value is not None and not path:
        entry.wrong(
            "missing-setting", "path", "it is missing: say which setting the values are for"
        )
    if label is None:
        label = value if isinstance(value, _SCALAR) else None if value is None else brief(value)
    if not isinstance(label, _SCALAR):
        entry.wrong("invalid-value", "values", "it needs a value or a label", given=item)
        label = ""
    own = {} if value is None else {path: value}
    return Choice(label, {**own, **settings})


def _zipped(entry: Entry, moving: Mapping[str, Any]) -> tuple[Choice, ...]:
    """Parses settings that change together.

    Each choice consists of the values at one index of all lists.
    """
    rows = {path: row for path, row in moving.items() if isinstance(row, list | tuple)}
    if len(rows) < len(moving) or len({len(row) for row in rows.values()}) != 1:
        lengths = {path: len(row) for path, row in rows.items()}
        entry.wrong(
            "invalid-value",
            "zip",
            "its lists differ in length, or are none",
            given=lengths or moving,
        )
        return ()
    labels = entry.take("labels", (list, tuple), "a list of labels")
    count = len(next(iter(rows.values())))
    if not count:
        entry.wrong("missing-setting", "zip", "its lists are empty: there is nothing to study")
    if labels is not None and len(labels) != count:
        entry.wrong("invalid-value", "labels", f"there are {count} values", given=labels)
        return ()
    together = list(zip(*rows.values(), strict=True))
    said = labels or [", ".join(i if isinstance(i, str) else brief(i) for i in t) for t in together]
    return tuple(
        Choice(label, dict(zip(rows, items, strict=True)))
        for label, items in zip(said, together, strict=True)
    )


class _Range:
    """Parses `range` or `log`, i.e. numbers or quantities between two ends."""

    def __init__(self, entry: Entry, key: str, table: Mapping[str, Any], path: str) -> None:
        self._axis, self._key, self._path = entry, key, path
        self._log = key == "log"
        self._entry = Entry(table, entry.errors)
        self._sound = True

    def read(self, *, search: bool) -> tuple[tuple[Choice, ...], Span | None]:
        low, high = self._end("from"), self._end("to")
        step = self._entry.take("factor" if self._log else "step", _NUMBER, "a number")
        points = self._entry.take("points", int, "a whole number")
        multiple = self._multiple()
        for key in self._entry.table.keys() - {
            "from",
            "to",
            "step",
            "factor",
            "points",
            "multiple",
        }:
            self._wrong(
                "unknown-setting",
                f'there is no such key "{key}"',
                "known: from, to, step or factor, points",
            )
        if low is None or high is None or not self._sound:
            return (), None
        if isinstance(low, Quantity) != isinstance(high, Quantity) or (
            isinstance(low, Quantity) and isinstance(high, Quantity) and low.base != high.base
        ):
            return self._wrong(
                "conflicting-settings",
                "its ends have different units",
                "give both with a unit, or none",
            )
        ends = _value(low), _value(high)
        if ends[0] >= ends[1] or (self._log and ends[0] <= 0):
            hint = "give the smaller one first" + (", above zero" if self._log else "")
            return self._wrong("invalid-value", "it holds nothing", hint)
        if step is None and points is None and search:
            return (), self._span(low, high, multiple)
        if (step is None) == (points is None):
            how = "factor" if self._log else "step"
            return self._wrong("conflicting-settings", f"give points or {how}, one of both")
        return self._choices(low, ends, step, points, multiple), None

    def _choices(
        self,
        low: Any,
        ends: tuple[Decimal, Decimal],
        step: Any,
        points: int | None,
        multiple: Quantity | None,
    ) -> tuple[Choice, ...]:
        numbers = self._numbers(ends, step, points)
        whole = isinstance(low, int) and (
            isinstance(step, int)
            or (points is not None and isinstance(self._entry.table["to"], int))
        )
        found = []
        for number in numbers:
            if isinstance(low, Quantity):
                text = quantity.like(number, low, multiple).text()
                found.append(Choice(text, {self._path: text}))
            else:
                plain = round(number) if whole else float(f"{number:.12g}")
                found.append(Choice(plain, {self._path: plain}))
        # Rounding may make adjacent values equal.
        return tuple({choice.label: choice for choice in found}.values())

    def _numbers(
        self, ends: tuple[Decimal, Decimal], step: Any, points: int | None
    ) -> list[Decimal]:
        low, high = ends
        if points is not None:
            if not 2 <= points <= VALUES_MAX:
                self._wrong("out-of-range", f"points are 2 to {VALUES_MAX}", "")
                return []
            shares = [Decimal(i) / (points - 1) for i in range(points)]
            if self._log:
                return [low * Decimal(float(high / low) ** float(share)) for share in shares]
            return [low + (high - low) * share for share in shares]
        each = _value(quantity.maybe(step) or step) if not _is_text(step) else None
        if each is None or each <= (1 if self._log else 0):
            self._wrong(
                "invalid-value",
                "its factor is not above 1" if self._log else "its step is not above 0",
                "",
            )
            return []
        if self._log:
            count = math.floor(math.log(float(high / low)) / math.log(float(each)) + 1e-9) + 1
        else:
            count = math.floor((high - low) / each + Decimal("1e-9")) + 1
        if count > VALUES_MAX:
            self._wrong(
                "over-limit", f"it holds more than {VALUES_MAX} values", "take larger steps"
            )
            return []
        return [low * each**i if self._log else low + each * i for i in range(count)]

    def _span(self, low: Any, high: Any, multiple: Quantity | None) -> Span:
        example = low if isinstance(low, Quantity) else None
        whole = isinstance(low, int) and isinstance(high, int)
        ends = float(_value(low)), float(_value(high))
        return Span(self._path, *ends, self._log, whole, example, multiple)

    def _end(self, key: str) -> int | float | Quantity | None:
        value = self._entry.table.get(key)
        if isinstance(value, bool) or not isinstance(value, _NUMBER):
            self._wrong("wrong-type", f"it needs a number or a quantity as its {key}", given=value)
            return None
        if not isinstance(value, str):
            return value
        try:
            return quantity.parse(value)
        except ValueError as error:
            self._wrong("invalid-value", str(error), given=value)
            return None

    def _multiple(self) -> Quantity | None:
        value = self._entry.table.get("multiple")
        found = quantity.maybe(value)
        if value is not None and found is None:
            self._wrong("invalid-value", 'multiple is not a quantity such as "4 KiB"', given=value)
        return found

    def _wrong(
        self, code: Code, problem: str, hint: str = "", given: object = None
    ) -> tuple[tuple[()], None]:
        self._sound = False
        shown = dict(self._entry.table) if given is None else given
        self._axis.wrong(code, self._key, problem, hint, given=shown)
        return (), None


def _is_text(step: Any) -> bool:
    """Returns whether the value is text that is not a quantity."""
    return isinstance(step, str) and quantity.maybe(step) is None


def _value(end: Any) -> Decimal:
    return end.value if isinstance(end, Quantity) else Decimal(repr(end))


def _when(entry: Entry) -> Mapping[str, tuple[Label, ...]]:
    table = entry.take("when", Mapping, "a table of axes and labels", {})
    return {
        name: tuple(labels) if isinstance(labels, list | tuple) else (labels,)
        for name, labels in table.items()
    }


def _unlike(entry: Entry, choices: Sequence[Choice]) -> None:
    seen: set[tuple[type, Label]] = set()
    for choice in choices:
        if (type(choice.label), choice.label) in seen:
            entry.wrong(
                "duplicate-name", "", "two of its values have the same label", given=choice.label
            )
        seen.add((type(choice.label), choice.label))


def _name_of(path: str, taken: Collection[str]) -> str:
    """Returns a short name for a path.

    The name is e.g. `capacity`, or `device_capacity` if `capacity` is taken.
    """
    *before, last = _PLACE.sub("", path).split(".")
    return "_".join([*before[-1:], last]) if last in taken else last
