"""Tests policies written in Python: cache replacement, placement, and garbage collection."""

from collections import OrderedDict
from pathlib import Path
from typing import Any

import nacre
import pytest
from nacre.errors import ConfigError, Error
from nacre.policies import PlacementView

SHORT = {
    "workload.requests": 8000,
    "run.warm_up": 1000,
    "stack.level[0].device.capacity": "2 MiB",
}
POLICY = "stack.level[0].policy"


class Lru:
    """LRU policy that stores the blocks in the order of their last accesses."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks
        self.order: OrderedDict[int, None] = OrderedDict()

    def hit(self, block: int) -> None:
        self.order.move_to_end(block)

    def insert(self, block: int) -> None:
        self.order[block] = None
        assert len(self.order) <= self.blocks

    def evict(self, _block: int) -> int:
        return self.order.popitem(last=False)[0]

    def remove(self, block: int) -> None:
        del self.order[block]


def test_lru_in_python_is_lru() -> None:
    mine = nacre.run("server-cache-zipf", SHORT | {POLICY: Lru})
    theirs = nacre.run("server-cache-zipf", SHORT)
    assert mine.latency == theirs.latency
    assert mine.components == theirs.components
    assert mine.scenario["stack"]["level"][0]["policy"]["function"] == "Lru"


def test_a_user_class_is_simulated_next_to_built_in_policies() -> None:
    sizes = ["1 MiB", "16 MiB"]
    found = nacre.traces.caches("pgbench", ["lru", Lru], sizes, limit=20_000)
    assert found.policies == ["lru", "Lru"]
    frame = found.to_polars().drop("policy")
    assert frame[:2].equals(frame[2:]), "it is LRU"
    sampled = nacre.traces.caches("pgbench", Lru, "16 MiB", limit=20_000, sample=0.1)
    theirs = nacre.traces.caches("pgbench", "lru", "16 MiB", limit=20_000, sample=0.1)
    assert sampled.to_polars().drop("policy").equals(theirs.to_polars().drop("policy"))


def test_two_classes_with_equal_names_are_distinguished() -> None:
    class Closed(Lru):
        def evict(self, block: int) -> int:
            return block

    Closed.__name__ = "Lru"
    found = nacre.traces.caches("pgbench", [Lru, Closed], "1 MiB", limit=5_000)
    assert found.policies == ["Lru", "Lru+"]


def test_an_exception_of_a_class_ends_the_simulation_of_caches() -> None:
    class WrongError(Exception):
        pass

    class Failing(Lru):
        def hit(self, _block: int) -> None:
            raise WrongError

    with pytest.raises(WrongError):
        nacre.traces.caches("pgbench", ["lru", Failing], "16 MiB", limit=200_000)


def test_a_policy_may_bypass_the_cache() -> None:
    class Closed(Lru):
        def evict(self, block: int) -> int:
            return block

    record = nacre.run("server-cache-zipf", SHORT | {POLICY: Closed})
    open_ = nacre.run("server-cache-zipf", SHORT | {POLICY: Lru})
    assert record.components[0].counters["evictions"] == 0
    assert 0 < (record.hit_ratio() or 0) != open_.hit_ratio()


@pytest.mark.parametrize(
    ("evict", "said"),
    [
        (lambda *_: -1, "returned -1: return a block in the cache"),
        (lambda *_: "x", "returned 'x'"),
        (lambda *_: 1 // 0, "by zero"),
    ],
)
def test_an_invalid_victim_is_named(evict: Any, said: str) -> None:
    wrong = type("Wrong", (Lru,), {"evict": evict})
    with pytest.raises((Error, ZeroDivisionError), match=said):
        nacre.run("server-cache-zipf", SHORT | {POLICY: wrong})


def test_a_class_that_cannot_be_instantiated_reports_the_reason() -> None:
    class Picky(Lru):
        def __init__(self, blocks: int) -> None:
            raise RuntimeError(f"{blocks} are too many")

    with pytest.raises(RuntimeError, match="512 are too many"):
        nacre.run("server-cache-zipf", SHORT | {POLICY: Picky})


def test_saving_a_state_with_a_python_policy_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(Error, match='policy "Lru" is written in Python'):
        nacre.run("server-cache-zipf", SHORT | {POLICY: Lru}, save_state=tmp_path / "state.nacre")


def test_a_placement_in_python_moves_the_named_extents() -> None:
    seen: list[PlacementView] = []

    def once(view: PlacementView) -> list[tuple[int, int]]:
        seen.append(view)
        if len(seen) > 1:
            return []
        return [(int((view.homes == 1).argmax()), int((view.homes == 0).argmax()))]

    placement = {"function": once, "epoch": "1 s"}
    record = nacre.run("tiers", {"workload.requests": 5000, "stack.placement": placement})
    assert len(seen) > 2
    assert seen[0].reads.sum() + seen[0].writes.sum() > 0
    up, down = int((seen[0].homes == 1).argmax()), int((seen[0].homes == 0).argmax())
    assert (seen[-1].homes[up], seen[-1].homes[down]) == (0, 1)
    assert record.epochs()["migrated_bytes"].sum() > 0


def test_an_invalid_pair_of_extents_is_named() -> None:
    def wrong(_view: PlacementView) -> list[tuple[int, int]]:
        return [(0, 0)]

    placement = {"function": wrong, "epoch": "1 s"}
    with pytest.raises(Error, match=r"the pair \(0, 0\): name two extents, 0 to \d+, of different"):
        nacre.run("tiers", {"workload.requests": 5000, "stack.placement": placement})


def test_a_drive_is_cleaned_by_a_function() -> None:
    def greedy(view: nacre.policies.CleaningView) -> int:
        return int((view.programmed - view.valid).argmax())

    small = {"workload.requests": 3000, "run.warm_up": 0}
    mine = nacre.run("ssd", small | {"stack.garbage_collection.policy": greedy})
    assert mine.requests.completed == mine.requests.issued > 0
    assert mine.scenario["stack"]["garbage_collection"]["policy"]["function"] == "greedy"


def test_a_study_accepts_classes_and_placements_of_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = Path(__file__).read_text().split("class Lru:")[1].split("\n\n\n")[0]
    module = f"from collections import OrderedDict\n\nclass Lru:{body}\n"
    (tmp_path / "kept_by.py").write_text(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    import kept_by  # type: ignore[import-not-found]

    axis = {"path": POLICY, "values": ["lru", kept_by.Lru]}
    found = nacre.study({"scenario": "server-cache-zipf", "set": SHORT, "axis": [axis]}, workers=1)
    assert found.table["error"].to_list() == [None, None]
    assert found.table["policy"].to_list() == ["lru", "Lru"]
    assert found.table["mean_ns"].n_unique() == 1
    local = type("Local", (Lru,), {"__module__": "__main__"})
    with pytest.raises(ConfigError, match="put it into its own module"):
        nacre.study({"scenario": "server-cache-zipf", "set": {POLICY: local}, "axis": [axis]})
