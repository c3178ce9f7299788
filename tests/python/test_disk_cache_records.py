"""Checks that page counts, times, and energies in the records of disk caches are consistent."""

from typing import Any

import nacre
import pytest

PAGE = 2048
DECODING, ENCODING = 8e-9, 2e-9
SHORT = {"run.warm_up": 0, "run.requests": 40_000}
# The endurance is so low that pages fail, use stronger codes, and blocks are swapped.
WORN = {
    "stack.backing.blocks": 64,
    "stack.backing.mlc_endurance": 2,
    "stack.backing.slc_endurance": 20,
}
CAUSES = ("host", "fill", "collected", "promoted", "leveled", "journal")


def busy(part: Any, name: str) -> dict[str, float]:
    """Returns the busy time of a resource in seconds by activity."""
    (resource,) = (one for one in part.resources if one.name == name)
    return dict(resource.busy)


def close(found: float, expected: float) -> None:
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-15)


def check_dram(part: Any, elapsed: float) -> None:
    """Checks that each page that is hit, filled, or written back is transferred once over the
    channel. During a transfer, a quarter of a chip is busy."""
    counts, channel, energy = part.counters, busy(part, "channel"), part.energy_j
    taken = counts.read_hits + counts.read_merged + counts.write_hits + counts.write_misses
    close(sum(channel.values()), (taken + counts.fills + counts.written_back) * PAGE / 4e9)
    for activity in ("read", "write"):
        close(energy[activity], (0.878 - 0.080) / 4 * channel[activity])
    assert 0.018 / 4 * elapsed < energy["idle"] < 0.080 / 4 * elapsed


def check_pcm(part: Any, elapsed: float, idle: float) -> None:
    """Checks that reads and writes take the time of page accesses and of the error-correcting code,
    and that wear leveling reads and writes each moved frame."""
    counts, banks, energy = part.counters, busy(part, "banks"), part.energy_j
    reads = round(banks["read"] / 125e-9)
    assert reads == counts.read_hits + counts.written_back
    assert counts.frame_writes == counts.write_hits + counts.write_misses + counts.fills
    close(banks["write"], counts.frame_writes * 50e-6)
    close(banks["level_wear"], counts.moved_frames * (125e-9 + 50e-6))
    close(busy(part, "decoder")["correct"], reads * 50e-9)
    close(energy["read"], reads * 42e-9)
    close(energy["write"], counts.frame_writes * 284e-9)
    close(energy["correct"], reads * DECODING + counts.frame_writes * ENCODING)
    close(energy["level_wear"], counts.moved_frames * (42e-9 + 284e-9 + DECODING + ENCODING))
    close(energy["idle"], idle * elapsed)
    assert part.wear.programs == counts.frame_writes + counts.moved_frames


def check_flash(part: Any, elapsed: float) -> None:
    """Checks that each program has a cause, that a journal page is programmed for each erase, and
    that dies use energy when busy."""
    counts, dies, energy = part.counters, busy(part, "dies"), part.energy_j
    programs = {cause: counts[f"{cause}_programs"] for cause in CAUSES}
    assert part.wear.programs == sum(programs.values())
    assert part.wear.erases == counts.erases == programs["journal"]
    assert programs["fill"] == counts.fills
    assert counts.read_misses == counts.fills + counts.bypassed
    for activity, seconds in dies.items():
        close(energy[activity], (0.027 - 6e-6) * seconds)
    close(energy["idle"], 4 * 6e-6 * elapsed)
    if counts.density_lowered == counts.promoted_programs == 0:
        close(dies["fill"], programs["fill"] * 900e-6)
        close(dies.get("write", 0), programs["host"] * 900e-6)
        close(dies["erase"], counts.erases * 3.5e-3)
    if counts.strength_raised == 0:
        decoded = busy(part, "decoder").get("correct", 0) / 15e-6
        coded = (sum(programs.values()) - programs["journal"]) * ENCODING
        close(energy["correct"], decoded * DECODING + coded)


def check_pages(record: nacre.results.Record, part: Any) -> None:
    """Checks that the number of cached pages equals inserted minus removed pages, and that each
    page read has one of four outcomes."""
    counts, in_flash = part.counters, part.kind == "flash_disk_cache"
    before, held = (
        int(record.columns[f"{part.path}.{name}"][0])
        for name in (
            ("flash.pages_valid_before", "flash.pages_valid")
            if in_flash
            else ("pages.held_before", "pages.held")
        )
    )
    left = counts.pages_evicted + counts.pages_superseded if in_flash else counts.evictions
    left += counts.pages_given_up + counts.pages_trimmed + counts.pages_power_failed
    assert before + counts.fills + counts.write_allocations == held + left
    read = counts.read_hits + counts.read_merged + counts.read_misses + counts.read_lost
    assert read * PAGE == counts.bytes_read


def check_disk(part: Any, elapsed: float) -> None:
    arm, energy = busy(part, "arm"), part.energy_j
    for activity in ("seek", "rotate", "transfer"):
        close(energy[activity], (13 - 9.97) * arm[activity])
    close(energy["idle"], 9.97 * elapsed)


def check_flows(above: Any, below: Any) -> None:
    """Checks that the component below receives a write for each page written back, and a read for
    each miss."""
    up, down = above.counters, below.counters
    if above.kind == "flash_disk_cache":
        sent, asked = up.pages_sent_back, up.read_misses
    else:
        sent, asked = up.written_back, up.read_misses
    assert down.bytes_written == sent * PAGE
    assert down.bytes_read == asked * PAGE


@pytest.mark.parametrize(
    ("scenario", "settings"),
    [
        ("disk-cache-flash", {}),
        ("disk-cache-flash", {"stack.backing.blocks": 64, "stack.backing.promotes": False}),
        ("disk-cache-flash", {"stack.backing.decoders": 4}),
        ("disk-cache-flash", WORN),
        ("disk-cache-pcram", {}),
        (
            "disk-cache-two-level",
            {"stack.backing.capacity": "8 MiB", "stack.backing.backing.blocks": 64},
        ),
    ],
)
def test_the_counters_of_a_disk_cache_balance(scenario: str, settings: dict[str, object]) -> None:
    parts = 2 if scenario == "disk-cache-two-level" else 1
    codes = ["stack" + ".backing" * (depth + 1) + ".ecc." for depth in range(parts)]
    energies = {
        code + key: value
        for code in codes
        for key, value in {"decode_energy": "8 nJ", "encode_energy": "2 nJ"}.items()
    }
    record = nacre.run(scenario, SHORT | energies | settings)
    assert record.requests["issued"] == record.requests["completed"] == 40_000
    assert not record.energy_unknown
    elapsed = record.drained_s
    idle = {"disk-cache-pcram": 2e-3, "disk-cache-two-level": 1e-3}.get(scenario, 0.0)
    for part in record.components:
        if part.kind != "hdd":
            check_pages(record, part)
        match part.kind:
            case "dram_disk_cache":
                check_dram(part, elapsed)
            case "pcm_disk_cache":
                check_pcm(part, elapsed, idle)
            case "flash_disk_cache":
                check_flash(part, elapsed)
            case "hdd":
                check_disk(part, elapsed)
        assert part.energy_j is not None
        close(record.energy_j[part.path], sum(part.energy_j.values()))
    for above, below in zip(record.components, record.components[1:], strict=False):
        if settings is not WORN:
            check_flows(above, below)
    if settings is WORN:
        assert record.components[1].counters.leveled_programs > 0
