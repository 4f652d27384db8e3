# Stamps and cargo know what is up to date: a second run of any target is quick.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo play play-if-possible field papers docs test tests-built tests-field tests-lab tests-kernel lint lint-rust \
	lint-python test-rust test-python test-live test-kernels kernel-files kernel-tools programs bench bench-smoke same fmt \
	tools field-tools field-if-possible examples wheel static package ns2-grid

export CARGO_TERM_COLOR ?= auto
# Property tests try the same cases each time; other ones with PROPTEST_RNG_SEED=$RANDOM.
export PROPTEST_RNG_SEED ?= 1
BIN := .venv/bin
DEMO_OUT := out/demo
WASM_TARGET := wasm32-unknown-unknown
# Of airtcpd; the tests take what `cargo test` has built already.
FIELD_PROFILE ?= python
KERNELS ?= 5.10 6.1 6.12 7.3
# Other packages would be other features, and all would be built anew.
FIELD_PACKAGES ?= -p airtcp-live
# Expanded when used, because a target may have installed clang by then; without clang the field is left out.
NO_FIELD = $(if $(shell command -v clang),,--exclude airtcp-kernel --exclude airtcp-kernel-host --exclude airtcp-live)
# The simulator without its shortcuts, whose results are the same.
NO_SHORTCUTS := -p airtcp-sim --no-default-features
# Before a command that is to have a processor only where nothing else wants one: so tests in real time are not late.
export WHEN_IDLE := $(shell chrt --idle 0 true 2>/dev/null && echo chrt --idle 0 || echo nice)
PYTEST_LAB := $(WHEN_IDLE) $(BIN)/pytest -m "not live and not programs" -n logical --dist loadfile
PYTEST_FIELD = AIRTCPD=$$(realpath -eq target/debug/airtcpd) $(BIN)/pytest -m live
RUST_SOURCES := $(shell find crates/{capture,proto,py,sim,wire} -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock \
	scenarios/default.toml

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

demo: .venv/engine.stamp ## install what is missing, build, compare TCPs on a lossy link
	$(BIN)/airtcp compare --out $(DEMO_OUT)
	@echo
	@echo "The figures are in $(DEMO_OUT)/:"
	@find $(DEMO_OUT) -name '*.png' | sort | sed 's/^/  /'

play: ## build the playground, the simulator as WebAssembly in one page, and say where it is
	@rustup target list --installed | grep -q $(WASM_TARGET) || rustup target add $(WASM_TARGET)
	cargo build --profile web --target $(WASM_TARGET) -p airtcp-web --lib
	python3 scripts/playground.py target/$(WASM_TARGET)/web/airtcp_web.wasm python/airtcp/play/playground.html
	@echo "The playground is in python/airtcp/play/playground.html; $(BIN)/airtcp play opens it"

play-if-possible:
	@if rustup target list --installed 2>/dev/null | grep -q $(WASM_TARGET) || rustup -q target add $(WASM_TARGET) 2>/dev/null; \
	    then $(MAKE) --no-print-directory play; \
	    else echo "without Rust's target $(WASM_TARGET), the playground is left out"; fi

field: field-tools ## install what is missing, build airtcpd: link emulator, eBPF congestion controls and timers
	@command -v clang >/dev/null || { echo "make field needs clang, on Debian: apt-get install clang libelf-dev zlib1g-dev pkg-config"; exit 1; }
	cargo build --profile $(FIELD_PROFILE) $(FIELD_PACKAGES) --bin airtcpd
	@[ $(FIELD_PROFILE) = dev ] || install -D target/$(FIELD_PROFILE)/airtcpd $(BIN)/airtcpd
	@echo "airtcpd is built; begin with: sudo $$(ls $(BIN)/airtcpd 2>/dev/null || ls target/debug/airtcpd) doctor"

# TRACES names a folder of capacity traces in mahimahi's format, NAME.down and NAME.up; without it, Concord's page has none.
papers: .venv/engine.stamp ## repeat the papers' experiments and write docs/papers.md, docs/air.md, docs/cross.md and docs/concord.md
	$(BIN)/airtcp paper all --out out/papers --docs docs
	$(BIN)/airtcp paper air --out out/air --docs docs
	$(BIN)/airtcp paper cross --out out/cross --docs docs
	$(BIN)/airtcp paper concord --out out/concord --docs docs $(if $(TRACES),--traces $(TRACES))

docs: .venv/engine.stamp play-if-possible ## the documentation site, in out/docs
	$(BIN)/sphinx-build -W --keep-going -q -b html docs out/docs
	@echo "The site is in out/docs/index.html"

examples: .venv/engine.stamp ## run the notebooks of examples/ again and keep what comes out
	$(BIN)/python scripts/examples.py

wheel: play .venv/engine.stamp ## a wheel in dist/, for any Python from 3.11 on; it needs no Rust where it is installed
	$(BIN)/python scripts/packed_plotly.py
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin build --out dist

static: field-tools ## airtcpd as one static program for any Linux, for x86-64 and aarch64, in dist/
	packaging/static.sh x86_64 dist/airtcpd-x86_64
	packaging/static.sh aarch64 dist/airtcpd-aarch64

package: static wheel .venv/engine.stamp ## for a release: airtcpd, Debian packages, an OCI image, in dist/, tried on Debian 11 to 13; as root
	@scripts/install-tools.sh dpkg-deb=dpkg debootstrap=debootstrap
	packaging/debian.sh "$$(ls -t dist/airtcp-*.whl | head -1)" dist 3.11 3.13
	packaging/releases.sh dist target/roots
	rm -rf dist/root
	SUITE=trixie packaging/root.sh dist/root dist/airtcpd_*_$$(dpkg --print-architecture).deb dist/airtcp_*+python3.13_*.deb \
	    iperf3 iproute2 iputils-ping kmod nftables
	rm dist/root/.made dist/root/usr/sbin/policy-rc.d
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct 2>/dev/null || date +%s) $(BIN)/python packaging/oci.py dist/root airtcp:latest dist/airtcp.oci.tar
	rm -rf dist/root dist/root.log
	packaging/try.sh dist/airtcp.oci.tar

