# Needs Python 3.11 or later, a Rust toolchain and make; everything else goes into $(VENV).

PYTHON ?= python3
VENV ?= .venv
CARGO ?= cargo
BIN := $(VENV)/bin

# The tests start thousands of Python processes that import the same modules. Python caches their bytecode, even if the environment disables that.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help build demo docs test test-long test-rust test-rust-long test-python test-python-long test-times check own-examples golden-corpus explore reproduction validation fits settled campaign metamorphic faults cuts fuzz fuzz-importers coverage mutants sbom wheel lock soak lint format generate outputs picture check-generated bench bench-sweeps bench-threads bench-many bench-recording bench-mqsim bench-drive clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# The environment and the compiled module are files with a time: made again when what they come from is newer. Packages are installed by uv,
# which takes a tenth of the processor time that pip does. It knows the settings of pip that name where packages are; where it fails pip does it.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV := $(if $(PIP_INDEX_URL),UV_DEFAULT_INDEX=$(PIP_INDEX_URL)) $(if $(PIP_FIND_LINKS),UV_FIND_LINKS=$(PIP_FIND_LINKS)) $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes
ENVIRONMENT := $(VENV)/.installed
NATIVE := $(VENV)/.native
TESTED := $(VENV)/.tested
SOURCES := pyproject.toml Cargo.toml Cargo.lock $(shell find crates -type f -path '*/src/*') $(wildcard crates/*/Cargo.toml crates/*/build.rs)

$(ENVIRONMENT): requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "flashmesh needs Python 3.11 or later; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@awk '/^[^ ]/ { wanted = /^uv==/ } wanted' requirements.lock > $(VENV)/uv.lock
	@{ $(PIP) --requirement $(VENV)/uv.lock && $(UV) --requirement requirements.lock; } || { echo "uv cannot install the packages: pip does"; $(PIP) --requirement requirements.lock; }
	@touch $@

# Packages are installed while the core is compiled: neither keeps all processors busy.
MATURIN := PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --locked --quiet
$(NATIVE): BUILD_OPTIONS := --profile quick
# Tests run with the module of `make build` where it is up to date. Where it is not they get one around the core that the Rust tests have:
# nothing is compiled twice, the Python tests take as long, and long simulations a third longer.
$(TESTED): BUILD_OPTIONS := --features flashmesh/internals
$(NATIVE) $(TESTED): requirements.lock $(SOURCES)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(ENVIRONMENT) plugin BUILD_OPTIONS='$(BUILD_OPTIONS)'
	@rm -f $(NATIVE)
	$(MATURIN) $(BUILD_OPTIONS)
	@touch $(TESTED) $@

.PHONY: plugin
plugin:
	$(CARGO) build --quiet --locked --package flashmesh-nbdkit $(BUILD_OPTIONS)

build: $(NATIVE) ## Build everything into the virtual environment

# What the demo compares, how precisely, and the window of its recording.
COMPARISON := examples/demo.toml --vary fabric.kind=bus,pssd,nossd,venice,ideal --vary workload.read-share=75%,100% --precision 2% --set workload.requests=3000000 --set measure.epoch=5ms --set measure.window-start=50us

demo: $(NATIVE) ## Compare five interconnects on a measured drive, with three reads to a write and with reads alone; results and a report under out/demo
	@mkdir -p out/demo
	$(BIN)/flashmesh compare $(COMPARISON) --set measure.network=true --json out/demo/comparison.json --parquet out/demo/comparison.parquet
	$(BIN)/flashmesh report out/demo/comparison.json -o out/demo/report.html

docs: $(NATIVE) ## Build the documentation site into out/site; a warning or a broken link fails
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --builder html docs out/site

# All programs of the tests are compiled at once. The Python module needs only the core, but compiling the core alone leaves processors idle.
# Then both suites run in parallel: a long test uses one processor, and the other suite uses the rest.
test: ## Run the tests of every feature; 8 to 11 minutes on two idle cores with the build, 4 to 6 without
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target $(ENVIRONMENT) compiled-tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-rust test-python

.PHONY: compiled-tests
compiled-tests:
	$(CARGO_TEST_SHORT) --quiet --no-run

test-long: $(NATIVE) ## Run what `make test` leaves out: every case of the random tests, the Python tests marked long (all pages, papers, browsers, kills, campaigns)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target test-rust-long test-python-long

