"""Job files of fio as scenarios: what they become, and what is said of the rest."""

from pathlib import Path

import nacre
import pytest
from nacre import fio_job
from nacre.errors import ConfigError

GLOBAL = "; a usual one\n[global]\nioengine=libaio\ndirect=1\nbs=4k\nsize=1g\n"


def made(tmp_path: Path, job: str, name: str | None = None) -> fio_job.FioScenario:
    file = tmp_path / "job.fio"
    file.write_text(GLOBAL + job)
    return fio_job.scenario(file, job=name)


def test_a_job_becomes_a_scenario_that_runs(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        "[reads]\nrw=randread\niodepth=16\nnumjobs=2\nruntime=2ms\ntime_based\nnorandommap\n",
    )
    (tmp_path / "job.toml").write_text(found.text)
    resolved = nacre.check(tmp_path / "job.toml").scenario
    assert resolved["workload"]["kind"] == "uniform"
    assert resolved["workload"]["footprint"] == "1 GiB"
    assert resolved["workload"]["arrival"]["queue_depth"] == 32
    assert resolved["run"]["duration"] == "0.002 s"
    assert found.without == ("numjobs: 2 jobs are one loop of all their depths, in one region",)
    record = nacre.run(tmp_path / "job.toml")
    assert record.requests.reads == record.requests.issued > 0


def test_sizes_shares_rates_and_amounts_are_those_of_the_job(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        "[mixed]\nrw=randrw\nrwmixread=70\nbs=64k\nio_size=16m\nnorandommap\n"
        "random_distribution=zipf:1.1\nrate_iops=20000\nrate_process=poisson\n",
    )
    text = found.text
    for line in (
        'kind = "zipf"',
        "requests = 256",
        'read_share = "70 %"',
        "theta = 1.1",
        'arrival = { kind = "poisson", rate = "20000 Hz" }',
        'request = "64 KiB"',
    ):
        assert line in text
    assert found.without == ("iodepth: 1 request at once: with a rate, there may be any number",)


def test_what_has_no_equivalent_is_named(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        "[a]\nrw=randwrite:8\nfsync=32\nbssplit=4k/50:64k/50\nramp_time=2\nsize=4097\n",
    )
    said = "\n".join(found.without)
    for name in ("rw", "size", "fsync", "bssplit", "ramp_time", "norandommap"):
        assert f"{name}:" in said
        assert f"#   {name}:" in found.text


def test_mistakes_of_a_job_come_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        made(tmp_path, "[a]\nrw=randrad\nbs=4q\niodepth=many\nsize=80%\n")
    said = str(raised.value)
    for name in ("rw", "bs", "size"):
        assert f"[a] {name}" in said
    with pytest.raises(ConfigError, match=r"it has 2 jobs: a, b; give one, as --job a"):
        made(tmp_path, "[a]\nrw=read\n[b]\nrw=write\n")
    assert made(tmp_path, "[a]\nrw=read\n[b]\nrw=write\n", "b").job == "b"
    with pytest.raises(ConfigError, match=r"job.fio:7"):
        made(tmp_path, "not a line\n[a]\n")
    with pytest.raises(ConfigError, match="no device called"):
        fio_job.scenario(tmp_path / "job.fio", job="a", stack="tlc")
