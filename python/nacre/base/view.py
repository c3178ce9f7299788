"""Read-only access to JSON documents, by key or by attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from nacre.errors import nearest


class View(Mapping[str, Any]):
    """A JSON object. `view["latency"]["read"]` and `view.latency.read` return the same value.

    Subclasses declare known fields for editors and type checkers. `parts` maps fields to the
    classes of their values. Undeclared fields remain accessible.
    """

    __slots__ = ("_data",)
    parts: ClassVar[Mapping[str, type[View]]] = {}

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def __getitem__(self, key: str) -> Any:
        return self._wrap(self._data[key], self.parts.get(key, View))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            hint = self._elsewhere(name) or nearest(name, self._data)
            meant = f"; did you mean {hint!r}?" if hint else ""
            known = ", ".join(self._data)
            raise AttributeError(f"no field {name!r}{meant} (fields: {known})") from None

    def _elsewhere(self, name: str) -> str | None:
        """Suggests an existing name for an unknown field, or returns None.

        The suggestion is a plural, a nested field such as `throughput.iops`, or a method whose name
        starts with the unknown name.
        """
        if f"{name}s" in dir(type(self)):
            return f"{name}s"
        for key, value in self._data.items():
            if isinstance(value, Mapping) and name in value:
                return f"{key}.{name}"
        own = (key for key in dir(type(self)) if key.startswith(f"{name}_"))
        return next((f"{key}()" for key in own), None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, View):
            return bool(self._data == other._data)
        return bool(self._data == other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        fields = ", ".join(f"{key}={self[key]!r}" for key in self._data)
        return f"{type(self).__name__}({fields})"

    def to_dict(self) -> dict[str, Any]:
        """Returns a plain copy of the data."""
        return {key: _plain(value) for key, value in self._data.items()}

    @staticmethod
    def _wrap(value: Any, kind: type[View]) -> Any:
        if isinstance(value, Mapping):
            return kind(value)
        if isinstance(value, list):
            return tuple(View._wrap(item, kind) for item in value)
        return value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
