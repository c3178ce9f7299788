"""What all Python tests share."""

from collections.abc import Callable, Sequence

import hypothesis
import nacre
import numpy as np
import pytest
from nacre.record import Record

Worn = Callable[..., Record]

# The same examples every time: a test that fails once fails again.
hypothesis.settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session")
def worn() -> Worn:
    """Makes the record of a run on a medium that wears, of what its blocks and cleaner say."""
    run = nacre.run(
        {
            "workload": {"kind": "uniform", "footprint": "1 MiB", "requests": 1000},
            "stack": {"kind": "measured", "read": "10 us", "write": "10 us"},
        }
    )

    def make(
        erases: Sequence[int] = (3, 5, 4, 8),
        live_share: Sequence[float] = (0.9, 0.7, 1.0, 0.6),
        cost: Sequence[float] = (np.nan, 2.0, 1.5),
        endurance: int | None = 100,
        paths: Sequence[str] = ("stack",),
    ) -> Record:
        data, columns = run.to_dict(), dict(run.columns)
        own = data["components"][0]
        span_s = data["simulated_s"] / max(len(cost), 1)
        numbers = np.array(erases)
        data["components"] = [
            own
            | {
                "path": path,
                "wear": {
                    "host": 100,
                    "cleaned": 150,
                    "levelled": 20,
                    "metadata": 5,
                    "padding": 0,
                    "programs": 275,
                    "erases": 12,
                    "block_erases": {
                        "blocks": len(erases),
                        "min": int(numbers.min()),
                        "mean": float(numbers.mean()),
                        "max": int(numbers.max()),
                        "stddev": float(numbers.std()),
                    },
                    "endurance": endurance,
                    "row_programs": None,
                    "write_amplification": 2.75,
                    "cleaning_cost": 1.5,
                },
                "tables": {
                    "blocks": {"rows": len(erases), "columns": ["erases", "live_share"]},
                    "cleaning": {"rows": len(cost), "columns": ["end_s", "cost"]},
                },
            }
            for path in paths
        ]
        for path in paths:
            columns |= {
                f"{path}.blocks.erases": numbers.astype(np.uint64),
                f"{path}.blocks.live_share": np.array(live_share, dtype=float),
                f"{path}.cleaning.end_s": span_s * np.arange(1.0, len(cost) + 1),
                f"{path}.cleaning.cost": np.array(cost, dtype=float),
            }
        data |= {"write_amplification": 2.75, "cleaning_cost": 1.5, "erases": 12 * len(paths)}
        return Record(data | {"name": "worn", "lifetime_days": 3151.0}, columns)

    return make
