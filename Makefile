# SPDX-License-Identifier: Apache-2.0
# The commands that people type. The build itself is CMake: see CMakePresets.json.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lab plan crash-soak speedtest bench bench-crash bench-instructions bench-size format \
  format-check lint fuzz clean

PYTHON := PYTHONPATH=tools build/venv/bin/python
HOST := host-gcc-asan host-clang-asan
FIRMWARE := qemu-virt qemu-virt-a15 qemu-boston

# What the commands pass on: make demo BOARD=qemu-boston INPUT=film.bin KEEP=1, make plan DRIVE=980pro RATE=2.0GB/s
BOARD ?= qemu-virt
INPUT ?=
KEEP ?=
TOTAL_MIB ?=
QUICK ?=
DRIVE ?= 980pro
RATE ?= 2.0GB/s
N ?= 20000
SEED ?= 1

help: ## This text
	@echo 'Spate records gigabytes per second onto NVMe drives, as files that any PC opens. Two commands to begin with:'
	@echo
	@echo '  make demo     boots the firmware on an emulated board, records two clips, proves them with tools not ours'
	@echo '  make test     builds everything and runs all tests'
	@echo
	@echo 'Each installs what it needs first (setup/debian-12.txt, python.txt, sources.txt). All commands:'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-22s%s\n", $$1, $$2 }'
	@echo
	@echo 'Options: make demo BOARD=qemu-virt|qemu-virt-a15|qemu-boston INPUT=a-file-to-record KEEP=1 (keeps the disk image)'
	@echo '         make plan DRIVE=980pro RATE=2.0GB/s, make lab QUICK=1, make crash-soak N=20000 SEED=1'

setup: ## Install what is missing (3-5 minutes the first time, then no time)
	@setup/install

# Configuring again costs 50 ms and finds new files; a build that has nothing to do costs as much.
build-%: setup
	@echo "== build: $*"
	@cmake --preset $* >build/configure-$*.log 2>&1 || { cat build/configure-$*.log; exit 1; }
	@cmake --build --preset $*

demo: build-$(BOARD) ## Record two clips on an emulated board and prove them (under 60 s)
	$(PYTHON) tools/demo.py --board $(BOARD) $(if $(INPUT),--input '$(INPUT)') $(if $(KEEP),--keep)

test: ## Everything: format, lint, all builds, unit, fuzz, crash and system tests (about 13 minutes on two cores)
	@echo '== test 1/7: setup';                   $(MAKE) --no-print-directory setup
	@echo '== test 2/7: format and lint';         $(MAKE) --no-print-directory format-check lint
	@echo '== test 3/7: builds';                  $(MAKE) --no-print-directory $(HOST:%=build-%) build-host-release build-fuzz $(FIRMWARE:%=build-%)
	@echo '== test 4/7: fuzz targets, 20 s each'; ctest --preset fuzz --no-tests=error
	@echo '== test 5/7: unit tests';              for preset in $(HOST); do ctest --preset $$preset -j2 --no-tests=error || exit 1; done
	@echo '== test 6/7: power cuts, 100 000';     ctest --preset host-release -L crash -j2 --no-tests=error
	@echo '== test 7/7: system tests';            $(PYTHON) -m pytest

lab: build-host-release ## Every published test on virtual drives, as a report (6 minutes; QUICK=1: half a minute)
	$(PYTHON) bench/lab.py $(if $(QUICK),--quick)

plan: build-host-release ## What a stream needs: ring, queue depth, how long DRIVE=980pro sustains RATE=2.0GB/s
	@build/host-release/lab/spate-plan --profile '$(DRIVE)' --rate '$(RATE)'

crash-soak: build-host-release ## Cut the power of every recording test in up to N=20000 states a volume, SEED=1
	@for program in build/host-release/crash/crash_*; do echo "== $$program"; \
	  SPATE_CUTS=$(N) SPATE_SEED=$(SEED) $$program || exit 1; done

speedtest: build-$(BOARD) ## Raw and exFAT rates by block size and queue depth on an emulated board (20 s)
	$(PYTHON) bench/speedtest.py --board $(BOARD) $(if $(TOTAL_MIB),--total-mib $(TOTAL_MIB))

bench: bench-size bench-instructions bench-crash speedtest lab ## All figures of the README (9 minutes)

bench-crash: build-host-release ## What power cuts cost, beside FatFs in four ways (30 s)
	$(PYTHON) bench/crash.py

bench-instructions: build-qemu-virt ## Instructions per submit, doorbell and completion, exact (10 s)
	$(PYTHON) bench/instructions.py

bench-size: build-qemu-virt-size ## Code and data of each module for Cortex-A53 at -Os (20 s)
	$(PYTHON) bench/size.py

C_FILES = $(shell find include src ports apps sim lab tests -name '*.[ch]')

format: setup ## Format all C in place (2 s)
	@clang-format -i $(C_FILES)

format-check: setup ## Is all C formatted? (2 s)
	@echo '== format'
	@clang-format --dry-run -Werror $(C_FILES)

# The host's build knows the library, the tests and the hosted port; a board's knows the applications and its port.
# string.c is compiled with an option that Clang does not have.
lint: build-host-clang-asan build-qemu-virt ## Static analysis with clang-tidy and cppcheck, no finding allowed (5 minutes)
	@echo '== clang-tidy'
	@$(call clang-tidy,host-clang-asan,(src|sim|lab|tests|ports)/.*)
	@$(call clang-tidy,qemu-virt,(apps|ports)/.*(?<!string))
	@echo '== cppcheck'
	@cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
	  --suppress=missingInclude -Iinclude -Iports/host -Isim src ports/host sim

clang-tidy = run-clang-tidy -quiet -p build/$(1) '^$(CURDIR)/$(2)[.]c$$' >build/clang-tidy-$(1).log 2>&1 \
  || { grep -vE '^$$|warnings? generated|^clang-tidy|Suppressed|Use -header' build/clang-tidy-$(1).log; exit 1; }

fuzz: build-fuzz ## Fuzz each target for SECONDS=600
	@for target in build/fuzz/fuzz/fuzz_*; do name=$$(basename $$target); \
	  mkdir -p build/fuzz/found/$$name; \
	  $$target -max_total_time=$(or $(SECONDS),600) -timeout=10 -artifact_prefix=build/fuzz/$$name- \
	    build/fuzz/found/$$name tests/fuzz/corpus/$${name#fuzz_} || exit 1; done

clean: ## Remove what was built; build/venv stays (make setup would install it again)
	find build -mindepth 1 -maxdepth 1 ! -name venv -exec rm -rf {} +
