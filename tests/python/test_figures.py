"""Checks that figures show the data of records. The tests check data, not pixels."""

import io
from typing import Any
from xml.etree import ElementTree

import altair as alt
import nacre
import numpy as np
import pytest
from drawing import charts, drawings
from hypothesis import given
from hypothesis import strategies as st
from nacre.figures import export, mean_latency, served, title
from nacre.figures.axes import deviate
from nacre.figures.latency import curve
from nacre.kinds.records import FIGURE_FILES
from nacre.results.record import Record
from nacre.results.served import Sample
from refusing import fails_with

SCENARIO = {
    "schema": 1,
    "name": "mixed",
    "workload": {
        "kind": "uniform",
        "footprint": "64 MiB",
        "read_share": "70 %",
        "requests": 20_000,
        "arrival": {"kind": "poisson", "rate": "30 kHz"},
    },
    "stack": {"preset": "emlc_ssd"},
}
ALWAYS = {"latency", "throughput", "time_spent", "time_split"}
"""Figures of every record that has requests."""


@pytest.fixture(scope="module")
def record() -> Record:
    return nacre.run(SCENARIO)


def values(chart: Any) -> list[dict[str, Any]]:
    """Returns the rows of the first or only layer of a figure."""
    spec = chart.to_dict()
    return rows(spec, spec)


