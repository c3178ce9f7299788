"""Tests garbage-collection policies written in Python."""

import importlib
from pathlib import Path
from typing import Any

import nacre
import numpy as np
import pytest
from refusing import fails_with

SMALL: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "requests": 3000,
        "footprint": "40 KiB",
        "request": "16 B",
        "read_share": "0 %",
        "arrival": {"kind": "periodic", "rate": "100 kHz"},
    },
    "stack": {
        "kind": "envy",
        "segments": 9,
        "segment": "8 KiB",
        "page": "16 B",
        "banks": 1,
        "buffer": "256 B",
        "utilization": "80 %",
        "erase": "20 us",
    },
    "run": {"precondition": 20_000},
}


def greedy(view: nacre.policies.CleaningView) -> int:
    invalid = view.programmed - view.valid
    most = np.flatnonzero(invalid == invalid.max())
    # Among ties, select the least recently cleaned segment. If there are still ties, select the
    # last segment.
    oldest = view.cleaned_at[most]
    return int(most[oldest == oldest.min()][-1])


def test_greedy_in_python_is_greedy() -> None:
    ours = nacre.run(SMALL, {"stack.cleaning": greedy})
    theirs = nacre.run(SMALL, {"stack.cleaning": "greedy"})
    mine, built_in = ours.to_dict(), theirs.to_dict()
    assert theirs.components[0].counters.cleanings > 10
    for document in (mine, built_in):
        del document["scenario"], document["origins"]
    assert mine == built_in
    assert ours.scenario.stack.cleaning == {"kind": "external", "function": "greedy"}


def test_the_function_receives_one_partition() -> None:
    seen: list[nacre.policies.CleaningView] = []

    def watching(view: nacre.policies.CleaningView) -> int:
        seen.append(view)
        return greedy(view)

    record = nacre.run(SMALL, {"stack.cleaning": watching})
    assert len(seen) >= record.components[0].counters.cleanings
    view = seen[-1]
    assert (view.partition, view.first, view.pages_per_segment) == (0, 0, 512)
    for column in (view.valid, view.programmed, view.erases, view.cleaned_at, view.written_at):
        assert (column.shape, column.dtype) == ((8,), np.dtype(np.int64))
    assert (view.valid <= view.programmed).all()
    assert view.programmed[view.active] == 512
    assert view.cleaned_at.max() <= view.drained
    assert seen[0].drained < view.drained
    assert repr(view).startswith("CleaningView(partition=0, first=0, drained=")


def returning(value: object) -> Any:
    def policy(_: nacre.policies.CleaningView) -> object:
        return value

    return policy


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "None: it is not an int; return the index of a place, an int from 0 to 7"),
        (1.0, "1.0: it is not an int; return the index of a place, an int from 0 to 7"),
        (True, "True: it is not an int; return the index of a place, an int from 0 to 7"),
        ("3", "'3': it is not an int; return the index of a place, an int from 0 to 7"),
        (8, "8: it is out of range; return the index of a place, an int from 0 to 7"),
        (-1, "-1: it is out of range; return the index of a place, an int from 0 to 7"),
        (2**80, f"{2**80}: it is out of range; return the index of a place, an int from 0 to 7"),
    ],
)
def test_an_invalid_result_is_named_with_the_valid_ones(value: object, problem: str) -> None:
    with pytest.raises(nacre.errors.Error) as raised:
        nacre.run(SMALL, {"stack.cleaning": returning(value)})
    assert str(raised.value) == f"the cleaning function policy returned {problem}"


def test_a_victim_without_invalid_pages_is_rejected_if_others_have_some() -> None:
    def worst(view: nacre.policies.CleaningView) -> int:
        invalid = view.programmed - view.valid
        return int(np.argmin(invalid)) if invalid.min() == 0 else greedy(view)

    # The workload makes one and a quarter passes. Pages that the second pass has not overwritten
    # are still valid.
    workload = SMALL["workload"] | {"kind": "sequential", "footprint": "51 KiB", "requests": 9000}
    round_and_round = SMALL | {"workload": workload, "run": {}}
    with pytest.raises(nacre.errors.Error) as raised:
        nacre.run(round_and_round, {"stack.preload": "0 B", "stack.cleaning": worst})
    text = str(raised.value)
    assert text.startswith("the cleaning function worst returned ")
    assert ": cleaning a segment without invalid pages gains nothing, and others have some;" in text
    assert "return one of " in text


