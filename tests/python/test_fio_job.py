"""Tests the conversion of fio job files into scenarios, and notes about options without an
equivalent."""

import math
import tomllib
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.errors import ConfigError
from nacre.interop import fio
from refusing import fails_with

GLOBAL = "; a usual one\n[global]\nioengine=libaio\ndirect=1\nbs=4k\nsize=1g\n"
_UNITS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}


def in_bytes(size: str) -> int:
    number, unit = size.split()
    return int(number) << _UNITS[unit]


def made(tmp_path: Path, job: str, name: str | None = None) -> fio.FioScenario:
    file = tmp_path / "job.fio"
    file.write_text(GLOBAL + job)
    return fio.scenario(file, job=name)


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
    assert found.without == (
        "numjobs: 2 jobs become one loop with the sum of their depths, in one region",
    )
    record = nacre.run(tmp_path / "job.toml")
    assert record.requests.reads == record.requests.issued > 0


def test_sizes_shares_rates_and_amounts_are_those_of_the_job(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        "[mixed]\nrw=randrw\nrwmixread=70\nbs=64k\nio_size=16m\nnorandommap\n"
        "random_distribution=zipf:1.1\nrate_iops=14000,6000\nrate_process=poisson\n",
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
    assert found.without == (
        "rate_iops: 14000 reads and 6000 writes per second are mixed at random; fio issues each"
        " kind at its own rate",
        "iodepth: 1 request at once: with a rate, the number of outstanding requests is unlimited",
    )


def test_settings_without_an_equivalent_are_named(tmp_path: Path) -> None:
    found = made(
        tmp_path,
        "[a]\nrw=randwrite:8\nfsync=32\nbssplit=4k/50:64k/50\nramp_time=2\nsize=4097\n",
    )
    said = "\n".join(found.without)
    # A request of 64 KiB does not fit into 4,097 bytes.
    for name in ("rw", "size", "fsync", "bssplit", "ramp_time", "norandommap"):
        assert f"{name}:" in said
        assert f"#   {name}:" in found.text


def test_errors_of_a_job_are_reported_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        made(tmp_path, "[a]\nrw=randrad\nbs=4q\niodepth=many\nsize=80x\n")
    said = str(raised.value)
    for name in ("rw", "bs", "iodepth", "size"):
        assert f"[a] {name}" in said
    with pytest.raises(ConfigError, match=r"it has 2 jobs: a, b; give one, as --job a"):
        made(tmp_path, "[a]\nrw=read\n[b]\nrw=write\n")
    assert made(tmp_path, "[a]\nrw=read\n[b]\nrw=write\n", "b").job == "b"
    with pytest.raises(ConfigError, match=r"job.fio:7"):
        made(tmp_path, "not a line\n[a]\n")
    with fails_with("unknown-name", ConfigError):
        fio.scenario(tmp_path / "job.fio", job="a", stack="tlc")


def workload(found: fio.FioScenario) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(found.text)["workload"]
    return table


def plain(tmp_path: Path, text: str | bytes, name: str | None = None) -> fio.FioScenario:
    """Writes a job file without a global section, and converts it."""
    file = tmp_path / "plain.fio"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return fio.scenario(file, job=name)


@pytest.mark.parametrize("engine", ["ioengine=psync\n", "ioengine=sync\n", "ioengine=sg\n", ""])
def test_synchronous_engines_have_a_queue_depth_of_one(tmp_path: Path, engine: str) -> None:
    found = plain(tmp_path, f"[a]\n{engine}rw=randread\niodepth=32\nsize=8m\nnumjobs=3\n")
    assert workload(found)["arrival"]["queue_depth"] == 3
    assert any(each.startswith("iodepth: ") and "synchronous" in each for each in found.without)
    offloaded = plain(
        tmp_path, f"[a]\n{engine}rw=randread\niodepth=32\nsize=8m\nio_submit_mode=offload\n"
    )
    assert workload(offloaded)["arrival"]["queue_depth"] == 32


def test_asynchronous_engines_keep_their_depth_but_some_serialize_trims(tmp_path: Path) -> None:
    job = "[a]\nioengine={}\nrw={}\niodepth=32\nsize=8m\ndirect=1\n"
    for engine in ("libaio", "io_uring", "posixaio", "null"):
        found = plain(tmp_path, job.format(engine, "randwrite"))
        assert workload(found)["arrival"]["queue_depth"] == 32
    trims = plain(tmp_path, job.format("libaio", "randtrim"))
    assert workload(trims)["arrival"]["queue_depth"] == 1


@pytest.mark.parametrize("engine", ["cpuio", "net", "filecreate", "falloc", "rdma"])
def test_engines_without_requests_to_a_device_are_rejected(tmp_path: Path, engine: str) -> None:
    with pytest.raises(ConfigError, match=r"ioengine: this engine makes no requests to a device"):
        plain(tmp_path, f"[a]\nioengine={engine}\nrw=read\n")


def test_the_page_cache_of_the_host_is_named(tmp_path: Path) -> None:
    job = "[a]\nioengine=libaio\nrw=read\nsize=8m\n"
    assert any("page cache" in each for each in plain(tmp_path, job).without)
    assert any("page cache" in each for each in plain(tmp_path, f"{job}direct=0\n").without)
    assert plain(tmp_path, f"{job}direct=1\n").without == ()
    assert plain(tmp_path, f"{job}buffered=0\n").without == ()


@pytest.mark.parametrize(
    ("base", "text", "bytes_"),
    [
        ("", "4k", 4096),
        ("", "4KB", 4096),
        ("", "4ki", 4096),
        ("", "4KiB", 4000),
        ("", "0x1000", 4096),
        ("", "1MiB", 1_000_000),
        ("kb_base=1000\n", "4k", 4000),
        ("kb_base=1000\n", "4kb", 4000),
        ("kb_base=1000\n", "4KiB", 4096),
        ("kb_base=1024\n", "4KiB", 4000),
    ],
)
def test_sizes_are_those_of_fio(tmp_path: Path, base: str, text: str, bytes_: int) -> None:
    # Numbers are from fio 3.33 with the null engine.
    found = plain(tmp_path, f"[a]\nrw=read\nsize=64000000\n{base}bs={text}\n")
    assert in_bytes(workload(found)["request"]) == bytes_


def test_a_unit_base_applies_to_its_section_and_the_following_jobs(tmp_path: Path) -> None:
    job = "[global]\nbs=4k\n[a]\nrw=read\nsize=1m\nkb_base=1000\n[b]\nrw=read\nsize=1m\n"
    first, second = workload(plain(tmp_path, job, "a")), workload(plain(tmp_path, job, "b"))
    assert (in_bytes(first["request"]), first["requests"]) == (4096, 1_000_000 // 4096)
    assert (in_bytes(second["request"]), second["requests"]) == (4096, 256)
    below = workload(plain(tmp_path, "[global]\nkb_base=1000\n[a]\nrw=read\nbs=4k\nsize=1m\n"))
    assert (in_bytes(below["request"]), below["requests"]) == (4000, 250)


@pytest.mark.parametrize(
    "text", ["4.5k", " 4k", "4 k", "4kq", "4q", "(2*2k)", "$pagesize", "4z", ""]
)
def test_numbers_that_fio_misreads_are_rejected(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r":3 \[a\] bs: "):
        plain(tmp_path, f"[a]\nrw=read\nbs={text}\nsize=1m\n")


def test_comments_can_follow_values(tmp_path: Path) -> None:
    found = plain(
        tmp_path,
        "; first\n# second\n[a] # third\nioengine=libaio  # async\nrw=randread;mixed later\n"
        "bs=8k\t# block ; size\nsize=64m # region\r\n  iodepth=4 ;;\n",
    )
    table = workload(found)
    assert (table["kind"], table["request"], table["footprint"]) == ("uniform", "8 KiB", "64 MiB")
    assert table["arrival"]["queue_depth"] == 4


def test_a_comment_can_have_any_encoding(tmp_path: Path) -> None:
    latin = "# Ger\u00e4t 3\n[a]\nrw=read\nsize=16m ; f\u00fcr sp\u00e4ter\n".encode("latin-1")
    assert workload(plain(tmp_path, latin))["footprint"] == "16 MiB"
    marked = "\ufeff[a]\nrw=read\nsize=16m\n".encode()
    assert workload(plain(tmp_path, marked))["footprint"] == "16 MiB"
    with pytest.raises(ConfigError, match=r"plain.fio:1: the name of the job is not UTF-8"):
        plain(tmp_path, "[Ger\u00e4t]\nrw=read\nsize=16m\n".encode("latin-1"))


def test_rates_hold_for_each_direction(tmp_path: Path) -> None:
    def arrival(job: str) -> tuple[str, str]:
        table = workload(made(tmp_path, f"[a]\nnorandommap\n{job}"))
        return table["arrival"]["rate"], table["read_share"]

    assert arrival("rw=randrw\nrate_iops=1000\n") == ("2000 Hz", "50 %")
    assert arrival("rw=randrw\nrwmixread=70\nrate_iops=1000\n") == ("2000 Hz", "50 %")
    assert arrival("rw=randrw\nrate_iops=900,300\n") == ("1200 Hz", "75 %")
    assert arrival("rw=randread\nrate_iops=900,300\n") == ("900 Hz", "100 %")
    assert arrival("rw=randwrite\nrate_iops=900,300\n") == ("300 Hz", "0 %")
    assert arrival("rw=randwrite\nrate_iops=,300\n") == ("300 Hz", "0 %")
    assert arrival("rw=randrw\nrate=4m\n") == ("2048 Hz", "50 %")
    assert arrival("rw=randrw\nrwmixread=100\nrate_iops=1k\n") == ("1024 Hz", "100 %")
    assert arrival("rw=randread\nrate=1000\n")[0] == "0.244140625 Hz"
    closed = workload(made(tmp_path, "[a]\nrw=randread\nrate_iops=,300\n"))
    assert closed["arrival"]["kind"] == "closed"
    with fails_with("conflicting-settings", ConfigError):
        made(tmp_path, "[a]\nrw=randrw\nrate_iops=1000,\n")
    with fails_with("conflicting-settings", ConfigError):
        made(tmp_path, "[a]\nrw=randrw\nrate_iops=1000\nrate=1m\n")


def test_sizes_for_each_direction_become_parts_of_a_mix(tmp_path: Path) -> None:
    table = workload(made(tmp_path, "[a]\nrw=randrw\nrwmixread=75\nbs=4k,16k\nsize=64m\n"))
    reads, writes = table["part"]
    assert (table["kind"], reads["share"]) == ("mix", "75 %")
    assert (reads["pattern"]["request"], reads["pattern"]["read_share"]) == ("4 KiB", "100 %")
    assert (writes["pattern"]["request"], writes["pattern"]["read_share"]) == ("16 KiB", "0 %")
    assert table["requests"] == math.ceil(64 * 2**20 / (0.75 * 4096 + 0.25 * 16384))
    only = workload(made(tmp_path, "[a]\nrw=randwrite\nbs=4k,16k\n"))
    assert (only["kind"], only["request"]) == ("uniform", "16 KiB")
    colon = workload(made(tmp_path, "[a]\nrw=randwrite\nbs=4k:16k\n"))
    assert colon["request"] == "16 KiB"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("bssplit=4k/60:64k/40", {4096: 0.6, 65536: 0.4}),
        ("bssplit=4k/10:64k/50:32k/", {4096: 0.1, 65536: 0.5, 32768: 0.4}),
        ("bssplit=4k:64k", {4096: 0.5, 65536: 0.5}),
        ("bsrange=4k-16k", {4096: 0.25, 8192: 0.25, 12288: 0.25, 16384: 0.25}),
        # The size is `4k + 18k * random`, rounded down to a multiple of 4k. The last 4k of 18k are
        # beyond the range.
        (
            "bsrange=4k-18k",
            {4096: 4 / 18, 8192: 4 / 18, 12288: 4 / 18, 16384: 4 / 18, 18432: 2 / 18},
        ),
    ],
)
def test_split_and_ranged_sizes_keep_their_shares(
    tmp_path: Path, given: str, expected: dict[int, float]
) -> None:
    table = workload(made(tmp_path, f"[a]\nrw=randread\nnorandommap\n{given}\n"))
    shares = {in_bytes(part["pattern"]["request"]): part.get("share") for part in table["part"]}
    assert shares.keys() == expected.keys()
    left = 1.0
    for size, share in shares.items():
        found = left if share is None else float(share.removesuffix(" %")) / 100
        assert found == pytest.approx(expected[size], abs=1e-9)
        left -= found
    mean = sum(size * share for size, share in expected.items())
    assert table["requests"] == math.ceil(2**30 / mean)
    (tmp_path / "split.toml").write_text(made(tmp_path, f"[a]\nrw=randread\n{given}\n").text)
    nacre.check(tmp_path / "split.toml")