# Random tests draw the same cases on every machine, so that what passed once passes again: SHORT_CASES where proptest would draw 256,
# and the same share of all other numbers of cases (crates/flashmesh-workload/tests/support/cases.rs).
# The examples come last, so that one that fails hides no test.
SHORT_CASES := 24
CARGO_TEST := $(CARGO) test --workspace --locked --no-fail-fast
# The smoke runs of the fuzz targets are left to `make test-long`: compiling their fuzzer takes longer than the runs.
CARGO_TEST_SHORT := $(CARGO_TEST) --exclude flashmesh-fuzz
DRAWN := PROPTEST_RNG_SEED=1 PROPTEST_CASES=$(SHORT_CASES)

test-rust:
	$(DRAWN) $(CARGO_TEST_SHORT)
	$(MAKE) --no-print-directory own-examples

test-rust-long:
	PROPTEST_RNG_SEED=1 $(CARGO_TEST)

# Parts of one's own, from CONTRIBUTING.md. `cargo test --workspace` has compiled them; `cargo run` would compile the core again, with other features.
EXAMPLES := $(or $(CARGO_TARGET_DIR),target)/debug/examples
OWN_EXAMPLES := $(sort $(basename $(notdir $(wildcard crates/flashmesh/examples/own_*.rs))))

own-examples: ## Run the examples of parts of one's own
	$(CARGO_TEST_SHORT) --quiet --no-run
	for example in $(OWN_EXAMPLES); do $(EXAMPLES)/$$example || exit 1; done

# The integration program that covers each room; a room without a line has whole_drive.
PROGRAM_cache := host
PROGRAM_check := fabrics
PROGRAM_config := configuration
PROGRAM_controller := firmware
PROGRAM_datapath := fabrics
PROGRAM_fabric := fabrics
PROGRAM_flash := fabrics
PROGRAM_frontend := host
PROGRAM_ftl := firmware
PROGRAM_host := host
PROGRAM_persistence := firmware
PROGRAM_policies := firmware
PROGRAM_recording := fabrics
PROGRAM_schedule := firmware
ROOM ?= fabric

# Whole suites are compiled once (Cargo.toml); a room is compiled again and again.
check: export CARGO_INCREMENTAL := 1
check: ## Compile and test one room of the core, a folder of crates/flashmesh/src: ROOM=fabric
	@test -e crates/flashmesh/src/$(ROOM) -o -e crates/flashmesh/src/$(ROOM).rs || { echo "crates/flashmesh/src has no $(ROOM)" >&2; exit 2; }
	$(DRAWN) $(CARGO) test --quiet --locked --package flashmesh --lib -- $(ROOM)::
	$(DRAWN) $(CARGO) test --quiet --locked --package flashmesh --test $(or $(PROGRAM_$(ROOM)),whole_drive)


golden-corpus: ## Write the stored results of random drives anew, after a change that is meant to change them
	FLASHMESH_WRITE_GOLDEN_CORPUS=1 $(CARGO) test --locked --package flashmesh --test whole_drive golden_corpus

explore: ## Run the random tests on cases that were not drawn before; PROPTEST_CASES=N draws N of each
	PROPTEST_MAX_GLOBAL_REJECTS=1000000 $(CARGO) test --workspace --locked --no-fail-fast

# Several processes run tests, those of one file together where they share what is dear to make: the cores are busy until the end.
PYTEST := $(BIN)/python -m pytest --numprocesses=logical --maxprocesses=4 --dist=loadscope

test-python: $(TESTED)
	$(PYTEST) -m "not long"

test-python-long: $(NATIVE)
	$(PYTEST) -m long

reproduction: $(NATIVE) ## Reproduce the published figures and write docs/reproduction; goes on where it stopped
	@mkdir -p out
	$(BIN)/flashmesh reproduce --quick --drift --results out/reproduction -o docs/reproduction

validation: $(NATIVE) ## Hold the presets of real drives to what was measured and write docs/validation; goes on where it stopped
	@mkdir -p out
	$(BIN)/flashmesh validate --results out/validation --pages docs/validation; status=$$?; test $$status -eq 0 -o $$status -eq 3

fits: $(NATIVE) ## Search the keys that the papers leave open, and write the fits into docs/reproduction; goes on where it stopped
	@mkdir -p out
	$(BIN)/flashmesh reproduce --fit --quick --results out/reproduction -o docs/reproduction

settled: $(NATIVE) ## Hold intervals and verdicts of short runs against long runs of random drives; ARGS=--help shows more
	PYTHONPATH=tests $(BIN)/python -m campaign.settled $(ARGS)