def test_a_function_can_divide_the_array_and_move_pages_between_partitions() -> None:
    seen: list[nacre.policies.CleaningView] = []

    def fifo(view: nacre.policies.CleaningView) -> tuple[int, int, int]:
        seen.append(view)
        invalid = view.programmed - view.valid
        fit = np.flatnonzero(invalid > 0)
        return int(fit[view.cleaned_at[fit].argmin()]), moved, 0

    fifo.partition_segments = 3  # type: ignore[attr-defined]
    moves = {}
    for moved in (0, 10):
        seen.clear()
        record = nacre.run(SMALL, {"stack.cleaning": fifo})
        assert {view.first for view in seen} == {0, 3, 6}
        assert {len(view.valid) for view in seen} == {3, 2}, "one segment stands by"
        moves[moved] = record.cleaning_cost
    assert moves[0] != moves[10]


@pytest.mark.parametrize(
    ("segments", "said"),
    [(4, "the array's 9 segments do not divide"), (0, "an int from 1 on"), ("x", "an int from 1")],
)
def test_impossible_partitions_are_rejected(segments: object, said: str) -> None:
    def policy(view: nacre.policies.CleaningView) -> int:
        return greedy(view)

    policy.partition_segments = segments  # type: ignore[attr-defined]
    with pytest.raises((nacre.errors.ConfigError, nacre.errors.Error), match=said):
        nacre.run(SMALL, {"stack.cleaning": policy})


def test_an_invalid_tuple_is_rejected() -> None:
    with pytest.raises(nacre.errors.Error, match="return \\(index, pages for the partition before"):
        nacre.run(SMALL, {"stack.cleaning": returning((0, -1, 0))})
    with pytest.raises(nacre.errors.Error, match="it is out of range; return the index of a place"):
        nacre.run(SMALL, {"stack.cleaning": returning((99, 0, 0))})


def test_exceptions_of_the_function_are_reraised() -> None:
    class MineError(Exception):
        pass

    problem, calls = MineError("of my own"), []

    def failing(view: nacre.policies.CleaningView) -> int:
        calls.append(view)
        if len(calls) == 3:
            raise problem
        return greedy(view)

    with pytest.raises(MineError) as raised:
        nacre.run(SMALL, {"stack.cleaning": failing})
    assert raised.value is problem
    assert len(calls) == 3, "it is not asked again"


def test_a_function_may_be_interrupted() -> None:
    def interrupted(_: nacre.policies.CleaningView) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nacre.run(SMALL, {"stack.cleaning": interrupted})


def test_a_callable_object_is_a_policy() -> None:
    class Policy:
        calls = 0

        def __call__(self, view: nacre.policies.CleaningView) -> int:
            self.calls += 1
            return greedy(view)

    policy = Policy()
    record = nacre.run(SMALL, {"stack.cleaning": policy})
    assert policy.calls > 10
    assert record.scenario.stack.cleaning.function == "Policy"


def test_a_function_is_checked_with_the_scenario() -> None:
    checked = nacre.check(SMALL, {"stack.cleaning": greedy})
    assert checked.scenario.stack.cleaning.function == "greedy"


def test_a_name_without_a_function_is_rejected() -> None:
    record = nacre.run(SMALL, {"stack.cleaning": greedy})
    with pytest.raises(
        nacre.errors.ConfigError, match="no function was given under this name"
    ) as raised:
        nacre.run(record.scenario.to_dict())
    assert "in Python, give the function itself" in str(raised.value)
    again = nacre.run(record.scenario.to_dict(), {"stack.cleaning": greedy})
    assert again.components == record.components


def test_a_function_in_a_setting_without_policies_is_an_error_of_the_scenario() -> None:
    with pytest.raises(nacre.errors.ConfigError, match=r"stack\.segments"):
        nacre.run(SMALL, {"stack.segments": greedy})


