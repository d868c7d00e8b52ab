# SPDX-License-Identifier: BSD-3-Clause
#
# The two commands to begin with are `make run` and `make test`; CMake does the work, in $(BUILD).
BUILD ?= build
PREFIX ?= /usr/local
# Tests wait a good deal of their time: one more at a time than there are cores, and at most eight, for their memory.
TEST_JOBS ?= $(shell n=$$(($$(nproc) + 1)); echo $$((n < 8 ? n : 8)))
# What is tried when nothing else is said: no test with the label long, and of the cases of the others one in four
# (tests/share.sh). CTEST_ARGS chooses tests, and then all cases are tried.
ifeq ($(origin CTEST_ARGS),undefined)
CTEST_ARGS = -LE long
SHARES = 4
else
SHARES = 1
endif
ifeq ($(origin TEST_SHARE),undefined)
TEST_SHARE := $(shell echo $$(($$(date +%s) % $(SHARES))))/$(SHARES)
endif
export SOAK_MINUTES SOAK_SEED TEST_JOBS COVERAGE_TESTS

CONFIGURE = cmake -S . -B $(BUILD) -G Ninja -DCMAKE_INSTALL_PREFIX=$(PREFIX) \
	$$(command -v mpicc.openmpi >/dev/null && echo -DMPI_C_COMPILER=mpicc.openmpi)
SOURCES = $(shell find src include apps bench tests -name '*.[ch]')

.PHONY: all run docs test chaos chaos-nodes kernels soak exhaustive bench paper figures install clean format
.PHONY: tidy layering calls coverage

all:
	@sh scripts/deps.sh test
	$(CONFIGURE) -DBUILD_TESTING=ON -DFTRMA_WERROR=ON
	cmake --build $(BUILD)

# Builds no more than the job needs; a directory configured for the tests stays so.
run:
	@sh scripts/deps.sh run
	@test -f $(BUILD)/build.ninja || $(CONFIGURE) -DBUILD_TESTING=OFF
	cmake --build $(BUILD) --target ftrma ftrun npb_ft
	@sh scripts/run.sh $(BUILD)

# `make test CTEST_ARGS=` runs all tests with all their cases. A fifth of the processor time of a job's start goes into
# looking for devices, for which no test asks.
test: export HWLOC_COMPONENTS = -linuxio
test: export HWLOC_PLUGINS_PATH = /none
test: all
	TEST_SHARE=$(TEST_SHARE) ctest --test-dir $(BUILD) --parallel $(TEST_JOBS) --output-on-failure --no-tests=error \
	    $(CTEST_ARGS)

# Every failpoint, every kind of victim, every program; `make test` draws from these.
chaos: all
	CHAOS_FULL=1 sh tests/chaos/chaos.sh $(BUILD)/bin

# Every failpoint, every kind of victim, on 2, 3 and 4 virtual nodes; `make test` draws a few of these.
chaos-nodes: all
	POINTS_FULL=1 sh tests/nodes/points.sh $(BUILD)

# The larger classes of npb_cg and lulesh, each without a loss and with losses, also with logs of their own; `make
# test` has the small ones.
kernels: all
	sh tests/local/kernels.sh $(BUILD)/bin large
	sh tests/local/kernels_log.sh $(BUILD)/bin large
	sh tests/local/kernels_log.sh $(BUILD)/bin draws

# Random failures for SOAK_MINUTES; the seed is printed and taken back from SOAK_SEED.
soak: all
	sh tests/local/soak.sh $(BUILD)/bin

# Orders of small jobs that are too many for the tests: an image taken alone and a death; snapshots with deaths after
# which a spare takes over. Some ten minutes.
exhaustive: all
	$(BUILD)/bin/ftrma-sim --model job --demand -n 3 --ops 3 --crashes 1 --exhaustive --seed 10
	for a in delay peek double partial; do \
	    $(BUILD)/bin/ftrma-sim --model job --alg $$a -n 4 --ops 1 --starters 2 --crashes 1 --exhaustive --deviations 2 && \
	    $(BUILD)/bin/ftrma-sim --model job --alg $$a -n 4 --ops 1 --starters 2 --crashes 2 --exhaustive --deviations 0 && \
	    $(BUILD)/bin/ftrma-sim --model job --alg $$a -n 5 --ops 1 --starters 3 --crashes 1 \
	        --exhaustive --deviations 0 || exit 1; \
	done

# Which lines run, by the unit tests and by all tests; takes as long as these. COVERAGE_TESTS=none:
# the unit tests alone.
coverage:
	@sh scripts/deps.sh coverage
	sh scripts/coverage.sh

# The latency table and the bandwidth plot go to docs/figures, too.
bench: all
	sh bench/run.sh $(BUILD)
	cp $(BUILD)/bench/latency.* $(BUILD)/bench/bandwidth.* docs/figures/

# Figures 10 to 12 of the paper that ftrma follows, and what it compares itself with, in docs/figures.
paper: all
	sh bench/paper.sh $(BUILD) docs/figures

# As text and, by gnuplot, as SVG: how often a job is lost, and what the protocol costs over the
# number of processes, in docs/figures; run time over the memory for logs, in $(BUILD)/figures. The
# timeline of the job of `make run` goes to docs/figures.
figures: all
	sh bench/model.sh $(BUILD) docs/figures
	sh bench/paper.sh $(BUILD) docs/figures 10ab
	sh bench/sim.sh $(BUILD) docs/figures
	sh bench/kernels.sh $(BUILD) docs/figures
	sh bench/transport.sh $(BUILD) docs/figures
	sh bench/figures.sh $(BUILD)
	$(BUILD)/bin/ftrun -n 4 --checksums 1 --spares 1 --inject rank=2,point=safepoint,hit=3 \
		--trace $(BUILD)/recovery.json $(BUILD)/bin/npb_ft W
	$(BUILD)/bin/ftrma-timeline $(BUILD)/recovery.json --failure 1 -o docs/figures/recovery.svg

# Only what is installed is built.
install:
	@sh scripts/deps.sh install
	$(CONFIGURE) $$(test -f $(BUILD)/build.ninja || echo -DBUILD_TESTING=OFF)
	cmake --build $(BUILD) --target installed
	DESTDIR=$(DESTDIR) cmake --install $(BUILD)

clean:
	rm -rf $(BUILD)

layering:
	sh scripts/layering.sh
	sh scripts/lines.sh
	sh scripts/citations.sh

# The HTML site, in $(BUILD)/site; fails if a link leads nowhere.
docs:
	@sh scripts/deps.sh docs
	python3 scripts/site.py $(BUILD)

# How each call of MPI is handled, as a table.
calls:
	sh scripts/calls.sh >docs/CALLS.md

format:
	@sh scripts/deps.sh check
	clang-format -i $(SOURCES)

# TIDY names the sources; clang-tidy wants the commands of a build by clang.
TIDY ?= $(shell find src apps -name '*.c')
tidy:
	@sh scripts/deps.sh check
	cmake --preset clang $$(command -v mpicc.openmpi >/dev/null && echo -DMPI_C_COMPILER=mpicc.openmpi) >/dev/null
	clang-tidy -p build-clang --quiet $(TIDY)