campaign: $(NATIVE) ## Simulate random drives under all oracles and check them by other means; RUNS, SEED, MINUTES; goes on where it stopped; REPEAT=FILE runs a failure again
	@mkdir -p out
	PYTHONPATH=tests $(BIN)/python -m campaign --out out/campaign $(if $(REPEAT),--repeat $(REPEAT)) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(RUNS)$(if $(MINUTES),,1),--runs $(or $(RUNS),10000)) --seed $(or $(SEED),1)

metamorphic: $(NATIVE) ## Compare runs that must agree, on random drives; MINUTES, SEED
	FLASHMESH_METAMORPHIC_MINUTES=$(or $(MINUTES),60) FLASHMESH_SEED=$(or $(SEED),2) $(BIN)/python -m pytest --capture=no tests/python/test_metamorphic.py -k relations

faults: $(NATIVE) ## Kill a thousand runs, searches, reproductions and reports at random moments, and look at what they leave
	FLASHMESH_KILLS=$(or $(KILLS),1000) $(BIN)/python -m pytest tests/python/test_faults.py tests/python/test_kills.py

cuts: ## Cut the power of random drives ten thousand times, and account for every acknowledged write; CUTS, SEED
	FLASHMESH_CUTS=$(or $(CUTS),10000) FLASHMESH_SEED=$(or $(SEED),1) $(CARGO) test --profile quick --locked --package flashmesh --test firmware power_cuts -- --nocapture

fuzz: ## Run the fuzz targets of every reader in turns; MINUTES, SEED, THREADS; goes on where it stopped
	@mkdir -p out
	$(CARGO) run --quiet --profile quick --locked --package flashmesh-fuzz --example long -- out/fuzz $(or $(MINUTES),60) $(or $(SEED),1) $(THREADS)

fuzz-importers: $(NATIVE) ## Damage what is read in Python: files of MQSim and fio, sweeps, searches, results; MINUTES, SEED; goes on where it stopped
	@mkdir -p out
	$(BIN)/python tests/python/fuzz_importers.py out/fuzz $(or $(MINUTES),60) $(or $(SEED),1)

# Fewer cases of random tests than usual, and no debug information, so that it ends in bounded time.
coverage: ## Measure which lines of the core its tests reach, by folder; CASES of each random test; needs cargo-llvm-cov (cargo install cargo-llvm-cov; rustup component add llvm-tools)
	@mkdir -p out
	PROPTEST_RNG_SEED=1 PROPTEST_CASES=$(or $(CASES),32) CARGO_PROFILE_TEST_DEBUG=0 CARGO_INCREMENTAL=0 $(CARGO) llvm-cov --package flashmesh --package flashmesh-base --package flashmesh-workload --locked --json --summary-only --output-path out/coverage.json $(ARGS)
	$(PYTHON) tools/coverage.py out/coverage.json

mutants: $(NATIVE) ## Put small faults into the core and count those that the tests find; COUNT, SEED; goes on where it stopped
	PYTHONPATH=tools $(BIN)/python -m mutants --short-cases $(SHORT_CASES) --count $(or $(COUNT),200) --seed $(or $(SEED),1)

sbom: $(ENVIRONMENT) ## Write what a release is made of, as CycloneDX, to out/sbom.json
	@mkdir -p out
	$(BIN)/python tools/supply_chain.py --sbom out/sbom.json

# Zig links against the glibc of manylinux2014 (2.17); without it a wheel needs a glibc about as new as that of this machine.
# PGO=1 is for releases: it builds twice, runs the benchmark in between, and needs llvm-profdata (rustup component add llvm-tools).
wheel: $(ENVIRONMENT) ## Build a wheel and a source distribution into out/dist; a wheel for older Linux too with ZIG=1, one trained on the benchmark with PGO=1
	rm -rf out/dist
	$(if $(PGO),$(BIN)/python -m bench.train)
	$(if $(ZIG),$(BIN)/python -m pip install --quiet --disable-pip-version-check ziglang==0.17.1)
	PATH="$(abspath $(BIN)):$$PATH" $(if $(PGO),RUSTFLAGS="$$RUSTFLAGS -Cprofile-use=$(abspath target/pgo/merged.profdata)") $(BIN)/maturin build --release --locked --strip --quiet --out out/dist $(if $(ZIG),--compatibility manylinux2014 --zig)
	$(BIN)/maturin sdist --out out/dist