def rows(spec: dict[str, Any], panel: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the rows of a panel of a figure."""
    data: list[dict[str, Any]] = spec["datasets"][panel["data"]["name"]]
    return data


def with_latencies(upto_ns: list[float], count: list[int]) -> Record:
    columns = {
        "latency.read.upto_ns": np.array(upto_ns),
        "latency.read.count": np.array(count, dtype=np.uint64),
    }
    return Record({"name": "made up"}, columns)


@given(
    st.lists(
        st.tuples(st.integers(1, 10**12), st.integers(1, 10**6)),
        min_size=1,
        max_size=300,
        unique_by=lambda bar: bar[0],
    )
)
def test_a_thinned_curve_is_within_a_line_of_the_distribution(bars: list[tuple[int, int]]) -> None:
    bars.sort()
    upto = [float(bar[0]) for bar in bars]
    counts = [bar[1] for bar in bars]
    points = curve(with_latencies(upto, counts), "read", "reads")
    share = np.cumsum(counts) / sum(counts)
    drawn_x = np.array([point["latency_ns"] for point in points])
    drawn_z = np.array([point["deviate"] for point in points])
    assert drawn_x[-1] == upto[-1]
    assert (np.diff(drawn_x) >= 0).all()
    assert (np.diff(drawn_z) >= 0).all()
    ceiling = 1 - 0.5 / max(sum(counts), 1000)
    for x, exact in zip(upto, share, strict=True):
        if exact <= 0.001:
            continue
        at = np.searchsorted(drawn_x, x, side="right") - 1
        seen = drawn_z[at] if at >= 0 else deviate(0.001)
        assert abs(seen - deviate(min(exact, ceiling))) <= 0.021


def test_the_latency_figure_draws_both_kinds_to_the_slowest(record: Record) -> None:
    drawn = values(record.plot.latency())
    for op in ("read", "write"):
        slowest = max(point["latency_ns"] for point in drawn if point["series"] == op)
        assert slowest == record["latency"][op]["max_ns"]
    only = values(record.plot.latency("write"))
    assert {point["series"] for point in only} == {"write"}


def test_the_throughput_figure_draws_every_request(record: Record) -> None:
    spec = record.plot.throughput().to_dict()
    rates = rows(spec, spec["vconcat"][0])
    widths = np.diff([*record.columns["time.start_s"], record.simulated_s])
    for kind, count in (("read", record.requests.reads), ("write", record.requests.writes)):
        drawn = [row["rate"] for row in rates if row["kind"] == kind]
        assert np.dot(drawn, widths) == pytest.approx(count)


def over_time(reads: list[int], simulated_s: float) -> Record:
    """Returns a record with the given numbers of reads in intervals of one second."""
    columns = {
        "time.start_s": np.arange(len(reads), dtype=float),
        "time.reads": np.array(reads, dtype=np.uint64),
        "time.writes": np.zeros(len(reads), dtype=np.uint64),
        "time.bytes": 512 * np.array(reads, dtype=np.uint64),
        "time.mean_latency_ns": np.full(len(reads), 1000.0),
        "time.width_s": np.array([1.0]),
    }
    throughput = {"iops": sum(reads), "bytes_per_s": 512 * sum(reads)}
    data = {"name": "steady", "simulated_s": simulated_s, "throughput": throughput}
    return Record(data, columns)


@pytest.mark.parametrize(
    ("reads", "simulated_s", "ends"),
    [
        ([100, 100, 25], 2.25, [1, 2, 2.25]),
        ([100, 100, 5], 2.05, [1, 2]),
        ([100, 100, 1], 2.0, [1, 2]),
        ([100, 100], 5.0, [1, 2]),
        ([5], 0.05, [0.05]),
    ],
)
def test_the_last_interval_is_as_wide_as_the_run_was_in_it(
    reads: list[int], simulated_s: float, ends: list[float]
) -> None:
    spec = over_time(reads, simulated_s).plot.throughput().to_dict()
    drawn = rows(spec, spec["vconcat"][0])
    unit = ends[-1] / drawn[-1]["end"]  # the axis may be in milliseconds
    assert [row["end"] * unit for row in drawn] == pytest.approx(ends)
    assert [row["rate"] for row in drawn] == pytest.approx([100] * len(ends))


def test_a_run_without_time_has_no_throughput_to_draw() -> None:
    with fails_with("no-data"):
        over_time([1], 0.0).plot.throughput()


def test_a_run_that_ends_at_the_last_moment_is_drawn() -> None:
    chart = over_time([0, 0, 1], 2.02).plot.throughput()
    spec = chart.to_dict()
    drawn = rows(spec, spec["vconcat"][0])
    assert [row["rate"] for row in drawn] == pytest.approx([0, 0, 50])
    assert export.image(chart, "png").startswith(b"\x89PNG")
    for reads, simulated_s in (([0, 0], 2.0), ([], 1.0)):
        with fails_with("no-data"):
            over_time(reads, simulated_s).plot.throughput()


def test_both_files_of_a_figure_are_one_drawing(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []
    original = export.svg

    def counted(chart: alt.TopLevelMixin) -> str:
        drawn.append(chart)
        return original(chart)

    monkeypatch.setattr(export, "svg", counted)
    files = {name: draw() for name, draw in drawings(record)}
    assert len(drawn) == len(files) / 2
    chart = record.plot.latency()
    of_its_own = io.BytesIO()
    chart.save(of_its_own, format="png", scale_factor=2)
    assert files["latency.png"] == of_its_own.getvalue()


@pytest.mark.parametrize("requests", [1, 2])
def test_the_shortest_runs_are_drawn(requests: int) -> None:
    settings = {"workload.requests": requests}
    record = nacre.run("onyx", settings)
    for name, draw in drawings(record):
        assert draw(), name
    settings["workload.read_share"] = 0
    assert {"latency", "throughput"} <= {*charts(nacre.run("onyx", settings))}


def test_the_headline_of_latencies_is_true_if_many_requests_take_equally_long(
    record: Record,
) -> None:
    heading = record.plot.latency().to_dict()["title"]["text"]
    assert "99 in 100 at most" in heading
    assert "more than" not in heading


def test_the_bars_of_time_spent_are_as_long_as_the_mean_latencies(record: Record) -> None:
    drawn = values(record.plot.time_spent())
    for op in ("read", "write"):
        end = max(row["end_ns"] for row in drawn if row["op"] == op)
        assert end == pytest.approx(record["latency"][op]["mean_ns"], rel=1e-3)
    starts = [(row["bar"], row["start_ns"]) for row in drawn]
    assert len(set(starts)) == len(starts)


def test_several_records_are_overlaid_under_their_names(record: Record) -> None:
    faster = nacre.run(SCENARIO, {"stack.preset": "pcm_ssd"})
    comparison = nacre.compare({"flash": record, "PCM": faster})
    assert {point["series"] for point in values(comparison.plot.latency())} == {"flash", "PCM"}
    heading = comparison.plot.latency().to_dict()["title"]["text"]
    assert heading.startswith("PCM has the fastest reads")
    twice = nacre.compare({"one": record, "other": record})
    heading = twice.plot.latency().to_dict()["title"]["text"]
    assert heading.startswith("Reads take ")
    assert heading.endswith(" on average everywhere")
    assert {row["bar"] for row in values(comparison.plot.time_spent())} == {"flash", "PCM"}


def test_control_characters_in_names_are_escaped(record: Record) -> None:
    named = Record({**record.to_dict(), "name": "a\x1bb"}, record.columns)
    quoted = {"it's \\ \x1b": record, "a\x1bb": named}
    means = mean_latency({"g\x1b": quoted}, lambda *_: "all", {"all": "#000000"}, title("t"))
    assert "\x1b" not in export.svg(means)
    compared = nacre.compare([named, record])
    shown = [*charts(named).values(), compared.plot.latency(), compared.plot.time_spent()]
    for chart in shown:
        drawn = export.svg(chart)
        assert r"a\x1bb" in drawn
        assert "\x1b" not in drawn


def test_the_names_of_figure_files_match_those_removed_by_new_results(record: Record) -> None:
    drawn = [name for name, _ in drawings(record)]
    assert drawn == [name for name in FIGURE_FILES if name in drawn]
    assert {"latency.svg", "time_split.png"} <= {*drawn}


def test_every_figure_becomes_svg_and_png(record: Record) -> None:
    figures = charts(record)
    assert {*figures} >= ALWAYS
    assert {*figures}.isdisjoint(("wear", "cleaning", "blocks", "tiers"))
    for chart in figures.values():
        files = export.images(chart)
        assert ElementTree.fromstring(files["svg"]).tag.endswith("svg")
        assert files["png"].startswith(b"\x89PNG")


def test_a_record_without_requests_of_a_kind_reports_it() -> None:
    reads = nacre.run(SCENARIO, {"workload.read_share": "100 %", "workload.requests": 500})
    assert {*charts(reads)} >= ALWAYS
    with fails_with("no-data"):
        reads.plot.latency("write")


def test_the_activity_of_a_served_device_is_drawn_from_samples() -> None:
    """Checks the rates and mean latencies in the figure for samples with 200 reads of 80 us in a
    second, and then with 50 reads and 30 writes in two seconds."""
    samples = [
        Sample(5.0, reads=1000, writes=0, timed_reads=1000, read_ns=9e7),
        Sample(6.0, reads=1200, writes=0, timed_reads=1200, read_ns=9e7 + 200 * 80_000),
        Sample(8.0, 1250, 30, 1250, 30, 9e7 + 200 * 80_000 + 50 * 120_000, 30 * 2e6),
    ]
    drawing = ElementTree.fromstring(export.svg(served(samples)))
    said = {text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")}
    assert {"25 reads/s", "15 writes/s", "reads 120 us", "writes 2 ms"} <= said
    first = ElementTree.fromstring(export.svg(served(samples[:2])))
    said = {text.text for text in first.iter("{http://www.w3.org/2000/svg}text")}
    assert {"200 reads/s", "0 writes/s", "reads 80 us"} <= said
    assert not any(text and text.startswith("writes ") for text in said)


def test_a_page_gets_the_figure_of_a_served_device_without_samples() -> None:
    spec = served().to_dict()
    assert spec["data"] == {"name": spec["usermeta"]["data"], "values": []}
