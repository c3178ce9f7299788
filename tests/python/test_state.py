"""Tests saving the state of a run, continuing from it, and rejecting invalid states."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.errors import ConfigError, Error
from nacre.scenario.source import read
from nacre.studies.engines.task import Base, Task, evaluate, identity
from nacre.studies.points.preparations import prepared_alike
from refusing import fails_with
from typer.testing import CliRunner

DRIVE: dict[str, Any] = {
    "kind": "ssd",
    "channels": 2,
    "ways": 2,
    "blocks": 64,
    "pages": 64,
    "page": "4 KiB",
    "read": ["50 us"],
    "program": ["500 us"],
    "erase": "3 ms",
    "bus": "400 MB/s",
    "buffer": "256 KiB",
    "link": "4 GB/s",
    "over_provisioning": "33 %",
}
SCENARIO: dict[str, Any] = {
    "workload": {
        "kind": "zipf",
        "footprint": "24 MiB",
        "requests": 100_000,
        "read_share": "30 %",
        "arrival": {"kind": "closed", "queue_depth": 4},
    },
    "stack": DRIVE,
    "run": {"requests": 2048},
}


def test_a_run_continues_from_the_state_of_another(tmp_path: Path) -> None:
    first = nacre.run(SCENARIO, save_state=tmp_path / "half.state")
    second = nacre.run(SCENARIO, start=first)
    whole = nacre.run(SCENARIO, {"run.requests": 4096, "run.warm_up": 2048})
    assert first.state == tmp_path / "half.state"
    assert second.state is None
    for field in ("requests", "throughput", "latency", "time_spent", "components"):
        assert second[field] == whole[field], field
    assert any("continues after 2048 earlier requests" in note for note in second.workload.notes)


def test_a_preconditioned_drive_is_measured_under_another_workload(tmp_path: Path) -> None:
    place = tmp_path / "warm.state"
    wide = {"workload.footprint": "44 MiB"}
    nacre.run(SCENARIO, wide | {"run.requests": 60_000}, save_state=place)
    writes = wide | {"workload.read_share": "0 %"}
    warmed = nacre.run(SCENARIO, writes, start=place)
    fresh = nacre.run(SCENARIO, writes)
    assert warmed.write_amplification is not None
    assert fresh.write_amplification is not None
    assert warmed.write_amplification > fresh.write_amplification


def test_another_stack_is_rejected_with_the_differences(tmp_path: Path) -> None:
    first = nacre.run(SCENARIO, save_state=tmp_path / "half.state")
    with pytest.raises(ConfigError, match=r"stack\.channels is 2 in the state and 4 here"):
        nacre.run(SCENARIO, {"stack.channels": 4}, start=first)
    with fails_with("no-data", ConfigError):
        nacre.run(SCENARIO, start=nacre.run(SCENARIO))


def logged(folder: Path, micros: int) -> dict[str, Any]:
    """Writes a latency log to the folder. Returns a scenario of a device with the read latencies of
    this log."""
    log = folder / "lat.log"
    log.write_text("".join(f"{at}, {micros * 1000}, 0, 4096, 0\n" for at in range(10)))
    read_ = {"kind": "latency_log", "file": str(log), "direction": "read"}
    stack = {"kind": "measured", "capacity": "1 MiB", "read": read_, "write": "20 us"}
    workload = {"kind": "uniform", "requests": 100, "footprint": "1 MiB", "arrival": "closed"}
    return {"workload": workload, "stack": stack, "run": {"requests": 10}}


def test_a_state_or_image_with_another_latency_log_is_rejected(tmp_path: Path) -> None:
    scenario = logged(tmp_path, 50)
    first = nacre.run(scenario, save_state=tmp_path / "half.state")
    with nacre.open(scenario, image=tmp_path / "disk.img") as memory:
        memory.write(0, b"kept")
    logged(tmp_path, 5000)
    with pytest.raises(ConfigError, match="stack"):
        nacre.run(scenario, start=first)
    with pytest.raises(Error, match=r"content of stack\.read\.file"):
        nacre.open(scenario, image=tmp_path / "disk.img")
    logged(tmp_path, 50)
    assert nacre.run(scenario, start=first).requests.reads
    with nacre.open(scenario, image=tmp_path / "disk.img") as memory:
        assert memory.read(0, 4) == b"kept"


def test_a_run_does_not_continue_in_another_trace(tmp_path: Path) -> None:
    trace = tmp_path / "requests.csv"

    def of(step: int) -> str:
        lines = [f"{number * 1000},read,{number * step},4096\n" for number in range(40)]
        return "timestamp_us,op,offset,length\n" + "".join(lines)

    trace.write_text(of(4096))
    workload = {"kind": "trace", "file": str(trace), "format": "nacre_csv"}
    scenario = {"workload": workload, "stack": DRIVE, "run": {"requests": 10}}
    first = nacre.run(scenario, save_state=tmp_path / "half.state")
    trace.write_text(of(8192))
    with fails_with("wrong-device", ConfigError):
        nacre.run(scenario, start=first)
    trace.write_text(of(4096))
    assert nacre.run(scenario, start=first).requests.reads == 10


def test_a_file_that_is_not_a_state_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("mine, and long enough to be something else")
    with pytest.raises(Error, match=r"notes\.txt: it is not a saved state"):
        nacre.run(SCENARIO, start=notes)
    with pytest.raises(OSError, match="is not overwritten; choose another name"):
        nacre.run(SCENARIO, save_state=notes)
    assert notes.read_text().startswith("mine")
    place = tmp_path / "cut.state"
    nacre.run(SCENARIO, save_state=place)
    place.write_bytes(place.read_bytes()[:-100])
    with fails_with("damaged"):
        nacre.run(SCENARIO, start=place)
    with pytest.raises(FileNotFoundError):
        nacre.run(SCENARIO, start=tmp_path / "missing.state")


def test_a_preconditioned_drive_becomes_a_memory_and_a_run_continues_from_it(
    tmp_path: Path,
) -> None:
    image = tmp_path / "warm.img"
    warmed = nacre.run(SCENARIO, save_state=tmp_path / "warm.state")
    with nacre.open(SCENARIO, image=image, start=warmed) as memory:
        begun = memory.now
        assert begun > 0
        assert not any(memory[: 24 << 20])
        memory[4096:8192] = b"x" * 4096
        programs = memory.statistics().counters.writes
    assert programs == 1
    with nacre.open(SCENARIO, image=image) as memory:
        assert memory[4095:4097] == b"\x00x"
        assert memory.now > begun
    onwards = nacre.run(SCENARIO, start=image)
    fresh = nacre.run(SCENARIO)
    assert (
        onwards.components[0].counters["unwritten_reads"]
        < fresh.components[0].counters["unwritten_reads"]
    )
    with fails_with("file-exists"):
        nacre.open(SCENARIO, image=image, start=warmed)
    with pytest.raises(ConfigError, match=r"stack\.channels is 2 in the state and 4 here"):
        nacre.open(SCENARIO, {"stack.channels": 4}, start=warmed)


def test_an_image_is_distinguished_from_a_state(tmp_path: Path) -> None:
    image = tmp_path / "drive.img"
    nacre.open(SCENARIO, image=image).close()
    before = image.read_bytes()
    with pytest.raises(
        Error, match=r"drive\.img: it is an image, .* open or serve it as the image"
    ):
        nacre.open(SCENARIO, start=image)
    assert image.read_bytes() == before


def test_a_policy_in_python_has_no_state_to_save(tmp_path: Path) -> None:
    def greedy(view: nacre.policies.CleaningView) -> int:
        return int((view.programmed - view.valid).argmax())

    with fails_with("cannot-save", ConfigError):
        nacre.run(
            SCENARIO, {"stack.garbage_collection.policy": greedy}, save_state=tmp_path / "no.state"
        )
    assert not list(tmp_path.iterdir())


def test_the_command_line_saves_and_continues(tmp_path: Path) -> None:
    from nacre.cli.app import app

    place = str(tmp_path / "ssd.state")
    short = ["run", "ssd", "--set", "run.until_steady.windows_max=2", "--set", "run.requests=4096"]
    small = ["--set", "stack.pages=4", "--set", "workload.footprint=400 MiB"]
    saved = CliRunner().invoke(app, [*short, *small, "--save-state", place])
    assert saved.exit_code == 0, saved.output
    assert f"the state is saved in {place}" in saved.output.replace("\n", "")
    again = CliRunner().invoke(app, [*short, *small, "--from", place])
    assert again.exit_code == 0, again.output
    parts = CliRunner().invoke(app, [*short, "--split", "hash:2", "--from", place])
    assert parts.exit_code != 0


def test_points_with_equal_preconditioning_share_it(tmp_path: Path) -> None:
    scenario = {**SCENARIO, "run": {"precondition": 9000, "requests": 300}}
    source = read(scenario)
    depths = [(("workload.arrival.queue_depth", str(depth)),) for depth in (1, 2, 8)]
    tasks = {f"{key}": Task(f"{key}", source, settings) for key, settings in enumerate(depths)}
    tasks["other"] = Task("other", source, (("stack.channels", "4"),))
    assert prepared_alike(tasks) == [["0", "1", "2"]]
    fresh = {key: replace(task, source=read(SCENARIO)) for key, task in tasks.items()}
    assert prepared_alike(fresh) == []
    assert prepared_alike({"0": tasks["0"], "fresh": fresh["1"]}) == []
    alone = [outcome.record for outcome in evaluate(Base(identity()), list(tasks.values()))]
    base = Base(identity(), str(tmp_path))
    together = [replace(task, is_prepared=True) for task in tasks.values()]
    assert [outcome.record for outcome in evaluate(base, together)] == alone
    assert len(list(tmp_path.glob("*.state"))) == 2
