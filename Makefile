# What needs doing is told by stamps and by cargo: a second run of any target is quick.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo papers docs test lint test-rust test-python bench bench-smoke fmt tools examples wheel

export CARGO_TERM_COLOR ?= auto
# Property tests try the same cases each time; other ones with PROPTEST_RNG_SEED=$RANDOM.
export PROPTEST_RNG_SEED ?= 1
BIN := .venv/bin
DEMO_OUT := out/demo
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock scenarios/default.toml

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: .venv/engine.stamp ## install what is missing, build, compare TCPs on a lossy link
	$(BIN)/airtcp compare --out $(DEMO_OUT)
	@echo
	@echo "The figures are in $(DEMO_OUT)/:"
	@find $(DEMO_OUT) -name '*.png' | sort | sed 's/^/  /'

papers: .venv/engine.stamp ## repeat the papers' experiments and write docs/papers.md and docs/cross.md
	$(BIN)/airtcp paper all --out out/papers --docs docs
	$(BIN)/airtcp paper cross --out out/cross --docs docs

docs: .venv/engine.stamp ## the documentation site, in out/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs out/docs
	@echo "The site is in out/docs/index.html"

examples: .venv/engine.stamp ## run the notebooks of examples/ again and keep what comes out
	$(BIN)/python scripts/examples.py

wheel: .venv/deps.stamp ## a wheel in dist/, for any Python from 3.11 on; it needs no Rust where it is installed
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin build --out dist

test: lint test-rust test-python bench-smoke ## every test and lint

lint: .venv/engine.stamp ## formats, lints, types, and the ban on clocks and chance
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	scripts/check-ban.sh
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/stubtest airtcp._engine

test-rust: tools ## cargo test
	cargo test --workspace

test-python: .venv/engine.stamp tools ## pytest
	$(BIN)/pytest

bench: ## CPU time and instructions per delivered packet, beside ns-2 where it can be had
	@scripts/install-tools.sh valgrind=valgrind ns=ns2
	cargo build --release -p airtcp-sim --example bulk
	python3 benches/run.py

bench-smoke: ## does the benchmark run at all?
	cargo build --profile python -p airtcp-sim --example bulk
	python3 benches/run.py --smoke target/python/examples/bulk

fmt: .venv/engine.stamp ## rewrite sources in the house format
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tools: # what some tests need; they are skipped where it cannot be had
	@scripts/install-tools.sh tshark=tshark tcpdump=tcpdump tcptrace=tcptrace ip=iproute2 chromium=chromium

.venv/deps.stamp: pyproject.toml scripts/venv.sh
	scripts/venv.sh
	@touch $@

.venv/engine.stamp: .venv/deps.stamp $(RUST_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop
	@touch $@
