"""Training workload for profile-guided wheels (docs/decisions/0033-trained-builds.md).

`maturin build --pgo` runs this program with an instrumented build of the extension module. The
program runs the workload in crates/bench/training.toml, and discards the results.
"""

import tempfile
import tomllib
from pathlib import Path

import nacre

LIST = Path(__file__).parent.parent / "crates" / "bench" / "training.toml"
# As in crates/bench/src/training.rs, the seed differs from the seed of the benchmarks.
SEED = 2


def main() -> None:
    """Runs all simulations of the training workload."""
    training = tomllib.loads(LIST.read_text())
    for scenario, each in training["runs"].items():
        for settings in each:
            nacre.run(scenario, settings, seed=SEED)
    for scenario, points in training["crashes"].items():
        nacre.crash(scenario, points=points, seed=SEED)
    with tempfile.TemporaryDirectory() as folder:
        for name, formats in training["traces"].items():
            for kind in formats:
                file = Path(folder) / f"{name}.{kind}"
                nacre.traces.convert(name, file, to=kind)
                nacre.traces.info(file, format=kind)
            nacre.traces.mrc(name)
            nacre.traces.mrc(name, sample=0.1)
            nacre.traces.mrc(name, blocks=1024)


if __name__ == "__main__":
    main()
