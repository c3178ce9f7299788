#!/usr/bin/env bash
# Checks the Python packages in uv.lock for known vulnerabilities, if the vulnerability database is reachable.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if "$1" audit --quiet --locked --preview-features audit-command >"$log" 2>&1; then
	cat "$log"
elif grep -q -e 'error sending request' -e 'unrecognized subcommand' "$log"; then
	echo "NOT CHECKED: weaknesses of Python packages; $(grep -m 1 -e 'error' "$log")" >&2
else
	cat "$log" >&2
	exit 1
fi
