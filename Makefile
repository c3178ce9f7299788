# The commands of this project; `make` without a target lists them.
#
# Requirements: Python 3.11 or later, make, a C compiler, and cargo. All other dependencies are fetched
# from PyPI and crates.io, pinned by uv.lock and Cargo.lock, into .uv/, .venv/, and target/.

PYTHON ?= python3
UV_VERSION := 0.13.8
UV := .uv/bin/uv
UV_READY := .uv/ready-$(UV_VERSION)
BIN := .venv/bin
MODULE := python/nacre/_core.abi3.so

# The profile `checked` is optimized and keeps the assertions, so that one compilation serves the Rust
# tests, the extension module, and the demo. Cargo must then choose the same features of every dependency
# in `cargo test` as in the build of the module. The crate of the module is therefore among the tested
# crates, although it has no Rust tests; the benchmarks and their dependencies are excluded.
TESTED := --locked --workspace --exclude nacre-bench --profile checked
XTASK := cargo build --quiet $(TESTED) --bin xtask && $${CARGO_TARGET_DIR:-target}/checked/xtask

# Program that merges the profiles of trained builds (docs/decisions/0033), if rustup has the component llvm-tools.
PROFDATA = $(dir $(shell rustc --print target-libdir))bin/llvm-profdata

# Seconds that `make fuzz` gives each target.
FUZZ_S := 60

# Duration of `make crash` in seconds, and the first seed of its random stacks.
CRASH_S := 60
CRASH_SEED := $(shell date +%s)

# Number and first seed of the stacks in the fixed corpus of `make test`, and the seconds for which it tests other
# stacks, whose seeds are derived from the commit (docs/decisions/0018).
CRASHED := 150
CRASHED_FROM := 10000000
CRASHED_S := 20
COMMIT = $(shell git rev-parse --verify --quiet HEAD || echo 0)

# The environment of the project is .venv, regardless of the active environment.
unexport VIRTUAL_ENV
export UV_PROJECT_ENVIRONMENT := .venv

.DEFAULT_GOAL := help
.PHONY: help clients compiled environment fetched demo test test-rust test-samples test-python test-browser test-wheel check bench crash crash-mutants fuzz wheel wheel-test sdist docs gen reproduced reference fmt lock clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{ printf "  make %-11s %s\n", $$1, $$2 }'

demo: environment ## set up the environment and run the example; results are in out/demo
	$(BIN)/python examples/equal_cost_caches.py --out out/demo

# Compilation and downloads run in parallel. The Rust tests, which leave a processor idle at the end of each crate, run in
# parallel with the builds of the extension module and the wheel, which use one processor.
test: $(UV_READY) ## run all tests
	@$(MAKE) --no-print-directory --jobs 2 compiled fetched
	@$(MAKE) --no-print-directory --jobs 2 test-rust test-wheel
	@$(MAKE) --no-print-directory test-python

# Without the job server of make, cargo uses all processors.
compiled:
	MAKEFLAGS= cargo build $(TESTED) --tests --bin xtask

# Fetches packages from PyPI but does not build the extension module, because two cargo processes would block each other.
fetched: $(UV_READY) clients
	$(UV) sync --quiet --locked --extra dev --python $(PYTHON) --no-install-project --inexact

test-rust: ## run the Rust tests, check generated files, and test random stacks
	MAKEFLAGS= cargo test $(TESTED) -- --quiet
	$(XTASK) gen --check
	$(XTASK) crash $(CRASHED_FROM) $(CRASHED)
	$(XTASK) crash $(COMMIT) for $(CRASHED_S)

test-samples: environment ## run the tests on published traces in the folder NACRE_SAMPLES (listed in crates/workload/src/trace/tests/samples.rs)
	@test -d "$(NACRE_SAMPLES)" || { echo "make test-samples NACRE_SAMPLES=FOLDER" >&2; exit 1; }
	MAKEFLAGS= NACRE_SAMPLES="$(abspath $(NACRE_SAMPLES))" cargo test $(TESTED) -- --quiet --ignored
	NACRE_SAMPLES="$(abspath $(NACRE_SAMPLES))" $(BIN)/python -m pytest -q tests/python/test_trace_shape.py

test-python: environment clients ## run the Python tests, including the examples in documents
	$(BIN)/python -m pytest -q --numprocesses auto --dist worksteal

test-browser: environment clients ## run only the browser tests of the explorer; NACRE_PICTURES=FOLDER saves pictures
	$(BIN)/python -m pytest -q tests/python/test_explore_browser.py tests/python/test_explore_addresses.py tests/python/test_explore_tabs.py

check: environment ## check formatting, lints, types, tidiness, and licenses
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
	else echo "NOT CHECKED: licenses and advisories of crates; cargo install cargo-deny" >&2; fi
	@tools/audit_packages.sh $(UV)