@pytest.mark.parametrize(
    "given", ["bssplit=4k/60:64k/60", "bssplit=4k/60:64k/20", "bssplit=x", "bsrange=4k"]
)
def test_sizes_whose_shares_do_not_sum_to_100_are_rejected(tmp_path: Path, given: str) -> None:
    with pytest.raises(ConfigError, match=r"\[a\] bs(split|range): it is not"):
        made(tmp_path, f"[a]\nrw=randread\n{given}\n")


def test_sequential_reads_and_writes_have_separate_positions(tmp_path: Path) -> None:
    found = made(tmp_path, "[a]\nrw=rw\nrwmixread=60\n")
    reads, writes = workload(found)["part"]
    assert (reads["share"], reads["pattern"]["kind"]) == ("60 %", "sequential")
    assert writes["pattern"]["read_share"] == "0 %"
    assert found.without == ()


def test_zones_are_parts_with_separate_addresses(tmp_path: Path) -> None:
    job = (
        "[a]\nrw=randread\nnorandommap\nsize=100m\noffset=1g\nrandom_distribution=zoned:60/10:40/\n"
    )
    first, second = workload(made(tmp_path, job))["part"]
    assert (first["share"], first["pattern"]["start"], first["pattern"]["footprint"]) == (
        "60 %", "1 GiB", "10 MiB"
    )  # fmt: skip
    assert (second["pattern"]["start"], second["pattern"]["footprint"]) == ("1034 MiB", "90 MiB")
    with fails_with("invalid-value", ConfigError):
        made(tmp_path, "[a]\nrw=randread\nrandom_distribution=zoned:60/10:20/80\n")


