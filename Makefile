# All there is to do with this tree; `make` alone prints it. Each target is a line or two, and
# .ci/run calls the same ones. Needed: Rust, gcc, make, Python 3.

ARCH ?= $(if $(filter aarch64 arm64,$(shell uname -m)),arm64,amd64)
PROFILE ?= release
TRIPLE := $(if $(filter arm64,$(ARCH)),aarch64,x86_64)-unknown-linux-gnu
CHARM := target/charm/lockstep_$(ARCH).charm

# One target directory, the one that packing/pack.py and the tests look into.
export CARGO_TARGET_DIR := $(CURDIR)/target

.PHONY: help build charm sim test conformance conformance-collector pack-test lint demo mutants prove fuzz bench soak clean
.DEFAULT_GOAL := help

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 13

# Static, so that one executable runs on every base; the flag needs an explicit --target.
build: ## the executable as it is packed, for ARCH (amd64, arm64; default: this machine's)
	RUSTFLAGS='-C target-feature=+crt-static' cargo build --locked --profile $(PROFILE) --package lockstep --target $(TRIPLE)

charm: build ## pack it: target/charm/lockstep_ARCH.charm, and the example
	python3 packing/pack.py --arch $(ARCH) --executable target/$(TRIPLE)/$(PROFILE)/lockstep
	python3 packing/pack.py --arch $(ARCH) --executable target/$(TRIPLE)/$(PROFILE)/lockstep --charm examples/principal

sim: ## the simulator
	cargo build --package juju-sim

test: charm sim ## all tests, on the packed charm
	cargo test --workspace --no-fail-fast

conformance: charm sim ## against the field's own programs, fetched into target/; docs/conformance.md
	tests/conformance/run

conformance-collector: ## a real collector against what is rendered for it; builds it with Go, takes many minutes
	tests/conformance/collector/run

pack-test: sim ## the real charmcraft packs a clean checkout, and the file is tried; needs root
	tests/conformance/pack

lint: ## formatting, clippy, rustdoc and Python, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links' cargo doc --workspace --no-deps --document-private-items
	python3 -W error -m py_compile packing/pack.py tests/mutants/run tests/conformance/run tests/conformance/pack tests/conformance/collector/run tests/conformance/screenshot tests/conformance/*.py

demo: charm sim ## the packed charm in a simulated Juju model
	target/debug/juju-sim run tests/scenarios/demo.yaml tests/scenarios/demo_rollout.yaml --charm lockstep=$(CHARM)

mutants: ## take rules out of the source one by one, and see that tests fail
	tests/mutants/run

# Optimised (profile quick): the widest searches take minutes even so. Then the mutants that they must find.
prove: ## the promises by model checking, and the rules they rest on by mutants; docs/reliability.md
	cargo test --profile quick --package lockstep --test prove -- --include-ignored --nocapture
	tests/mutants/run $(basename $(notdir $(wildcard tests/mutants/prove_*.patch)))

# cargo-fuzz needs a nightly toolchain; these are the same parsers under proptest, with many cases.
fuzz: ## the parsers of outside data, with many random and mutated inputs
	PROPTEST_CASES=20000 cargo test --profile quick --package lockstep --test parsers --test wire --test snap
	PROPTEST_CASES=20000 cargo test --profile quick --package lockstep --lib

bench: charm ## what a hook costs, beside a bare loop of the same calls; docs/performance.md
	cargo build --profile quick --package juju-sim
	cargo bench --profile quick --bench hooks

soak: charm sim ## the long tests too, more random cases, and random models in which things go wrong (LOCKSTEP_SEED, LOCKSTEP_RUNS)
	PROPTEST_CASES=4096 cargo test --workspace -- --include-ignored

clean: ## remove all that was built
	cargo clean
