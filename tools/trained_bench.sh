#!/usr/bin/env bash
# Builds the benchmarks like wheels: profile-guided, with the training workload in crates/bench/training.toml
# (docs/decisions/0033). The argument is the path of llvm-profdata; if it does not exist, the build has no profile.
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
# cargo recompiles if flags differ, but does not notice a changed profile: its name has a checksum of its inputs.
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
