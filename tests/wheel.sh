#!/bin/sh
# Installs a wheel into an empty environment and runs Nacre there, away from the source tree.
# usage: tests/wheel.sh WHEEL INSTALLER, where INSTALLER is pip or the path of uv
set -eu

wheel=$(realpath "$1")
case "$2" in pip) installer=pip ;; *) installer=$(realpath "$2") ;; esac
python=${PYTHON:-python3}

empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
cd "$empty"
"$python" -m venv environment
if [ "$installer" = pip ]; then
    environment/bin/python -m pip install --quiet --disable-pip-version-check "$wheel"
else
    "$installer" pip install --quiet --python environment/bin/python "$wheel"
fi

environment/bin/nacre run server-cache --json > record.json
test -s environment/share/man/man1/nacre-run.1
environment/bin/nacre new cache_for_the_money.toml -o money.toml > /dev/null
for example in first_look.ipynb equal_cost_caches.py crash_database.py remount.sh; do
    environment/bin/nacre new "$example" > /dev/null
done
environment/bin/python - <<'EOF'
import json
import pathlib

import nacre
from nacre.explorer.app import PAGES, STATIC
from nacre.papers.spec.paper import find, papers

assert [find(name).claims for name in papers()], "no paper in the wheel"
assert all((STATIC / "pages" / f"{name}.js").is_file() for name in PAGES), "no pages in the wheel"
record = json.loads(pathlib.Path("record.json").read_text())
requests = record["requests"]
assert record["version"] == nacre.__version__, (record["version"], nacre.__version__)
assert requests["issued"] == requests["completed"] > 0, requests
print(f"wheel: nacre {nacre.__version__} served {requests['completed']} requests from an empty environment")
EOF