# What Rust and what Python need is made side by side. Then tests in real time, which mostly wait, run one after the other
# beside those that only compute.
test: tools field-tools ## every test and lint
	@$(MAKE) --no-print-directory -j2 --output-sync=line tests-built lint-python play-if-possible kernel-files
	@$(MAKE) --no-print-directory field-if-possible
	@log=$$(mktemp); $(MAKE) --no-print-directory tests-field >$$log 2>&1 & field=$$!; \
	    $(MAKE) --no-print-directory tests-lab && $(MAKE) --no-print-directory tests-kernel; lab=$$?; \
	    wait $$field; field=$$?; cat $$log; rm $$log; exit $$((lab | field))
	@$(MAKE) --no-print-directory bench-smoke

tests-built: lint-rust
	cargo test --workspace $(NO_FIELD) --tests --no-run
	cargo test $(NO_SHORTCUTS) --test integration --no-run

tests-field: test-rust
	$(PYTEST_FIELD)

tests-lab:
	$(PYTEST_LAB)

test-live: field .venv/engine.stamp tools programs ## the tests on this kernel: namespaces, eBPF, sockets, Debian's programs; as root
	cargo test -p airtcp-kernel -p airtcp-live --no-fail-fast
	$(BIN)/pytest -m "live or programs"

# Results do not depend on what else runs: the guests' clocks count instructions.
test-kernels: field kernel-tools ## every feature on KERNELS of Debian, under qemu; writes docs/kernels.md; as root
	python3 scripts/kernels $(KERNELS) --docs docs

# Beside the rest of the tests in real time, which it does not disturb: it has a processor only where nothing else wants one.
tests-kernel:
	@[ ! -e target/debug/airtcpd ] || $(WHEN_IDLE) \
	    python3 scripts/kernels 6.1 --airtcpd target/debug/airtcpd --if-possible --limit 150

kernel-files: kernel-tools
	@python3 scripts/kernels 6.1 --fetch --if-possible

