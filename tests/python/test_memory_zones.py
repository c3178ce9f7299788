"""Tests a memory with zones: zone management commands, appends, and rejected commands."""

from __future__ import annotations

from pathlib import Path

import nacre
import pytest
from nacre.errors import Error

ZONED: dict[str, object] = {
    "stack": {
        "kind": "zns_ssd",
        "channels": 2,
        "ways": 2,
        "blocks": 16,
        "pages": 16,
        "page": "16 KiB",
        "read": ["50 us"],
        "program": ["500 us"],
        "erase": "3 ms",
        "bus": "1 GB/s",
        "link": "4 GB/s",
        "buffer": "1 MiB",
        "active_zones": 3,
        "open_zones": 2,
    }
}
ZONE = 1 << 20


def test_appends_return_the_addresses_of_their_data() -> None:
    with nacre.open(ZONED) as memory:
        data = [bytes([number]) * 4096 * number for number in range(1, 4)]
        addresses = [memory.append(ZONE, part) for part in data]
        assert addresses == [ZONE, ZONE + 4096, ZONE + 3 * 4096]
        for address, part in zip(addresses, data, strict=True):
            assert memory.read(address, len(part)) == part
        zone = memory.zone(ZONE + 5)
        assert isinstance(zone, nacre.devices.Zone)
        assert zone == (ZONE, 2 * ZONE, ZONE + 6 * 4096, "implicitly_open")


def test_zones_change_state_by_command_and_by_power_loss() -> None:
    with nacre.open(ZONED) as memory:
        memory.open_zone(0)
        memory.open_zone(ZONE)
        assert memory.zone(0).state == "explicitly_open"
        with pytest.raises(Error, match="too many zones opened by command") as refused:
            memory.append(2 * ZONE, bytes(4096))
        assert refused.value.code == "zone-refused"
        assert refused.value.data["reason"] == "too_many_open"
        memory.close_zone(ZONE)
        memory.append(2 * ZONE, bytes(4096))
        with pytest.raises(Error, match="too many active zones"):
            memory.append(3 * ZONE, bytes(4096))
        memory.finish_zone(2 * ZONE)
        assert memory.zone(2 * ZONE)[2:] == (3 * ZONE, "full")
        with pytest.raises(Error, match="the zone is full"):
            memory.append(2 * ZONE, bytes(4096))
        memory.append(0, bytes(4096))
        memory.power_fail()
        memory.recover()
        assert [memory.zone(at).state for at in (0, ZONE, 2 * ZONE)] == ["closed", "empty", "full"]
        memory.reset_zone(0)
        assert memory.zone(0)[2:] == (0, "empty")


def test_an_append_that_does_not_fit_writes_nothing() -> None:
    with nacre.open(ZONED) as memory:
        memory.append(0, bytes(ZONE - 4096))
        with pytest.raises(Error, match="beyond the end of the zone"):
            memory.append(0, bytes(8192))
        assert memory.zone(0).write_pointer == ZONE - 4096
        with pytest.raises(Error, match="not the first byte of a zone"):
            memory.append(4096, bytes(4096))


def test_zone_commands_and_appends_survive_in_an_image(tmp_path: Path) -> None:
    image = tmp_path / "zoned.img"
    with nacre.open(ZONED, image=image) as memory:
        memory.open_zone(ZONE)
        assert memory.append(ZONE, b"\x07" * 8192) == ZONE
        memory.append(0, b"\x08" * 4096)
        memory.finish_zone(0)
        memory.reset_zone(0)
        state = memory.zone(0), memory.zone(ZONE)
        # The process ends without a checkpoint. The next process replays the journal.
        memory.flush()
        copy = tmp_path / "copy.img"
        copy.write_bytes(image.read_bytes())
    with nacre.open(ZONED, image=copy) as memory:
        assert (memory.zone(0), memory.zone(ZONE)) == state
        assert memory.read(ZONE, 8192) == b"\x07" * 8192


def test_a_zone_is_named_by_its_first_byte_and_reported_only_with_power() -> None:
    with nacre.open(ZONED) as memory:
        with pytest.raises(Error, match="first byte of the zone"):
            memory.append(4096, bytes(4096))
        memory.power_fail()
        with pytest.raises(Error, match="power is off"):
            memory.zone(0)


def test_other_memories_have_no_zones() -> None:
    with nacre.open("envy") as memory:
        with pytest.raises(Error, match="it has no zones"):
            memory.zone(0)
        with pytest.raises(Error, match="it has no zones"):
            memory.append(0, bytes(4096))
