#!/usr/bin/env bash
# Runs every fuzz target for the given number of seconds (default: 60), one per processor at a time. Failing inputs are
# in fuzz/artifacts, and the corpus is in fuzz/corpus.
#
# With nightly Rust and cargo-fuzz, memory accesses are checked, too (AddressSanitizer). Otherwise the targets are built
# with stable Rust and equal coverage, which requires a C++ compiler for libFuzzer.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-60}
host=$(rustc -vV | sed -n 's/^host: //p')
targets=(fuzz_targets/*.rs)
targets=("${targets[@]#fuzz_targets/}")
targets=("${targets[@]%.rs}")

if cargo +nightly --version >/dev/null 2>&1 && cargo fuzz --version >/dev/null 2>&1; then
	echo "with AddressSanitizer" >&2
	cargo +nightly fuzz build --target "$host" >&2
elif command -v c++ >/dev/null; then
	echo "without AddressSanitizer, which needs nightly Rust and cargo-fuzz" >&2
	coverage=(-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
		-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
		-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg=fuzzing)
	RUSTFLAGS="${coverage[*]}" cargo build --quiet --release --target "$host" --target-dir target
else
	echo "NOT FUZZED: this needs a C++ compiler, or nightly Rust and cargo-fuzz" >&2
	exit 0
fi

one() {
	mkdir -p "corpus/$1" "artifacts/$1"
	local log status=0
	log=$(mktemp)
	"target/$2/release/$1" "corpus/$1" -artifact_prefix="artifacts/$1/" -max_total_time="$3" \
		-print_final_stats=1 >"$log" 2>&1 || status=$?
	if [ "$status" = 0 ]; then
		local runs places
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		places=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
		echo "$1: $runs inputs in $3 s, $places places reached"
	else
		tail -n 40 "$log" >&2
		echo "$1: failed; the input is in fuzz/artifacts/$1" >&2
	fi
	rm -f "$log"
	return "$status"
}
export -f one

# xargs continues after a failure, and fails at the end.
printf '%s\n' "${targets[@]}" | xargs -P "${FUZZ_JOBS:-$(nproc)}" -I '{}' bash -c 'one "$@" || exit 1' one '{}' "$host" "$seconds"