def test_writes_of_zones_are_a_log_with_resets(tmp_path: Path) -> None:
    zoned = "[a]\nzonemode=zbd\nzonesize=4m\nbs=64k\nsize=32m\noffset=8m\n"
    found = made(tmp_path, f"{zoned}rw=write\nio_size=10m\nmax_open_zones=3\n")
    log = workload(found)
    # The log has 160 writes, and resets of three zones.
    assert (log.pop("requests"), log.pop("arrival")["queue_depth"]) == (163, 1)
    assert log == {
        "kind": "log",
        "footprint": "32 MiB",
        "zone": "4 MiB",
        "request": "64 KiB",
        "start": "8 MiB",
    }
    assert found.without == ()
    (tmp_path / "job.toml").write_text(found.text)
    record = nacre.run(tmp_path / "job.toml")
    assert (record.requests.writes, record.requests.trims) == (160, 3)


def test_random_writes_of_zones_fill_open_zones_in_turn(tmp_path: Path) -> None:
    zoned = "[a]\nrw=randwrite\nzonemode=zbd\nzonesize=4m\nbs=64k\nsize=33m\n"
    found = made(tmp_path, f"{zoned}io_size=10m\nmax_open_zones=5\n")
    log = workload(found)
    # One group of 5 zones fits into 33 MiB. Each zone is reset before the first of its 32 writes.
    assert (log["footprint"], log["open_zones"], log["requests"]) == ("20 MiB", 5, 165)
    assert found.without == (
        "max_open_zones: fio writes a random one of 5 zones, here they take turns",
        "size: 5 zones of its bytes are used: whole zones",
    )
    found = made(tmp_path, zoned)
    assert "open_zones" not in workload(found)
    assert found.without[0].startswith("max_open_zones: it is not given")


