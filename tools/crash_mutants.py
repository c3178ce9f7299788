"""Checks that power-loss tests detect the bugs in `crash_mutants.toml`.

    python tools/crash_mutants.py FOLDER FROM STACKS [NAME...]

FOLDER contains a copy of the source tree with the bugs, and its build. All bugs are compiled
together, and an environment variable activates one of them. The corpus is that of `xtask crash FROM
STACKS`. The tests must report nothing without a bug, and must detect each bug. NAME selects bugs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
VARIABLE = "NACRE_CRASH_MUTANT"
"""Environment variable with the name of the active bug."""
PLANTED = (
    "({ static IS: std::sync::OnceLock<bool> = std::sync::OnceLock::new(); "
    '*IS.get_or_init(|| std::env::var("NACRE_CRASH_MUTANT").is_ok_and(|name| name == %s)) })'
)
"""Rust expression that is true if the bug with this name is active."""
CORPUS_LIMIT_S = 1_800
"""Timeout in seconds, which is longer than the corpus takes on a slow machine. If the tests hang,
the bug counts as detected."""


@dataclass(frozen=True)
class Mutant:
    """A bug: in `file`, `old` is replaced with `new`.

    The violation must contain the text `finding`.
    """

    name: str
    component: str
    file: str
    old: str
    new: str
    finding: str


@dataclass(frozen=True)
class Outcome:
    """Result of the corpus: the violation, its stack, and the number of points before it."""

    finding: str
    stack: int | None
    points: int | None
    seconds: float


def main(folder: Path, first_seed: int, stacks: int, names: list[str]) -> int:
    """Tests the bugs, prints a table, and returns the exit status."""
    mutants = [Mutant(**entry) for entry in tomllib.loads(LIST.read_text())["mutant"]]
    if unknown := set(names) - {mutant.name for mutant in mutants}:
        say(f"error: no mutant is called {', '.join(sorted(unknown))}; see {LIST.name}")
        return 2
    tree = folder / "tree"
    if stale := [mutant for mutant in mutants if source(mutant).count(mutant.old) != 1]:
        for mutant in stale:
            say(f"error: {mutant.name}: {mutant.file} does not have its `old` exactly once")
        return 2
    copy_tree(tree, mutants)
    build(folder, tree)
    honest = crashed(folder, None, first_seed, stacks)
    if honest.finding:
        say(f"error: without a mutant the corpus finds: {honest.finding}")
        return 1
    say(f"without a mutant: nothing is found in {honest.points:,} points, {honest.seconds:.0f} s")
    say(f"{'mutant':<38} {'component':<17} {'stack':>5} {'points':>8}  finding")
    missed = 0
    for mutant in mutants:
        if names and mutant.name not in names:
            continue
        outcome = crashed(folder, mutant, first_seed, stacks)
        is_caught = mutant.finding in outcome.finding
        missed += not is_caught
        say(row(mutant, outcome, is_caught=is_caught))
    say(f"{missed} mutants were not caught" if missed else "every mutant was caught")
    return int(missed > 0)


def build(folder: Path, tree: Path) -> None:
    """Compiles the copy of the source tree into a separate target directory."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target"), "MAKEFLAGS": ""}
    command = ["cargo", "build", "--quiet", "--locked", "--profile", "checked", "--bin", "xtask"]
    built = subprocess.run(command, cwd=tree, env=environment, stderr=subprocess.PIPE, check=False)
    if built.returncode != 0:
        sys.stderr.buffer.write(built.stderr)
        sys.exit("error: the copy with mutants does not compile")


def crashed(folder: Path, mutant: Mutant | None, first_seed: int, stacks: int) -> Outcome:
    """Runs the corpus with a bug, or without bugs."""
    environment = {**os.environ, VARIABLE: mutant.name if mutant else ""}
    program = folder / "target" / "checked" / "xtask"
    began = time.monotonic()
    try:
        done = subprocess.run(
            [str(program), "crash", str(first_seed), str(stacks)],
            env=environment,
            text=True,
            capture_output=True,
            timeout=CORPUS_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome("it does not end", None, None, time.monotonic() - began)
    seconds = time.monotonic() - began
    points = re.search(r"^total: (\d+) power losses", done.stdout, re.MULTILINE)
    count = int(points[1]) if points else None
    if done.returncode == 0:
        return Outcome("", None, count, seconds)
    found = re.search(r"^seed (\d+), ?(.*)$", done.stdout, re.MULTILINE)
    if found is None:
        return Outcome((done.stdout + done.stderr).strip()[-300:], None, count, seconds)
    return Outcome(found[2], int(found[1]) - first_seed + 1, count, seconds)


def say(line: str) -> None:
    """Prints a line, and flushes standard output."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def row(mutant: Mutant, outcome: Outcome, *, is_caught: bool) -> str:
    """Formats a line of the table."""
    stack = "-" if outcome.stack is None else str(outcome.stack)
    points = "-" if outcome.points is None else f"{outcome.points:,}"
    finding = outcome.finding[:150] or "NOT CAUGHT"
    if outcome.finding and not is_caught:
        finding = f"NOT AS EXPECTED ({mutant.finding}): {finding}"
    return f"{mutant.name:<38} {mutant.component:<17} {stack:>5} {points:>8}  {finding}"


def source(mutant: Mutant) -> str:
    """Returns the original file of a bug, or an empty string if the file does not exist."""
    path = ROOT / mutant.file
    return path.read_text() if path.exists() else ""


def copy_tree(tree: Path, mutants: list[Mutant]) -> None:
    """Updates the copy with the files that git tracks or would add, and inserts the bugs.

    An environment variable selects the active bug. Files without changes keep their modification
    times, so that cargo compiles only changed files.
    """
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout
    wanted = {name for name in os.fsdecode(names).split("\0") if name and (ROOT / name).is_file()}
    for path in [each for each in tree.rglob("*") if each.is_file()]:
        if str(path.relative_to(tree)) not in wanted:
            path.unlink()
    for name in wanted:
        contents = (ROOT / name).read_bytes()
        for mutant in mutants:
            if mutant.file == name:
                planted = mutant.new.replace("PLANTED", PLANTED % json.dumps(mutant.name))
                contents = contents.replace(mutant.old.encode(), planted.encode())
        copy = tree / name
        if copy.is_file() and copy.read_bytes() == contents:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(contents)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]))