kernel-tools:
	@scripts/install-tools.sh qemu-system-x86_64=qemu-system-x86 debootstrap=debootstrap

# In a root of their own: nothing is installed on this host, and none of their daemons starts.
programs: .venv/deps.stamp tools ## the programs that `make test-live` tries, from Debian, in target/programs; as root
	@scripts/install-tools.sh debootstrap=debootstrap
	@packaging/root.sh target/programs $$($(BIN)/python tests/python/programs/catalogue.py) \
	    || echo "could not be installed, what needs them is skipped"

# A test beside the program turns on the features that `cargo test` has built the libraries with: nothing is built twice.
field-if-possible: field-tools
	@if command -v clang >/dev/null; then $(MAKE) --no-print-directory field FIELD_PROFILE=dev FIELD_PACKAGES="--workspace --test usage"; \
	    else echo "without clang, the field is left out: airtcp-kernel, airtcp-live"; fi

field-tools:
	@scripts/install-tools.sh clang=clang pkg-config=pkg-config /usr/include/libelf.h=libelf-dev \
	    /usr/include/zlib.h=zlib1g-dev

lint: lint-rust lint-python ## formats, lints, types, and the ban on clocks and chance

lint-rust: field-tools
	cargo fmt --all --check
	cargo clippy --workspace $(NO_FIELD) --all-targets -- -D warnings
	cargo clippy $(NO_SHORTCUTS) -p airtcp-proto --all-targets -- -D warnings
	scripts/check-ban.sh
	python3 scripts/arrows.py --check 0 crates/kernel/src crates/live/src/bin/airtcpd crates/proto/src/tcp crates/sim/src crates/web/src

lint-python: .venv/engine.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/stubtest airtcp._engine
	$(BIN)/lint-imports

# No example stands in the documentation, so that rustdoc has nothing to run.
test-rust: tools field-tools ## cargo test
	cargo test --workspace $(NO_FIELD) --tests --config "target.'cfg(unix)'.runner = '$(CURDIR)/scripts/run-test.sh'"
	$(WHEN_IDLE) cargo test $(NO_SHORTCUTS) --test integration same::pins

test-python: .venv/engine.stamp tools field-if-possible play-if-possible ## pytest
	$(PYTEST_LAB)
	$(PYTEST_FIELD)

bench: .venv/engine.stamp ## CPU time and instructions per delivered packet, beside ns-2; writes docs/speed.md
	@scripts/install-tools.sh valgrind=valgrind ns=ns2
	cargo build --release -p airtcp-sim --example bulk
	python3 benches/run.py
	python3 benches/speed_page.py

ns2-grid: .venv/engine.stamp ## ns-2's senders and the profiles ns2-* over the same paths; writes docs/round-trips.md; skipped where ns-2 cannot be had
	@scripts/install-tools.sh ns=ns2
	$(BIN)/python benches/ns2/grid.py
	$(BIN)/python benches/ns2/round_trips.py

# BASE names a revision; without it, HEAD if the tree has changes, else the commit before.
same: ## thousands of runs with the engine of BASE and with the tree's: what is different?
	python3 scripts/same.py $(BASE)

bench-smoke: ## does the benchmark run at all?
	cargo build --workspace $(NO_FIELD) --example bulk
	python3 benches/run.py --smoke target/debug/examples/bulk

fmt: .venv/engine.stamp ## rewrite sources in the house format
	cargo fmt --all
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

tools: # what some tests need; they are skipped where it cannot be had
	@scripts/install-tools.sh tshark=tshark tcpdump=tcpdump tcptrace=tcptrace ip=iproute2 nft=nftables iperf3=iperf3 \
	    ping=iputils-ping fping=fping irtt=irtt mtr=mtr-tiny chromium=chromium

.venv/deps.stamp: pyproject.toml scripts/venv.sh
	scripts/venv.sh
	@touch $@

.venv/engine.stamp: .venv/deps.stamp $(RUST_SOURCES)
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop
	@$(BIN)/python -m compileall -q python # as pip compiles a wheel's modules: no command waits for it
	@touch $@