@pytest.mark.parametrize(
    ("job", "note"),
    [
        ("", "it is not given"),
        ("zonesize=5000\n", "it is not a whole number of requests"),
        ("zonesize=4m\nbssplit=4k/50:8k/\n", "its requests have several sizes"),
        ("zonesize=1g\n", "the job has 1 whole zone"),
    ],
)
def test_writes_of_zones_that_are_no_log_have_a_note(tmp_path: Path, job: str, note: str) -> None:
    found = made(tmp_path, f"[a]\nrw=write\nzonemode=zbd\n{job}")
    assert workload(found)["kind"] in ("sequential", "mix")
    assert any(each.startswith("zonesize: ") and note in each for each in found.without)
    assert 'zonemode: "zbd"' in found.without


@pytest.mark.parametrize(
    ("job", "requests", "duration"),
    [
        ("size=10000\n", 2, None),
        ("size=1m\nio_size=10000\n", 3, None),
        ("size=1m\nio_limit=10000\n", 3, None),
        ("size=1m\nio_size=50%\n", 128, None),
        ("size=1m\nnumber_ios=10\nloops=3\n", 30, None),
        ("size=1m\nnumber_ios=1000\nloops=3\n", 768, None),
        ("size=1m\nloops=2\nio_size=512k\n", 256, None),
        ("size=1m\nloops=2\nio_size=3m\n", 768, None),
        ("filesize=1m\nnrfiles=3\n", 768, None),
        ("filesize=4m\nsize=1m\n", 256, None),
        ("filesize=1m\nsize=4m\n", 256, None),
        ("size=1m\nruntime=5\n", 256, "5 s"),
        ("size=1m\ntimeout=2\n", 256, "2 s"),
        ("size=1m\ntime_based\n", 256, None),
        ("size=1m\ntime_based\ntimeout=2\nnumber_ios=10\n", 1_000_000_000, "2 s"),
        ("size=1m\ntime_based=0\nruntime=3ms\n", 256, "0.003 s"),
    ],
)
def test_amounts_and_times_are_those_of_fio(
    tmp_path: Path, job: str, requests: int, duration: str | None
) -> None:
    # Numbers of requests are from fio 3.33 with the null engine.
    found = tomllib.loads(plain(tmp_path, f"[a]\nrw=read\nbs=4096\n{job}").text)
    assert found["workload"]["requests"] == requests
    assert found.get("run", {}).get("duration") == duration


