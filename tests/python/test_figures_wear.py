"""Checks that figures of wear, garbage collection, and utilization show the data of records."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nacre
import numpy as np
import pytest
from drawing import charts, drawings
from hypothesis import given
from hypothesis import strategies as st
from nacre.figures import export
from nacre.figures.axes import whole_ticks
from nacre.figures.by_block import MOST, by_component, columns, joined
from nacre.figures.time_split import COLORS
from nacre.figures.wear import histogram
from nacre.kinds.records import FIGURE_FILES
from nacre.kinds.reports import report
from nacre.results.record import IDLE, Record
from refusing import fails_with

Worn = Callable[..., Record]


def drawn(chart: Any, field: str) -> list[dict[str, Any]]:
    """Returns the rows of all data sets that have the field `field`."""
    sets = chart.to_dict()["datasets"].values()
    return [row for rows in sets for row in rows if field in row]


def heading(chart: Any) -> str:
    title = chart.to_dict()["title"]
    return "\n".join([title["text"], *title["subtitle"]])


def test_a_record_with_wear_has_every_figure_in_files_and_report(worn: Worn) -> None:
    record = worn()
    of_tiers = {"tiers.svg", "tiers.png"}
    assert [name for name, _ in drawings(record)] == [f for f in FIGURE_FILES if f not in of_tiers]
    page = report({"worn": record})
    for chart in charts(record).values():
        assert heading(chart).split(";")[0].split("\n")[0] in re.sub("&amp;", "&", page)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=3 * MOST))
def test_columns_keep_every_extreme_and_the_mean(erases: list[int]) -> None:
    values = np.array(erases, dtype=float)
    rows = columns(values)
    assert len(rows) <= MOST
    assert [row["first"] for row in rows[1:]] == [row["end"] for row in rows[:-1]]
    assert (rows[0]["first"], rows[-1]["end"]) == (0, len(erases))
    assert max(row["high"] for row in rows) == max(erases)
    assert min(row["low"] for row in rows) == min(erases)
    weighted = sum(row["mean"] * (row["end"] - row["first"]) for row in rows)
    assert weighted == pytest.approx(sum(erases))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=500))
def test_the_histogram_counts_every_block_once(erases: list[int]) -> None:
    rows = histogram(np.array(erases, dtype=float))
    assert len(rows) <= 60
    for row in rows:
        assert row["blocks"] == sum(row["from"] <= count < row["end"] for count in erases)
    assert sum(row["blocks"] for row in rows) == len(erases)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(2, 10))
def test_ticks_are_whole_and_few(low: int, span: int, about: int) -> None:
    ticks = whole_ticks(low, low + span, about)
    assert all(low <= tick <= low + span for tick in ticks)
    assert len(ticks) <= about + 1
    assert len(set(ticks)) == len(ticks)


@pytest.mark.parametrize(
    ("erases", "said"),
    [
        ([3, 5, 4, 8], "Blocks were erased 3 to 8 times, 5.00 on average"),
        ([7, 7], "Every block was erased 7 times"),
        ([1], "The only block was erased once"),
        ([0] * 64, "No block was ever erased"),
        (list(range(100_000)), "Blocks were erased 0 to 99,999 times"),
    ],
)
def test_the_wear_figure_is_drawn_for_one_block_and_for_many(
    worn: Worn, erases: Sequence[int], said: str
) -> None:
    chart = worn(erases=erases, valid_share=[0.5] * len(erases), endurance=10**6).plot.wear()
    assert heading(chart).startswith(said)
    assert sum(row["blocks"] for row in drawn(chart, "blocks")) == len(erases)
    assert ("a column is 323 blocks" in heading(chart)) == (len(erases) == 100_000)
    assert export.image(chart, "png").startswith(b"\x89PNG")


def test_the_endurance_is_drawn_if_wear_is_near_it(worn: Worn) -> None:
    assert drawn(worn(endurance=20).plot.wear(), "said")
    far = worn(endurance=10_000).plot.wear()
    assert not drawn(far, "said")
    assert "has had 8 of the 10,000 rated erase cycles" in heading(far)
    assert "rated" not in heading(worn(endurance=None).plot.wear())


def test_cleaning_is_drawn_as_steps_with_gaps(worn: Worn) -> None:
    record = worn(cost=(np.nan, 2.0, 1.5, np.nan, 3.0))
    ends = record.cleaning()["end_s"].to_list()
    points = drawn(record.plot.cleaning(), "cost")
    runs: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        runs.setdefault(point["run"], []).append((point["time"] / 1000, point["cost"]))
    assert [[cost for _, cost in run] for run in runs.values()] == [[2.0, 1.5, 1.5], [3.0, 3.0]]
    times = [time for run in runs.values() for time, _ in run]
    assert times == pytest.approx([ends[0], ends[1], ends[2], ends[3], ends[4]])


def test_figures_of_one_drive_do_not_copy_its_blocks(worn: Worn) -> None:
    record = worn()
    erases = by_component(record, "erases", None)["stack"]
    assert np.shares_memory(erases, record.columns["stack.blocks.erases"])
    assert joined({"stack": erases}) is erases


def test_blocks_are_drawn_with_their_valid_share(worn: Worn) -> None:
    chart = worn(valid_share=(0.9, 0.7, np.nan, 0.6)).plot.blocks()
    assert [(row["first"], row["high"]) for row in drawn(chart, "high")] == [
        (0, 0.9), (1, 0.7), (3, 0.6),
    ]  # fmt: skip
    assert heading(chart).startswith("73.3 % of the space of erase blocks is valid")


def test_components_have_a_panel_each_unless_one_is_selected(worn: Worn) -> None:
    record = worn(paths=("stack.level[0].device", "stack.backing"))
    assert len(record.plot.blocks().to_dict()["vconcat"]) == 2
    assert len(record.plot.wear().to_dict()["vconcat"]) == 4
    assert len(record.plot.wear("stack.backing").to_dict()["vconcat"]) == 2
    both = {point["component"] for point in drawn(record.plot.cleaning(), "cost")}
    assert both == {"stack.level[0].device", "stack.backing"}


def test_missing_data_is_not_drawn(worn: Worn) -> None:
    record = nacre.run("disk-15k", {"run.requests": 200})
    for plot in (record.plot.wear, record.plot.blocks, record.plot.cleaning):
        with fails_with("no-data"):
            plot()
    assert "cleaning" not in charts(worn(cost=(np.nan, np.nan)))
    with fails_with("no-data"):
        Record(record.to_dict() | {"drained_s": 0.0}).plot.time_split()


def test_the_time_split_draws_all_the_time_of_each_resource() -> None:
    record = nacre.run("disk-15k", {"run.requests": 500})
    chart = record.plot.time_split()
    bars: dict[str, list[dict[str, Any]]] = {}
    for row in drawn(chart, "activity"):
        bars.setdefault(row["bar"], []).append(row)
    assert list(bars) == ["stack: arm", "stack: interface"]
    for rows in bars.values():
        assert [row["start"] for row in rows[1:]] == pytest.approx(
            [row["end"] for row in rows[:-1]]
        )
        assert (rows[0]["start"], rows[-1]["end"]) == pytest.approx((0, 1))
    assert {row["activity"] for row in bars["stack: arm"]} >= {"seek", "rotate", "transfer"}
    assert heading(chart).startswith("stack: arm is busy")


def test_only_the_busiest_of_many_resources_are_split(worn: Worn) -> None:
    data = worn(paths=[f"stack.level[{i}]" for i in range(40)]).to_dict()
    for index, part in enumerate(data["components"]):
        part["resources"][0]["busy"] = {"read": data["drained_s"] * index / 40}
    chart = Record(data).plot.time_split()
    bars = {row["bar"] for row in drawn(chart, "activity")}
    assert bars == {f"stack.level[{i}]" for i in range(10, 40)}
    assert "of the 30 busiest of 40" in heading(chart)


def test_every_activity_has_a_distinct_color() -> None:
    assert len(set(COLORS.values())) == len(COLORS)
    source = Path(__file__).parents[2] / "crates" / "kernel" / "src" / "activity.rs"
    activities = re.findall(r'Activity::\w+ => "(\w+)"', source.read_text())
    assert len(activities) > 10
    assert set(COLORS) == {*activities, IDLE}


def test_blocks_are_drawn_by_position_and_spare_blocks_are_omitted(worn: Worn) -> None:
    whole = worn(valid_share=(0.9, 0.7, 0.0, 0.6))
    data, columns = whole.to_dict(), dict(whole.columns)
    data["components"][0]["tables"]["blocks"]["columns"].append("position")
    columns["stack.blocks.position"] = np.array([2.0, 0.0, -1.0, 1.0])
    chart = Record(data, columns).plot.blocks()
    assert [row["high"] for row in drawn(chart, "high")] == [0.7, 0.6, 0.9]
    assert heading(chart).startswith("73.3 % of the space of erase blocks is valid")
    assert len(drawn(Record(data, columns).plot.wear(), "high")) == 4
