#!/usr/bin/env bash
# Builds the benchmarks as wheels are built: laid out by what crates/bench/training.toml lists (docs/decisions/0033).
# The path of llvm-profdata is given; where it is not there, they are built without a training.
set -euo pipefail
cd "$(dirname "$0")/.."

build=(cargo build --locked --release -p nacre-bench)
profdata=$1
if [ ! -x "$profdata" ]; then
	echo "NOT TRAINED, and slower than a wheel: rustup component add llvm-tools" >&2
	exec "${build[@]}"
fi

here=$PWD/target/training
RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$here/raw" "${build[@]}" --target-dir "$here"
# cargo compiles anew where flags differ, and does not notice that a profile has: so its name has a checksum of what makes it.
made_from=("$here/release/nacre-bench" crates/bench/training.toml python/nacre/traces/*)
profile=$here/$(cat "${made_from[@]}" | cksum | tr ' ' -).profdata
if [ ! -e "$profile" ]; then
	# Build scripts are instrumented too, and have left what they did.
	rm -rf "$here"/raw "$here"/*.profdata
	"$here/release/nacre-bench" train crates/bench/training.toml python/nacre/traces
	"$profdata" merge --output "$here/unnamed" "$here/raw"
	mv "$here/unnamed" "$profile"
fi
NACRE_TRAINED=yes RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-use=$profile" "${build[@]}"
