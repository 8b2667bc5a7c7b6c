# SPDX-License-Identifier: Apache-2.0
"""make site: the pages of docs/ by MkDocs, and the API from include/spate by Doxygen, in build/site. A broken link is an
error."""

import os
import pathlib
import re
import shutil
import sys

import program

ROOT = program.ROOT
HEADERS, API, SITE = program.BUILD / "site-headers", program.BUILD / "site-api", program.BUILD / "site"
DOXYGEN = """
PROJECT_NAME = Spate
PROJECT_BRIEF = "The API of the library"
INPUT = "{headers}"
STRIP_FROM_PATH = "{headers}"
STRIP_FROM_INC_PATH = "{headers}"
RECURSIVE = YES
FILE_PATTERNS = *.h *.dox
OUTPUT_DIRECTORY = "{output}"
GENERATE_LATEX = NO
HTML_OUTPUT = html
EXTRACT_ALL = YES
OPTIMIZE_OUTPUT_FOR_C = YES
TYPEDEF_HIDES_STRUCT = YES
MARKDOWN_SUPPORT = NO
AUTOLINK_SUPPORT = YES
JAVADOC_AUTOBRIEF = YES
SORT_MEMBER_DOCS = NO
GENERATE_TREEVIEW = YES
DISABLE_INDEX = NO
ENABLE_PREPROCESSING = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = SPATE_MUST_CHECK=
VERBATIM_HEADERS = NO
HAVE_DOT = NO
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
WARN_NO_PARAMDOC = NO
WARN_AS_ERROR = FAIL_ON_WARNINGS
"""
SPECIAL = re.compile(r"([\\@<>&#%$\"])")


MAIN_PAGE = r"""/** \mainpage The API of the library

Each header is one concept. What a recorder calls, in order: <a href="../use/library.html">the library</a>. All pages:
<a href="../index.html">contents</a>.

{headers}
*/
"""


def escaped(comment: str) -> str:
    """Our comments are plain text: nothing in them is a command. What is between backticks is code."""
    parts = SPECIAL.sub(r"\\\1", comment).split("`")
    return "".join(f"<tt>{part}</tt>" if number % 2 and number + 1 < len(parts) else part for number, part in enumerate(parts))


def comments_for_doxygen(text: str, name: str) -> str:
    """A comment behind code is about that code, one on a line of its own about what follows, the first about the file."""
    text = text.split("*/\n", 1)[1]  # the licence
    first = True

    def convert(found: re.Match) -> str:
        nonlocal first
        indent, code, comment = found[1], found[2], escaped(found[3])
        if code.strip():
            return f"{indent}{code}/**<{comment}*/"
        if comment.strip().startswith("----"):
            return f"{indent}/*{found[3]}*/"
        head = f"/** \\file {name}\n *" if first else "/**"
        first = False
        return f"{indent}{head}{comment}*/"

    return re.sub(r"^([ \t]*)((?:(?!/\*)[^\n])*?)/\*(.*?)\*/", convert, text, flags=re.M | re.S)


def build_api() -> None:
    shutil.rmtree(HEADERS, ignore_errors=True)
    shutil.rmtree(API, ignore_errors=True)
    (HEADERS / "spate").mkdir(parents=True)
    API.mkdir()
    names = []
    for header in sorted((ROOT / "include/spate").glob("*.h")):
        (HEADERS / "spate" / header.name).write_text(comments_for_doxygen(header.read_text(), f"spate/{header.name}"))
        names.append(f"- \\ref spate/{header.name}")
    (HEADERS / "main.dox").write_text(MAIN_PAGE.format(headers="\n".join(names)))
    settings = API / "Doxyfile"
    settings.write_text(DOXYGEN.format(headers=HEADERS, output=API))
    program.run("doxygen", settings, timeout_s=300)


def main() -> None:
    # The programs of setup/site are beside this Python.
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    try:
        build_api()
        program.run("mkdocs", "build", "--strict", "--clean", "--config-file", ROOT / "mkdocs.yml", timeout_s=300,
                    env=os.environ | {"PYTHONPATH": str(ROOT / "tools")})
    except program.Failed as failed:
        sys.exit(f"site: {failed}")
    shutil.copytree(API / "html", SITE / "api")
    print(f"site in {(SITE / 'index.html').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
