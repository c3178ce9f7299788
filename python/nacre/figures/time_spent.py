"""Figure of the latency breakdown of an average request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import altair as alt

from nacre.base.text import duration, percent
from nacre.errors import Error
from nacre.figures import theme
from nacre.figures.axes import TIME_LABEL
from nacre.figures.latency import fastest
from nacre.figures.stacked import Bars, Row, in_line
from nacre.results.record import Activity, Op, Record

_SMALL = 0.01
"""Share of a bar below which a part is combined into the part "other"."""
_LABELED = 0.09
_OTHER = "other"


def time_spent(
    records: Sequence[Record], ops: Sequence[Op], names: Sequence[str] | None = None
) -> alt.LayerChart:
    """Plots a bar per record and kind of request, divided by component and activity."""
    names = theme.names(names or [record.name for record in records])
    segments = _segments(records, ops, names)
    if not segments:
        raise Error("there is no time to draw: no request completed", "no-data")
    parts = _order(records, segments)
    colors = _colors(parts, segments)
    for segment in segments:
        segment["ink"] = theme.ink_on(colors[segment["part"]])
        segment["middle"] = (segment["start_ns"] + segment["end_ns"]) / 2
    longest = max(segment["end_ns"] for segment in segments)
    x = (
        alt.X("start_ns:Q", title="mean time per request")
        .scale(domain=[0, longest * 1.12], nice=False)
        .axis(tickCount=8, grid=False, labelExpr=TIME_LABEL)
    )
    y = alt.Y("bar:N", title=None).scale(paddingInner=0.35).axis(grid=False, labelLimit=260)
    bars = Bars(segments, y, "_ns")
    where = [("part", "where"), ("said", "mean"), ("percent", "share")]
    tooltip = [alt.Tooltip(f"{name}:N", title=title) for name, title in where]
    ordered = {part: colors[part] for part in parts}
    blocks = bars.blocks(x, "part", ordered, tooltip, columns=3, symbolStrokeWidth=0)
    inside = bars.inside(f"(datum.end_ns - datum.start_ns) > {_LABELED * longest}", "percent:N")
    chart = alt.layer(blocks, inside, bars.totals()).properties(
        title=_title(records, names, ops), width=theme.WIDTH, height=24 + 36 * len(bars.names)
    )
    return theme.themed(cast("alt.LayerChart", chart))


def _segments(records: Sequence[Record], ops: Sequence[Op], names: Sequence[str]) -> list[Row]:
    segments: list[Row] = []
    for op in ops:
        for record, name in zip(records, names, strict=True):
            if not record.time_spent[op]:
                continue
            bar = f"{op}s" if len(records) == 1 else name if len(ops) == 1 else f"{name}, {op}s"
            segments += _bar(bar, op, record)
    return segments


def _bar(bar: str, op: Op, record: Record) -> list[Row]:
    """Returns the parts of one bar, in the order from the host to the medium.

    Small parts are combined at the end.
    """
    place = {component.path: i for i, component in enumerate(record.components)}
    spent: Sequence[Activity] = record.time_spent[op]
    large = [part for part in spent if part.share >= _SMALL]
    large.sort(key=lambda part: (place.get(part.component, len(place)), part.activity))
    pieces = [(_name(part), part.mean_ns, part.share) for part in large]
    rest = [part for part in spent if part.share < _SMALL and part.mean_ns > 0]
    if rest:
        pieces.append((_OTHER, sum(p.mean_ns for p in rest), sum(p.share for p in rest)))
    segments = in_line(
        (
            {
                "bar": bar,
                "op": op,
                "part": part,
                "mean_ns": mean_ns,
                "said": duration(mean_ns),
                "share": share,
                "percent": percent(share),
            }
            for part, mean_ns, share in pieces
        ),
        "mean_ns",
        "_ns",
    )
    for last in segments[-1:]:
        last["total"] = duration(last["end_ns"])
    return segments


def _name(part: Activity) -> str:
    return f"{part.component}: {part.activity}"


def _order(records: Sequence[Record], segments: Sequence[Row]) -> list[str]:
    """Returns the parts in the order from the host to the medium. "other" is last."""
    place: dict[str, int] = {}
    for record in records:
        for component in record.components:
            place.setdefault(component.path, len(place))
    found = dict.fromkeys(str(segment["part"]) for segment in segments)
    return sorted(
        found,
        key=lambda part: (part == _OTHER, place.get(part.rpartition(": ")[0], len(place)), part),
    )


def _colors(parts: Sequence[str], segments: Sequence[Row]) -> Mapping[str, str]:
    """Assigns a hue to each component. Activities that take more time have darker shades."""
    taken = dict.fromkeys(parts, 0.0)
    for segment in segments:
        taken[str(segment["part"])] += float(segment["mean_ns"])
    hues: dict[str, str] = {}
    for part in parts:
        component = part.rpartition(": ")[0]
        if component:
            hues.setdefault(component, theme.PALETTE[len(hues) % len(theme.PALETTE)])
    used: dict[str, int] = {}
    colors = {_OTHER: theme.GRAY}
    for part in sorted(parts, key=lambda part: -taken[part]):
        component = part.rpartition(": ")[0]
        if component:
            colors[part] = theme.shade(hues[component], min(0.3 * used.get(component, 0), 0.75))
            used[component] = used.get(component, 0) + 1
    return colors


def _title(records: Sequence[Record], names: Sequence[str], ops: Sequence[Op]) -> alt.TitleParams:
    op = next(op for op in ops if any(record.time_spent[op] for record in records))
    what = "mean time per request by component and activity"
    if len(records) == 1:
        return theme.title(_most(records[0], op), f"{records[0].name}: {what}")
    return theme.title(fastest(records, names, op)[0], f"{len(records)} systems: {what}")


def _most(record: Record, op: Op) -> str:
    """Returns text about the component in which requests of one kind spend most of their time.

    The time of a component includes the small parts that the figure combines.
    """
    spent: Sequence[Activity] = record.time_spent[op]
    by_component: dict[str, float] = {}
    for part in spent:
        by_component[part.component] = by_component.get(part.component, 0.0) + part.mean_ns
    whole = sum(by_component.values())
    where = max(by_component, key=by_component.__getitem__)
    own = [part for part in spent if part.component == where]
    most = max(own, key=lambda part: part.mean_ns)
    activity = most.activity.replace("_", " ")
    share = percent(most.mean_ns / whole)
    if len([taken for taken in by_component.values() if taken > 0]) == 1:
        return f"{share} of {op} time is {activity}"
    spent_there = f"{percent(by_component[where] / whole)} of {op} time is in {where}"
    return spent_there if len(own) == 1 else f"{spent_there}; {share} is its {activity}"


def of_record(record: Record) -> alt.LayerChart:
    """Plots the latency breakdown of one record."""
    both: tuple[Op, ...] = ("read", "write")
    return time_spent([record], ops=[op for op in both if record.latency[op]] or both)
