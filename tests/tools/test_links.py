# SPDX-License-Identifier: Apache-2.0
"""Every link of the README and of the pages leads to a file or a heading of this repository."""

import re

import pages

from conftest import ROOT

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md")) + sorted((ROOT / ".github").rglob("*.md"))
PAGES += sorted(page for place in ("*/README.md", "ports/*/README.md", "linux/*/README.md") for page in ROOT.glob(place)
                if "build" not in page.parts)


def test_no_link_is_broken():
    assert pages.broken(ROOT, PAGES) == []


def test_a_broken_link_is_found(tmp_path):
    (tmp_path / "other.md").write_text("# A page\n\n## What `start.S` and 2.2 do\n\n## Twice\n\n## Twice\n")
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n[good](other.md#what-starts-and-22-do), [again](other.md#twice-1), [here](#page),\n"
                    "[elsewhere](https://example.org/none), `[code](none.md)`\n\n"
                    "```\n[code](none.md)\n# No heading\n```\n\n"
                    "[no file](none.md)\n![no picture](none.svg) and [no heading](other.md#three)\n"
                    "[over two\nlines](none2.md) [in code](#no-heading) [outside](../)\n")
    assert pages.broken(tmp_path, [page]) == [
        "page.md:11: (none.md): there is no such file",
        "page.md:12: (none.svg): there is no such file",
        "page.md:12: (other.md#three): the page has no such heading",
        "page.md:13: (none2.md): there is no such file",
        "page.md:14: (#no-heading): the page has no such heading",
        "page.md:14: (../): this file is not in the repository",
    ]


def test_every_page_that_the_sources_name_exists():
    """Pages that are named in a comment, a message or a script, such as docs/use/porting.md, exist."""
    missing = []
    for top in sorted(entry for entry in ROOT.iterdir() if entry.name not in ("build", ".git")):
        for file in [top] if top.is_file() else sorted(file for file in top.rglob("*") if file.is_file()):
            if "corpus" in file.parts or file.suffix == ".pyc":
                continue
            names = re.findall(rb"\bdocs/[\w/-]+\.md\b", file.read_bytes())
            missing += [f"{file.relative_to(ROOT)}: {name.decode()}" for name in names if not (ROOT / name.decode()).exists()]
    assert missing == []


def test_every_page_is_in_the_index_of_the_site():
    """Checks the list in mkdocs.yml without the tools that read it."""
    listed = {line.split(": ")[-1].strip() for line in (ROOT / "mkdocs.yml").read_text().splitlines() if line.endswith(".md")}
    assert listed == {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
