#!/usr/bin/env bash
# Runs every fuzz target for so many seconds. What is found stays in fuzz/artifacts, what was learned in fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}

if ! cargo +nightly --version >/dev/null 2>&1 || ! cargo fuzz --version >/dev/null 2>&1; then
	echo "NOT FUZZED: this needs nightly Rust and cargo-fuzz:" \
		"rustup toolchain install nightly; cargo install cargo-fuzz" >&2
	exit 0
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=()
for target in $(cargo +nightly fuzz list); do
	if cargo +nightly fuzz run "$target" -- -max_total_time="$seconds" -print_final_stats=1 >"$log" 2>&1; then
		echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
	else
		failed+=("$target")
		tail -n 40 "$log" >&2
	fi
done
if [ "${#failed[@]}" -gt 0 ]; then
	echo "failed: ${failed[*]}; the inputs are in fuzz/artifacts" >&2
	exit 1
fi