lock: ## Write the hashes of what requirements.lock names
	@test -x $(BIN)/uv || $(MAKE) --no-print-directory $(ENVIRONMENT)
	$(BIN)/uv pip compile --quiet --generate-hashes --no-annotate --no-header --no-deps --python-version 3.11 requirements.lock > requirements.lock.new
	{ grep '^#' requirements.lock; cat requirements.lock.new; } > requirements.lock.whole
	mv requirements.lock.whole requirements.lock
	rm requirements.lock.new

soak: ## Run random drives, short and long, plain and with everything on, under all oracles; MINUTES, SEED; goes on where it stopped
	@mkdir -p out
	$(CARGO) run --quiet --profile quick --locked --package flashmesh --example soak -- out/soak $(or $(MINUTES),60) $(or $(SEED),1)

lint: $(ENVIRONMENT) ## Check formatting, lints and types
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(CARGO) clippy --package flashmesh --lib --locked --quiet -- -D warnings
	RUSTDOCFLAGS='-D rustdoc::broken_intra_doc_links -A rustdoc::private_intra_doc_links' \
		$(CARGO) doc --package flashmesh --no-deps --document-private-items --locked --quiet
	$(BIN)/python tools/import_rules.py
	$(BIN)/python tools/supply_chain.py
	$(BIN)/python tools/words.py
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy

format: $(ENVIRONMENT) ## Format all code
	$(CARGO) fmt --all
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet

# Built as `cargo test --workspace` builds them, so that the tests have nothing to compile again.
GENERATORS := $(CARGO) build --quiet --locked --workspace --features flashmesh-c/header --example generate --example header

generate: $(TESTED) ## Write the files that are generated from the declared parameters and results, and from the commands
	$(GENERATORS)
	$(EXAMPLES)/generate
	$(EXAMPLES)/header
	$(BIN)/python tools/cli_reference.py
	$(BIN)/python tools/mqsim_keys.py

test-times: $(NATIVE) ## Measure each test of `make test`, and write the table of the slow ones into docs/tests.md
	@mkdir -p out
	$(DRAWN) $(BIN)/python tools/test_times.py $(CARGO_TEST_SHORT)

outputs: $(NATIVE) ## Write anew what the README and docs/ show as the output of commands
	$(BIN)/python tools/shown_outputs.py

picture: $(NATIVE) ## Draw the picture of the README anew from stored figures, and that of the network; the latter needs Chromium and its driver
	$(BIN)/python tools/measured_picture.py
	$(BIN)/python tools/picture.py

check-generated: $(TESTED) ## Fail when a generated file is stale
	$(GENERATORS)
	$(EXAMPLES)/generate --check
	$(EXAMPLES)/header --check
	$(BIN)/python tools/cli_reference.py --check
	$(BIN)/python tools/measured_picture.py --check
	$(BIN)/python tools/mqsim_keys.py --check

bench: $(NATIVE) ## Measure the simulator; BASELINE=REVISION compares with that one in turns, ARGS=--help shows more
	$(BIN)/python -m bench $(if $(BASELINE),--baseline $(BASELINE)) $(ARGS)

bench-sweeps: $(NATIVE) ## Measure how much of the processor time of a sweep is not simulation
	$(BIN)/python -m bench.sweeps $(ARGS)

bench-threads: $(NATIVE) ## Measure the wall time that traces and logs add to a run
	$(BIN)/python -m bench.threads $(ARGS)

bench-many: $(NATIVE) ## Measure what a report and a table of 1,000 and of 10,000 runs take
	$(BIN)/python -m bench.many_runs $(ARGS)

bench-recording: $(NATIVE) ## Measure what recording the interconnect adds to the comparison of the demo
	$(BIN)/python -m bench.recording $(ARGS) -- $(COMPARISON)

bench-mqsim: $(NATIVE) ## Compare with MQSim on the same cases, in turns; MQSIM=FILE names the program you have built
	$(BIN)/python -m bench.against_mqsim $(MQSIM) $(ARGS)

bench-drive: $(NATIVE) ## Run MQSim as a drive that was measured, and keep its latencies; MQSIM=FILE names the program you have built
	$(BIN)/python -m bench.measured_drive $(MQSIM) $(ARGS)

clean: ## Remove everything that was made
	$(CARGO) clean
	rm -rf $(VENV) out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf python/flashmesh/_native*.so .mypy_cache .pytest_cache .ruff_cache
