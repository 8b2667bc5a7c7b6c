# SPDX-License-Identifier: Apache-2.0
"""What the pages say about the code is true: their examples compile, their sizes are right, their lists are complete."""

import re

import errors_page
import pytest

from conftest import ROOT, run

MEMORY = (ROOT / "docs/use/memory.md").read_text()
EVENTS = (ROOT / "docs/use/events.md").read_text()
HEADERS = "".join(f"#include <spate/{name}.h>\n" for name in ("gateware", "loop", "nvme_pcie", "player", "recorder", "stripe"))


def compiled(source, tmp_path, *options):
    (tmp_path / "page.c").write_text(source)
    run("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", "-I", ROOT / "ports/linux", *options,
        tmp_path / "page.c")


def test_the_example_of_the_library_compiles(tmp_path):
    text = (ROOT / "docs/use/library.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S)
    assert len(blocks) == 6
    unused = ["-Wno-unused-function", "-Wno-unused-parameter"]  # it has no main, and its last two functions are the reader's
    declared = re.sub(r"^static (void (?:slow_the_source_down|tell_somebody)\()", r"\1", "".join(blocks), flags=re.M)
    compiled(declared, tmp_path, *unused, "-fsyntax-only")


def test_the_example_of_the_library_records(tmp_path):
    """On the virtual drive, whatever the drive's largest command is."""
    page = "".join(re.findall(r"^```c\n(.*?)^```$", (ROOT / "docs/use/library.md").read_text(), re.M | re.S))
    (tmp_path / "page.c").write_text(page + (ROOT / "tests/tools/library_page.c").read_text())
    run("python3", ROOT / "sim/profiles/embed.py", tmp_path / "profiles.c", *sorted((ROOT / "sim/profiles").glob("*.profile")))
    folders = [option for name in ("include", "ports/host", "sim") for option in ("-I", ROOT / name)]
    sources = [*(ROOT / "sim").rglob("*.c"), *(ROOT / name for name in (ROOT / "src/files.txt").read_text().split())]
    run("cc", "-std=gnu17", "-O1", *folders, tmp_path / "page.c", tmp_path / "profiles.c", *sources, "-lm", "-o", tmp_path / "page")
    for mdts in (0, 1, 2, 3, 4, 9):
        assert run(tmp_path / "page", mdts).stdout == f"{40 * (256 << 10)} bytes\n", mdts


def test_the_program_of_the_readme_is_an_application():
    """tests/linux/test_spate_applications.py runs it."""
    block = re.search(r"^```c\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)[1]
    assert (ROOT / "firmware/first_recorder/main.c").read_text().endswith(f"*/\n{block}")
    assert block.count("\n") <= 35


def test_the_sizes_of_objects(tmp_path):
    said = {name: int(size) for name, size in re.findall(r"^\| `struct (\w+)`[^|]*\| (\d+) \|", MEMORY, re.M)}
    assert len(said) >= 19
    prints = "".join(f'  printf("%zu\\n", sizeof(struct {name}));\n' for name in said)
    compiled(f"{HEADERS}#include <stdio.h>\nint main(void) {{\n{prints}}}\n", tmp_path, "-o", tmp_path / "sizes")
    now = dict(zip(said, map(int, run(tmp_path / "sizes").stdout.split())))
    wrong = {name: now[name] for name in said if not now[name] <= said[name] <= now[name] * 1.2 + 16}
    assert wrong == {}, "docs/use/memory.md has other sizes"


def test_every_event_and_level_has_its_row():
    header = (ROOT / "include/spate/recorder.h").read_text()
    for prefix in ("EVENT", "LEVEL"):
        wanted = re.findall(rf"^  SPATE_{prefix}_(\w+),", header, re.M)
        assert wanted and all(f"| `{name}` |" in EVENTS for name in wanted), prefix


def test_every_error_has_its_row():
    assert errors_page.PAGE.read_text() == errors_page.page(), "run tools/errors_page.py"
    errors = re.findall(r"^  SPATE_E_(\w+)", (ROOT / "include/spate/error.h").read_text(), re.M)
    assert [name for name in errors if name != "COUNT" and f"| `{name}` |" not in errors_page.page()] == []


def test_every_type_that_a_page_names_is_there():
    tops = ("bench", "include", "integrations", "linux", "ports", "sim", "tests")
    headers = [path for top in tops for path in (ROOT / top).rglob("*.[ch]")]
    defined = set(re.findall(r"\b(?:struct|enum) \w+(?= \{)", "".join(header.read_text() for header in headers)))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "ports").rglob("*.md")]
    named = {(page.name, name) for page in pages for name in re.findall(r"`((?:struct|enum) \w+)`", page.read_text())}
    assert len(named) > 20
    assert {(page, name) for page, name in named if name not in defined} == set()


def test_the_readme_is_short():
    """At most 900 words, examples and tables included, and the first example is on the first screen."""
    text = (ROOT / "README.md").read_text()
    assert len(text.split()) <= 900
    assert text[:text.index("```")].count("\n") <= 25


@pytest.mark.parametrize(("page", "below", "pattern"), [
    ("README.md", "", "*/"), ("tests/README.md", "tests", "*/"), ("docs/understand/simulator.md", "sim", "*/*.c"),
    ("docs/understand/gateware.md", "", "rtl/*/"), ("docs/use/linux.md", "", "linux/command/*/"),
    ("docs/use/porting.md", "firmware", "*/main.c")])
def test_a_page_says_where_everything_is(page, below, pattern):
    """A reader who follows the README finds each folder, or each file, on the page of its part."""
    text = (ROOT / page).read_text()
    paths = [path.relative_to(ROOT / below) for path in (ROOT / below).glob(pattern)]
    names = {str(path.parent if path.name == "main.c" else path) for path in paths if not path.name.startswith((".", "_"))} - {"build"}
    assert len(names) > 5
    assert {name for name in names if not re.search(rf"`{re.escape(name)}(?:/[\w/]*)?`", text)} == set()


def test_no_example_speaks_of_a_call_that_is_not_there():
    """Every function that the new pages name is declared in a header."""
    declared = "".join(header.read_text() for header in (ROOT / "include/spate").glob("*.h"))
    declared += (ROOT / "linux/ring/include/spate/ring.h").read_text()
    missing = []
    for page in sorted((ROOT / "docs").rglob("*.md")):
        for name in set(re.findall(r"`(spate_(?!port_|board\()\w+)\(", page.read_text())):
            if not re.search(rf"\b{name}\(", declared):
                missing.append(f"{page.relative_to(ROOT)}: {name}()")
    assert missing == []