def test_a_study_accepts_functions_of_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "def first(view):\n    return int((view.programmed - view.valid).argmax())\n"
    (tmp_path / "policies.py").write_text(body)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    first = importlib.import_module("policies").first
    axis = {"path": "stack.cleaning", "values": [first, "greedy"]}
    result = nacre.study({"scenario": SMALL, "axis": [axis]}, workers=1)
    assert result.table["error"].to_list() == [None, None]
    assert result.table["cleaning"].to_list() == ["first", "greedy"]
    alone = nacre.run(SMALL, {"stack.cleaning": first})
    assert result.table["cleaning_cost"][0] == alone.cleaning_cost
    named = '{ kind = "external", function = "policies:first" }'
    assert nacre.run(SMALL, {"stack.cleaning": named}).cleaning_cost == alone.cleaning_cost


def test_a_study_rejects_a_function_without_a_module() -> None:
    axis = {"path": "stack.cleaning", "values": [lambda _view: 0, "greedy"]}
    with fails_with("no-function", nacre.errors.ConfigError):
        nacre.study({"scenario": SMALL, "axis": [axis]}, workers=1)


def test_a_missing_function_is_named() -> None:
    names = {"nowhere:f": "No module named 'nowhere'", "json:f": "has no attribute 'f'"}
    for name, said in names.items():
        named = {"stack.cleaning": f'{{ kind = "external", function = "{name}" }}'}
        with pytest.raises(nacre.errors.ConfigError, match=said):
            nacre.run(SMALL, named)


DRIVE: dict[str, Any] = {
    "workload": {
        "kind": "uniform",
        "requests": 20_000,
        "footprint": "8 MiB",
        "request": "4 KiB",
        "read_share": "0 %",
        "arrival": {"kind": "closed", "queue_depth": 4},
    },
    "stack": {
        "kind": "ssd",
        "channels": 1,
        "ways": 1,
        "planes": 1,
        "blocks": 64,
        "pages": 64,
        "page": "4 KiB",
        "unit": "4 KiB",
        "read": ["50 us"],
        "program": ["500 us"],
        "erase": "3 ms",
        "bus": "400 MB/s",
        "over_provisioning": "60 %",
        "buffer": "64 KiB",
        "link": "1 GB/s",
    },
    "run": {"fill": "footprint"},
}


def keeping(wanted: Any) -> Any:
    """Returns a greedy policy with the attribute `keeps_erased` set to `wanted`."""

    def policy(view: nacre.policies.CleaningView) -> int:
        return greedy(view)

    policy.keeps_erased = wanted  # type: ignore[attr-defined]
    return policy


def test_a_function_decides_when_garbage_collection_starts() -> None:
    asked: list[tuple[int, int, int]] = []

    def least(view: nacre.policies.CleaningView, erased: int, least: int, most: int) -> int:
        assert view.partition == 0
        asked.append((erased, least, most))
        return least

    def most(_view: nacre.policies.CleaningView, _erased: int, _least: int, most: int) -> int:
        return most

    late, same, early = (
        nacre.run(DRIVE, {"stack.garbage_collection.policy": policy})
        for policy in (greedy, keeping(least), keeping(most))
    )
    assert same.components[0].counters == late.components[0].counters
    # Data takes 41 of 64 superblocks, including a spare unit in each of 40. 3 are open.
    assert {(least, most) for _, least, most in asked} == {(4, 64 - 3 - 41)}
    assert early.write_amplification is not None
    assert late.write_amplification is not None
    # If more superblocks are kept erased, there is less spare space, so victims have more valid
    # pages.
    assert early.write_amplification > late.write_amplification


@pytest.mark.parametrize("value", [3, 99, -1, None, True, 1.5])
def test_an_invalid_erased_count_is_named_with_the_valid_range(value: object) -> None:
    with pytest.raises(nacre.errors.Error, match="return an int from 4 to 20") as raised:
        nacre.run(DRIVE, {"stack.garbage_collection.policy": keeping(lambda *_: value)})
    assert raised.value.code == "function-failed"
