# The words of this project. `make` alone lists them.
#
# Needed beforehand: Python 3.11 or later, make, a C compiler and cargo. Everything else is fetched
# from PyPI and crates.io, pinned by uv.lock and Cargo.lock, into .uv/, .venv/ and target/.

PYTHON ?= python3
UV_VERSION := 0.13.8
UV := .uv/bin/uv
UV_READY := .uv/ready-$(UV_VERSION)
BIN := .venv/bin
MODULE := python/nacre/_core.abi3.so

# `checked` is optimized and keeps the assertions: one compilation serves the Rust tests, the
# extension module and the demo. For that, cargo has to choose the same features of every dependency
# in `cargo test` as in the module's own build; so the module's crate is among the tested ones,
# though it has no Rust tests. The benchmarks and what only they need are not.
TESTED := --locked --workspace --exclude nacre-bench --profile checked
XTASK := cargo build --quiet $(TESTED) --bin xtask && $${CARGO_TARGET_DIR:-target}/checked/xtask

# What merges the profiles of trained builds (docs/decisions/0033), where rustup has its component llvm-tools.
PROFDATA = $(dir $(shell rustc --print target-libdir))bin/llvm-profdata

# Seconds that `make fuzz` gives each target.
FUZZ_S := 60

# Seconds that `make crash` takes, and the first seed of the stacks it draws.
CRASH_S := 60
CRASH_SEED := $(shell date +%s)

# Stacks that `make test` crashes beside the fixed corpus, the first seed they are drawn from, and the seconds for which
# it draws others, whose seeds follow from the commit (docs/decisions/0018).
CRASHED := 150
CRASHED_FROM := 10000000
CRASHED_S := 20
COMMIT = $(shell git rev-parse --verify --quiet HEAD || echo 0)

# Whatever environment the user is in, the project's own is .venv.
unexport VIRTUAL_ENV
export UV_PROJECT_ENVIRONMENT := .venv

.DEFAULT_GOAL := help
.PHONY: help clients compiled environment fetched demo test test-rust test-samples test-python test-browser test-wheel check bench crash crash-mutants fuzz wheel wheel-test sdist docs gen reproduced reference fmt lock clean

help: ## list these words
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "  make %-11s %s\n", $$1, $$2 }'

demo: environment ## set everything up and run the example; results go to out/demo
	$(BIN)/python examples/equal_cost_caches.py --out out/demo

# What compiles and what waits for a network go side by side, and so do the Rust tests, which leave a processor idle at the
# end of each crate, and the extension module and a wheel of it, which keep one of two busy.
test: $(UV_READY) ## every test
	@$(MAKE) --no-print-directory --jobs 2 compiled fetched
	@$(MAKE) --no-print-directory --jobs 2 test-rust test-wheel
	@$(MAKE) --no-print-directory test-python

# cargo has a number of jobs of its own: without make's it takes all processors.
compiled:
	MAKEFLAGS= cargo build $(TESTED) --tests --bin xtask

# Packages from PyPI, but not the extension module: `environment` has it compiled, and one cargo would wait for another.
fetched: $(UV_READY) clients
	$(UV) sync --quiet --locked --extra dev --python $(PYTHON) --no-install-project --inexact

test-rust: ## the Rust tests, the tidiness of the tree, the freshness of generated files
	MAKEFLAGS= cargo test $(TESTED) -- --quiet
	$(XTASK) gen --check
	$(XTASK) crash $(CRASHED_FROM) $(CRASHED)
	$(XTASK) crash $(COMMIT) for $(CRASHED_S)

test-samples: environment ## tests on published traces, from the folder NACRE_SAMPLES; crates/workload/src/trace/tests/samples.rs names them
	@test -d "$(NACRE_SAMPLES)" || { echo "make test-samples NACRE_SAMPLES=FOLDER" >&2; exit 1; }
	MAKEFLAGS= NACRE_SAMPLES="$(abspath $(NACRE_SAMPLES))" cargo test $(TESTED) -- --quiet --ignored
	NACRE_SAMPLES="$(abspath $(NACRE_SAMPLES))" $(BIN)/python -m pytest -q tests/python/test_trace_shape.py

test-python: environment clients ## the Python tests, with the documents' examples
	$(BIN)/python -m pytest -q --numprocesses auto --dist worksteal

test-browser: environment clients ## the explorer's pages in a real browser alone; NACRE_PICTURES=FOLDER keeps pictures
	$(BIN)/python -m pytest -q tests/python/test_explore_browser.py tests/python/test_explore_addresses.py tests/python/test_explore_tabs.py

check: environment ## formatting, lints, types, tidiness, licences
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(XTASK) tidy
	$(XTASK) gen --check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python tools/typed_examples.py
	$(BIN)/python -m mypy.stubtest nacre._core
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --locked check; \
	else echo "NOT CHECKED: licences and advisories of crates; cargo install cargo-deny" >&2; fi
	@tools/audit_packages.sh $(UV)