def test_percentages_refer_to_the_device(tmp_path: Path) -> None:
    capacity = nacre.check(
        {"workload": {"kind": "uniform", "requests": 1, "footprint": "1 MiB"},
         "stack": {"preset": "pcm_ssd"}}
    ).capacity  # fmt: skip
    file = tmp_path / "percent.fio"
    file.write_text("[a]\nrw=write\noffset=40%\nsize=40%\n")
    table = workload(fio.scenario(file, stack="pcm_ssd"))
    assert in_bytes(table["start"]) == capacity * 40 // 100 // 4096 * 4096
    assert in_bytes(table["footprint"]) == capacity * 40 // 100 // 4096 * 4096
    file.write_text("[a]\nfilename=/dev/nvme0n1\nrw=write\n")
    whole = fio.scenario(file, stack="pcm_ssd")
    assert in_bytes(workload(whole)["footprint"]) == capacity // 4096 * 4096
    assert any(each.startswith("size: not given") for each in whole.without)
    (tmp_path / "whole.toml").write_text(whole.text)
    nacre.check(tmp_path / "whole.toml")
    file.write_text("[a]\nrw=write\nsize=40%\n")
    with fails_with("invalid-value", ConfigError):
        fio.scenario(file, stack="network_store")


def test_addresses_past_the_end_of_the_device_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "large.fio"
    file.write_text("[a]\nrw=write\nsize=100t\nioengine=null\n")
    found = fio.scenario(file, stack="pcm_ssd")
    assert any("nacre run rejects it" in each for each in found.without)


