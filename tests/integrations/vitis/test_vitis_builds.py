# SPDX-License-Identifier: Apache-2.0
"""The library in a Vitis application: the CMake fragment and the plain lists build the example for each processor, with all
warnings, against a BSP that declares what is used of one. Vitis itself is not here."""

import re

import pytest
import vitis_build

from conftest import ROOT, run

pytestmark = pytest.mark.thorough

VITIS = vitis_build.VITIS
DESIGN = """#define DESIGN_BRIDGE_CONTROL {control}
#define DESIGN_BRIDGE_LAST_BUS 1
#define DESIGN_BRIDGE_WINDOW 0xB0000000
#define DESIGN_BRIDGE_WINDOW_BUS 0xB0000000
#define DESIGN_BRIDGE_WINDOW_BYTES 0x01000000
#define DESIGN_QUEUE 0x0F000000
#define DESIGN_QUEUE_BYTES 0x01000000
#define DESIGN_RING 0x10000000
#define DESIGN_RING_BYTES 0x10000000
#define DESIGN_CPU_HZ 666666687
#define DESIGN_DMA 0xA0010000
#define DESIGN_DMA_LENGTH_BITS 26
#define DESIGN_DMA_ADDRESS_BITS 32
{more}"""
REGISTERS = "#define DESIGN_BRIDGE_REGISTERS 0x420000000\n#define DESIGN_BRIDGE_REGISTERS_BYTES 0x00200000\n"

# What an application of Vitis Unified has: its CMakeLists.txt includes UserConfig.cmake before project(), and then compiles
# USER_COMPILE_SOURCES with USER_INCLUDE_DIRECTORIES.
APPLICATION = """cmake_minimum_required(VERSION 3.16)
include(${{CMAKE_CURRENT_SOURCE_DIR}}/UserConfig.cmake)
project(app)
enable_language(C ASM)
set(_sources "")
list(APPEND _sources ${{USER_COMPILE_SOURCES}})
add_library(bsp STATIC {bsp})
target_include_directories(bsp PRIVATE {bsp_includes})
add_executable(app.elf ${{_sources}})
target_link_libraries(app.elf {link} bsp -lgcc)
target_compile_options(app.elf PRIVATE {warnings})
target_include_directories(app.elf PUBLIC ${{USER_INCLUDE_DIRECTORIES}} {bsp_folder})
"""
TOOLCHAIN = """set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_C_COMPILER {compiler})
set(CMAKE_ASM_COMPILER {compiler})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "{options}")
set(CMAKE_ASM_FLAGS_INIT "{options}")
"""


@pytest.fixture
def design(tmp_path):
    folder = tmp_path / "design folder"  # with a blank
    folder.mkdir()

    def make(name):
        control = "0xA0000000" if name in ("zynq7000", "zynqmp-r5") else "0x400000000"
        more = REGISTERS if name == "versal" else ""
        (folder / "design.h").write_text(DESIGN.format(control=control, more=more))
        return folder

    return make


def has_the_library(elf, compiler):
    names = run(compiler.replace("-gcc", "-nm"), elf).stdout
    return all(re.search(rf"\bT {name}$", names, re.M) for name in ("main", "spate_nvme_open", "spate_exfat_mount", "s2mm_work"))


@pytest.mark.parametrize("name", vitis_build.PROCESSORS)
def test_the_plain_lists(name, design, tmp_path):
    elf = vitis_build.build(name, design(name), vitis_build.EXAMPLE, tmp_path / "app.elf")
    assert has_the_library(elf, vitis_build.PROCESSORS[name].compiler)


def quoted(words):
    return " ".join(f'"{word}"' for word in words)


@pytest.mark.parametrize("name", ["zynqmp", "zynq7000"])
def test_the_cmake_fragment(name, design, tmp_path):
    processor = vitis_build.PROCESSORS[name]
    application = tmp_path / "application"
    application.mkdir()
    options = vitis_build.compiler_options(processor)
    includes = [word for word in vitis_build.bsp_includes() if word != "-I"]
    (application / "CMakeLists.txt").write_text(APPLICATION.format(
        bsp=quoted(vitis_build.bsp_sources(processor)), bsp_includes=quoted(includes), bsp_folder=quoted([vitis_build.BSP]),
        link=quoted(vitis_build.linker_options(processor)), warnings=" ".join(vitis_build.WARNINGS)))
    (application / "UserConfig.cmake").write_text(
        f'set(USER_INCLUDE_DIRECTORIES\n)\nset(USER_COMPILE_SOURCES\n{quoted(vitis_build.EXAMPLE)}\n)\n'
        f'set(SPATE_DESIGN_DIR "{design(name)}")\ninclude("{VITIS}/spate.cmake")\n')
    (application / "toolchain.cmake").write_text(TOOLCHAIN.format(compiler=processor.compiler, options=" ".join(options)))
    run("cmake", "-G", "Ninja", "-S", application, "-B", tmp_path / "build", f"-DCMAKE_TOOLCHAIN_FILE={application}/toolchain.cmake")
    run("cmake", "--build", tmp_path / "build", "-j", "2")
    assert has_the_library(tmp_path / "build/app.elf", processor.compiler)


def test_the_fragment_asks_for_the_design(tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(f'include("{VITIS}/spate.cmake")\n')
    failed = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", statuses=(1,))
    said = " ".join((failed.stdout + (failed.stderr or "")).split())
    assert "has no design.h" in said and "design_header.py" in said


def test_the_list_is_complete():
    listed = set((VITIS / "files.txt").read_text().split())
    assert listed == {str(path.relative_to(ROOT)) for path in VITIS.glob("*.c")}


def test_the_bsp_declares_what_is_used_and_no_more():
    used = set()
    for path in VITIS.rglob("*.[ch]"):
        used |= set(re.findall(r"\b(Xil_\w+|xil_printf|XIL_EXCEPTION_ID_\w+|NORM_\w+)\b", re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)))
    declared = set()
    for path in vitis_build.BSP.glob("xil_*.h"):
        declared |= set(re.findall(r"\b(Xil_\w+|xil_printf|XIL_EXCEPTION_ID_\w+|NORM_\w+)\b", path.read_text()))
    assert declared - {"XIL_EXCEPTION_ID_LAST"} == used
