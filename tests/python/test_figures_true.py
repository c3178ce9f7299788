"""Checks that the titles and axes of figures describe their runs correctly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import Any
from xml.etree import ElementTree

import altair as alt
import nacre
import pytest
from drawing import makers
from nacre.base.text import with_unit
from nacre.figures import export
from nacre.kinds.reports import report
from nacre.results.record import Record

SMALL = {
    "name": "small",
    "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 200},
    "stack": {"kind": "measured", "capacity": "1 MiB", "read": "10 us", "write": "20 us"},
}


def headline(chart: alt.TopLevelMixin) -> str:
    text: str = chart.to_dict()["title"]["text"]
    return text


def words(chart: alt.TopLevelMixin) -> set[str]:
    """Returns every text in a figure."""
    drawing = ElementTree.fromstring(export.svg(chart))
    texts = drawing.iter("{http://www.w3.org/2000/svg}text")
    return {(text.text or "").strip() for text in texts}


def spending(parts: Sequence[tuple[str, str, float]], name: str = "made up") -> Record:
    """Returns a record with reads of 100 us and these shares by component and activity."""
    run = nacre.run(SMALL)
    spent = [
        {"component": component, "activity": activity, "mean_ns": 1e5 * share, "share": share}
        for component, activity, share in parts
    ]
    data: dict[str, Any] = run.to_dict()
    data["time_spent"] = {"read": spent, "write": []}
    data["latency"]["read"] |= {"mean_ns": 1e5 * sum(share for _, _, share in parts)}
    return Record(data | {"name": name}, dict(run.columns))


def test_parts_too_small_to_draw_count_in_the_title_of_the_latency_breakdown() -> None:
    many = [("stack.b", f"step {n}", 0.008) for n in range(50)]
    folded = spending([("stack.a", "read", 0.35), ("stack.c", "read", 0.25), *many])
    assert (
        headline(folded.plot.time_spent())
        == "40.0 % of read time is in stack.b; 0.8 % is its step 0"
    )


def test_the_title_of_a_stack_of_one_component_names_what_it_does() -> None:
    one = spending([("stack", "queue", 0.6), ("stack", "read", 0.376), ("stack", "link", 0.024)])
    assert headline(one.plot.time_spent()) == "60.0 % of read time is queue"
    two = spending([("stack", "queue", 0.3), ("stack", "read", 0.3), ("stack.b", "read", 0.4)])
    assert headline(two.plot.time_spent()) == "60.0 % of read time is in stack; 30.0 % is its queue"


def test_times_of_several_systems_are_not_added() -> None:
    slow = spending([("stack.a", "read", 9.0), ("stack.b", "read", 1.0)])
    fast = spending([("stack.a", "read", 0.1), ("stack.b", "read", 0.9)])
    chart = nacre.compare({"slow": slow, "fast": fast}).plot.time_spent()
    assert headline(chart) == "fast has the fastest reads: 100 us on average"
    assert "%" not in str(chart.to_dict()["title"])


@pytest.mark.parametrize(
    ("latency", "ticks"),
    [("1200 s", {"200 s", "1,200 s"}), ("30 us", {"5 us", "30 us"}), ("4 ms", {"1 ms", "4 ms"})],
)
def test_the_axis_of_the_latency_breakdown_has_a_suitable_unit(
    latency: str, ticks: set[str]
) -> None:
    record = nacre.run(SMALL, {"stack.read": latency, "workload.read_share": "100 %"})
    drawn = words(record.plot.time_spent())
    assert ticks <= drawn
    assert not {text for text in drawn if text.endswith("000,000")}


@pytest.mark.parametrize("tiers", [2, 3])
def test_the_mean_latency_of_mixes_has_a_suitable_unit(tiers: int) -> None:
    presets = ["pcm_ssd", "emlc_ssd", "disk_15k_kim"][:tiers]
    stack = {
        "kind": "tiers",
        "capacity": "1 GiB",
        "extent": "64 MiB",
        "placement": {"kind": "static_optimal"},
        "tier": [{"share": 1 / tiers, "device": {"preset": preset}} for preset in presets],
    }
    workload = {"kind": "zipf", "footprint": "1 GiB", "requests": 500}
    found = nacre.mixes({"workload": workload, "stack": stack}, steps=4)
    drawn = words(found.plot("mean_ns"))
    assert any(text.endswith((" us", " ms")) for text in drawn - {headline(found.plot("mean_ns"))})
    assert not any("(ns)" in text for text in drawn)


def test_recoveries_that_take_seconds_are_not_drawn_in_microseconds() -> None:
    found = nacre.crash("onyx", points=300)
    slow = nacre.results.Crash(
        found.to_dict()
        | {
            "recovery": {
                "count": 4, "mean_s": 3.0, "p50_s": 3.0, "p95_s": 3.0, "p99_s": 3.0, "max_s": 3.0,
                "bars": [[1.0, 1], [3.0, 3]],
            }
        }
    )  # fmt: skip
    drawn = words(next(iter(makers(slow).values()))())
    assert {"1 s", "3 s"} <= drawn
    assert "Half of the recoveries take at most 3.00 s, the longest 3.00 s" in drawn


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.000509, "J", "509 uJ"),
        (2.5, "J", "2.50 J"),
        (0.0042, "J", "4.20 mJ"),
        (0.0, "J", "0 J"),
        (512.0, "B/s", "512 B/s"),
        (1090.0, "B/s", "1.09 kB/s"),
        (3.2e-10, "J", "320 pJ"),
    ],
)
def test_a_unit_is_separated_from_a_number_without_prefix(
    value: float, unit: str, said: str
) -> None:
    assert with_unit(value, unit) == said


def test_the_energy_of_a_request_has_its_unit() -> None:
    page = unescape(report({"pcm": nacre.run("nvram-card", {"run.requests": 300})}))
    assert re.search(r"<td[^>]*>[0-9.]+ [num]J", page)
    assert not re.search(r"[0-9]J\b", page)


def test_the_cost_of_garbage_collection_is_drawn_over_time() -> None:
    record = nacre.run("ssd", {"workload.requests": 40_000, "run.until_steady.tolerance": "50 %"})
    (drive,) = record.components
    table = record.cleaning()
    assert drive.wear is not None
    assert table["host"].sum() == drive.wear.host
    assert table["cleaned"].sum() == drive.wear.cleaned > 0
    assert table["end_s"].is_sorted()
    assert 0 < table["end_s"][-1] <= record.simulated_s
    cost = float(table["cleaned"].sum()) / float(table["host"].sum())
    assert cost == pytest.approx(record.cleaning_cost)
    chart = record.plot.cleaning()
    assert headline(chart) == f"Garbage collection programs {cost:.2f} pages per page of host data"
    assert "pages programmed by GC per page of host data" in words(chart)
