"""Tests transactions of a program on a device that is used as a memory."""

import pytest
from nacre.papers.running.transacted import Transacted, measured
from nacre.papers.spec.plan import ENDINGS, Job

SMALL = (
    ("run.precondition", "0"),
    ("run.requests", "100"),
    ("stack.buffer", "64 KiB"),
    ("stack.segment", "512 KiB"),
    ("workload.branches", "2"),
)


@pytest.fixture(scope="module")
def found() -> dict[str, Transacted]:
    jobs = {ending: Job("envy", SMALL, transactions=200, ending=ending) for ending in ENDINGS}
    return {ending: Transacted(measured(job, None)) for ending, job in jobs.items()}


def test_rollbacks_restore_every_word(found: dict[str, Transacted]) -> None:
    rolled_back = found["roll back"]
    assert (rolled_back.rolled_back, rolled_back.restored) == (20, 1.0)
    # One access of SRAM for each of three pages, and one more; pages may coincide.
    assert rolled_back.rollback_ns == pytest.approx(4 * 160, rel=0.01)


def test_only_rollbacks_have_results_of_rollbacks(found: dict[str, Transacted]) -> None:
    for ending in ("none", "commit"):
        assert (found[ending].rolled_back, found[ending].restored) == (0, None)
        assert found[ending].rollback_ns is None


def test_throughput_is_that_of_the_simulated_time(found: dict[str, Transacted]) -> None:
    for result in found.values():
        assert result.throughput.units_per_s == pytest.approx(200 / result.simulated_s)


def test_a_transaction_takes_at_least_five_accesses_more(found: dict[str, Transacted]) -> None:
    """A hardware transaction needs one additional access to begin, one to end, and one for each of
    its three pages."""
    extra_s = found["commit"].simulated_s - found["none"].simulated_s
    assert extra_s > 0.999 * 200 * 5 * 160e-9