def test_an_offset_is_the_start(tmp_path: Path) -> None:
    table = workload(made(tmp_path, "[a]\nrw=read\nfileoffset=1m\n"))
    assert (table["start"], table["footprint"]) == ("1 MiB", "1 GiB")


def test_gaps_after_requests_are_a_stride(tmp_path: Path) -> None:
    found = made(tmp_path, "[a]\nrw=read:8k\nsize=1m\n")
    table = workload(found)
    assert (table["stride"], table["requests"], found.without) == ("12 KiB", 86, ())
    backwards = made(tmp_path, "[a]\nrw=read:-8k\nsize=1m\n")
    assert any(each.startswith("rw: ") for each in backwards.without)


def test_a_job_with_think_time_has_one_outstanding_request(tmp_path: Path) -> None:
    found = made(tmp_path, "[a]\nrw=randread\nnorandommap\niodepth=32\nthinktime=1000\n")
    arrival = workload(found)["arrival"]
    assert arrival == {"kind": "closed", "queue_depth": 1, "think": "0.001 s"}
    assert any("before it pauses" in each for each in found.without)
    blocks = made(tmp_path, "[a]\nrw=randread\nnorandommap\nthinktime=1ms\nthinktime_blocks=8\n")
    assert workload(blocks)["arrival"]["think"] == "0.000125 s"


def test_the_last_value_of_a_setting_or_its_alias_is_used(tmp_path: Path) -> None:
    table = workload(
        made(
            tmp_path,
            "[a]\nreadwrite=read\nrw=randrw\nbs=8k\nblocksize=16k\nrwmixread=60\nrwmixwrite=90\n",
        )
    )
    assert (table["kind"], table["request"], table["read_share"]) == ("uniform", "16 KiB", "10 %")


def test_sections_with_equal_names_are_separate_jobs(tmp_path: Path) -> None:
    job = "[job]\nrw=read\nsize=8m\n[job]\nrw=write\nbs=16k\nsize=4m\n"
    with pytest.raises(
        ConfigError, match=r"it has 2 jobs: 1 job, 2 job; give the number .* --job 1"
    ):
        plain(tmp_path, job)
    with pytest.raises(ConfigError, match=r"it has 2 jobs"):
        plain(tmp_path, job, "job")
    assert workload(plain(tmp_path, job, "1"))["footprint"] == "8 MiB"
    second = workload(plain(tmp_path, job, "2"))
    assert (second["request"], second["footprint"], second["read_share"]) == (
        "16 KiB",
        "4 MiB",
        "0 %",
    )


def test_lines_that_fio_rejects_are_rejected(tmp_path: Path) -> None:
    for job, line in (
        ("[a]\nRW=read\n", 2),
        ("rw=read\n[a]\n", 1),
        ("[a]\ninclude other.fio\n", 2),
    ):
        with pytest.raises(ConfigError, match=rf"plain.fio:{line}: "):
            plain(tmp_path, job)
    two = "[global]\nbs=8k\n[global again]\niodepth=4\nioengine=null\n[a]\nrw=read\nsize=1m\n"
    table = workload(plain(tmp_path, two))
    assert (table["request"], table["arrival"]["queue_depth"]) == ("8 KiB", 4)