bench: $(UV_READY) ## run the benchmarks, trained like the wheel, and rivals on the same streams
	tools/trained_bench.sh "$(PROFDATA)"
	target/release/nacre-bench streams out/bench
	$(UV) run --no-project --python $(PYTHON) --with libcachesim==0.3.5 crates/bench/rivals.py out/bench \
		> out/bench/rivals.json || echo "libCacheSim did not run, so its figures are missing" >&2
	$(UV) run --no-project --python $(PYTHON) --with bchlib==2.1.3 crates/bench/rival_codes.py \
		> out/bench/rival_codes.json || echo "bchlib did not run, so its figures are missing" >&2
	target/release/nacre-bench run out/bench
	target/release/nacre-bench counts crates/bench/counts.json

crash: ## test power loss on random stacks on all cores, for CRASH_S seconds from CRASH_SEED
	$(XTASK) crash $(CRASH_SEED) for $(CRASH_S)

crash-mutants: ## insert bugs into a copy of the tree, which the fixed corpus must find; MUTANT="NAME" selects one
	$(PYTHON) tools/crash_mutants.py target/mutants $(CRASHED_FROM) $(CRASHED) $(if $(MUTANT),"$(MUTANT)")

fuzz: ## run each fuzz target for FUZZ_S seconds; needs nightly Rust and cargo-fuzz
	@tools/fuzz.sh $(FUZZ_S)

clients: ## install the programs that the tests of served devices and pages need, if possible
	@tools/install_clients.sh

# With llvm-tools, maturin builds twice; the second build uses the profile recorded by tools/training.py.
wheel: $(UV_READY) ## build the release wheel in dist/
	rm -f dist/*.whl
	@test -x "$(PROFDATA)" || echo "NOT TRAINED, and slower: rustup component add llvm-tools" >&2
	$(if $(wildcard $(PROFDATA)),MATURIN_PGO=true) $(UV) build --wheel --out-dir dist --python $(PYTHON) --config-setting build-args="--strip --locked"

wheel-test: wheel ## install the release wheel with pip in an empty environment and run it
	PYTHON=$(PYTHON) tests/wheel.sh dist/*.whl pip

sdist: $(UV_READY) ## build the source distribution in dist/
	rm -f dist/*.tar.gz
	$(UV) build --sdist --out-dir dist --python $(PYTHON)

# The tools for the site have a separate environment. The reference is read from the source, so no code is compiled.
docs: $(UV_READY) ## build the documents as a static site with search in out/docs
	UV_PROJECT_ENVIRONMENT=.uv/docs $(UV) sync --quiet --locked --only-group docs --python $(PYTHON)
	NO_MKDOCS_2_WARNING=1 .uv/docs/bin/mkdocs --quiet build --strict
	@echo out/docs/index.html

test-wheel: environment
	rm -rf target/wheel-test
	MAKEFLAGS= $(UV) build --quiet --wheel --out-dir target/wheel-test --python $(PYTHON) \
		--config-setting build-args="--profile checked --locked"
	PYTHON=$(PYTHON) tests/wheel.sh target/wheel-test/*.whl $(UV)

gen: ## generate schemas, Python classes, and the model reference from the models
	$(XTASK) gen

reproduced: environment ## reproduce every paper, and save the results that the explorer shows before the first run
	rm -rf out/reproduced
	$(BIN)/python tools/reproduced.py out/reproduced

reference: environment ## generate docs/api, man pages, and presets from Python
	$(BIN)/python tools/reference.py

fmt: environment ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: $(UV_READY) ## update Cargo.lock and uv.lock after a change of dependencies
	cargo update --workspace
	$(UV) lock --python $(PYTHON) --default-index https://pypi.org/simple

clean: ## remove all generated files
	rm -rf .uv .venv dist out target .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f python/nacre/_core*.so
	find python tests examples -name __pycache__ -prune -exec rm -rf {} +

# uv takes a tenth of a second if nothing has changed. It caches built modules, so it needs an option if
# the module is missing in the tree. The package in the tree is compiled to bytecode here, so that
# commands start faster even if Python is configured not to write bytecode.
environment: $(UV_READY)
	MAKEFLAGS= $(UV) sync --locked --extra dev --python $(PYTHON) $(if $(wildcard $(MODULE)),,--reinstall-package nacre)
	@$(BIN)/python -m compileall -q python/nacre

$(UV_READY):
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(v < (3, 11) and f"Nacre needs Python 3.11 or later; $(PYTHON) is {v[0]}.{v[1]}. Try make PYTHON=python3.12")'
	@command -v cargo >/dev/null || { echo "Nacre needs cargo: see https://rustup.rs" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .uv || { echo "Nacre needs Python's venv: on Debian, apt install python3-venv" >&2; exit 1; }
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@