bench: $(UV_READY) ## the benchmarks, trained as the wheel is, beside rivals on the same streams
	tools/trained_bench.sh "$(PROFDATA)"
	target/release/nacre-bench streams out/bench
	$(UV) run --no-project --python $(PYTHON) --with libcachesim==0.3.5 crates/bench/rivals.py out/bench \
		> out/bench/rivals.json || echo "libCacheSim did not run: no figures of it below" >&2
	$(UV) run --no-project --python $(PYTHON) --with bchlib==2.1.3 crates/bench/rival_codes.py \
		> out/bench/rival_codes.json || echo "bchlib did not run: no figures of it below" >&2
	target/release/nacre-bench run out/bench
	target/release/nacre-bench counts crates/bench/counts.json

crash: ## drawn stacks lose their power on all cores, for CRASH_S seconds from CRASH_SEED on
	$(XTASK) crash $(CRASH_SEED) for $(CRASH_S)

crash-mutants: ## plants bugs into a copy of the tree, which the fixed corpus of crashes must catch; MUTANT="NAME" only that
	$(PYTHON) tools/crash_mutants.py target/mutants $(CRASHED_FROM) $(CRASHED) $(if $(MUTANT),"$(MUTANT)")

fuzz: ## every fuzz target for FUZZ_S seconds, where nightly Rust and cargo-fuzz are
	@tools/fuzz.sh $(FUZZ_S)

clients: ## install the programs that served devices and pages are tested with, where that is possible
	@tools/install_clients.sh

# With it maturin builds twice: what tools/training.py does in between says what the second build is laid out by.
wheel: $(UV_READY) ## the release wheel, into dist/
	rm -f dist/*.whl
	@test -x "$(PROFDATA)" || echo "NOT TRAINED, and slower: rustup component add llvm-tools" >&2
	$(if $(wildcard $(PROFDATA)),MATURIN_PGO=true) $(UV) build --wheel --out-dir dist --python $(PYTHON) --config-setting build-args="--strip --locked"

wheel-test: wheel ## the release wheel, installed with pip into an empty environment, runs there
	PYTHON=$(PYTHON) tests/wheel.sh dist/*.whl pip

sdist: $(UV_READY) ## the source distribution, into dist/
	rm -f dist/*.tar.gz
	$(UV) build --sdist --out-dir dist --python $(PYTHON)

# Its tools have an environment of their own, which only this needs; the reference is read from the source, so nothing is compiled.
docs: $(UV_READY) ## the documents as a static site with search, into out/docs
	UV_PROJECT_ENVIRONMENT=.uv/docs $(UV) sync --quiet --locked --only-group docs --python $(PYTHON)
	NO_MKDOCS_2_WARNING=1 .uv/docs/bin/mkdocs --quiet build --strict
	@echo out/docs/index.html

test-wheel: environment
	rm -rf target/wheel-test
	MAKEFLAGS= $(UV) build --quiet --wheel --out-dir target/wheel-test --python $(PYTHON) \
		--config-setting build-args="--profile checked --locked"
	PYTHON=$(PYTHON) tests/wheel.sh target/wheel-test/*.whl $(UV)

gen: ## write what is generated from the rooms: schemas, Python classes, the model reference
	$(XTASK) gen

reproduced: environment ## recompute every paper, and keep what the explorer shows of that before anything is run
	rm -rf out/reproduced
	$(BIN)/python tools/reproduced.py out/reproduced

reference: environment ## write what is generated from Python: docs/api, man pages, presets
	$(BIN)/python tools/reference.py

fmt: environment ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(UV_READY) ## write Cargo.lock and uv.lock anew after a change of dependencies
	cargo update --workspace
	$(UV) lock --python $(PYTHON) --default-index https://pypi.org/simple

clean: ## remove everything that was made
	rm -rf .uv .venv dist out target .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/nacre/_core*.so
	find python tests examples -name __pycache__ -prune -exec rm -rf {} +

# uv answers in a tenth of a second when nothing has changed. It remembers built modules in its own
# cache, so it is told when the module has gone from the tree. What it installs has bytecode; the package
# in the tree gets its own here, where Python may be told to write none: each command starts sooner.
environment: $(UV_READY)
	MAKEFLAGS= $(UV) sync --locked --extra dev --python $(PYTHON) $(if $(wildcard $(MODULE)),,--reinstall-package nacre)
	@$(BIN)/python -m compileall -q python/nacre

$(UV_READY):
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(v < (3, 11) and f"Nacre needs Python 3.11 or later; $(PYTHON) is {v[0]}.{v[1]}. Try make PYTHON=python3.12")'
	@command -v cargo >/dev/null || { echo "Nacre needs cargo: see https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .uv || { echo "Nacre needs Python's venv: on Debian, apt install python3-venv" >&2; exit 1; }
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@
