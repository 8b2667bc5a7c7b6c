# SPDX-License-Identifier: Apache-2.0
"""The comments of the public headers: each function and each struct has one, and the errors that it names are those that the
function can return. How the errors are found, and how exactly: tests/support/error_flow.py."""

import functools
import re

import error_flow
import pytest
from error_flow import text

from conftest import ROOT

HEADERS = sorted([*(ROOT / "include").rglob("*.h"), *(ROOT / "linux/ring/include").rglob("*.h")])
ERRORS = set(re.findall(r"^  SPATE_E_(\w+)", (ROOT / "include/spate/error.h").read_text(), re.M)) - {"COUNT"}


def parsed(header):
    source = re.sub(r"SPATE_MUST_CHECK(?! __attribute)| ?__attribute__\(\(.*?\)\)|^extern \"C\" \{$|^\}$(?=\n#endif)", "",
                    header.read_text(), flags=re.M)
    return error_flow.C.parse(source.encode()).root_node


def prose(comment: str) -> str:
    """The words of a comment. A blank line of it ends a paragraph."""
    lines = [re.sub(r"^\s*(/\*|\*/|\*)?\s?|\s*\*/$", "", line) for line in comment.splitlines()]
    return "\n".join(" ".join(part.split()) for part in "\n".join(lines).split("\n\n"))


def declarations(node):
    """What a header declares for its users: (node, the comment right before it or "")."""
    for child in node.children:
        if child.type.startswith("preproc_if") or child.type == "declaration_list":
            yield from declarations(child)
        elif child.type in ("declaration", "function_definition", "struct_specifier", "enum_specifier"):
            before = child.prev_sibling
            near = before is not None and before.type == "comment" and before.end_point[0] >= child.start_point[0] - 1
            yield child, prose(text(before)) if near else ""


def name_of(node) -> str:
    """"spate_x" of a function, "struct spate_x" or "enum spate_x" that is declared here; "" for anything else."""
    if node.type in ("struct_specifier", "enum_specifier"):
        complete = node.child_by_field_name("body") and node.child_by_field_name("name")
        return f"{node.type.split('_')[0]} {text(node.child_by_field_name('name'))}" if complete else ""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return text(declarator.child_by_field_name("declarator")) if declarator is not None else ""


@functools.cache
def comments() -> dict[str, str]:
    """{public name: its comment}. A comment that begins with "The same" continues from the one before it."""
    found, previous = {}, ""
    for header in HEADERS:
        for node, comment in declarations(parsed(header)):
            if name_of(node):
                found[name_of(node)] = comment or found.get(name_of(node), "")
                if comment.startswith("The same"):
                    found[name_of(node)] += f" As {previous}()."
                if " " not in name_of(node):
                    previous = name_of(node)
    return found


@functools.cache
def classes() -> dict[str, str]:
    """{class of errors: the sentence that defines it}. A header writes: "Errors of the device: …"."""
    found = {}
    for header in HEADERS:
        for comment in re.findall(r"/\*.*?\*/", header.read_text(), re.S):
            found |= dict(re.findall(r"^Errors of the (\w+): (.*)$", prose(comment), re.M))
    return found


def names(comment: str, seen=frozenset()) -> tuple[set, set]:
    """(errors that a comment names by itself, those that it names through a class or another function)."""
    own, others = set(re.findall(r"\b[A-Z][A-Z_]+\b", comment)) & ERRORS, set()
    definitions = [(name, classes()[name]) for name in re.findall(r"\b(?:[Tt]hose|[Ee]rrors) of the (\w+)", comment) if name in classes()]
    definitions += [(name, comments().get(name, "")) for name in re.findall(r"\b(?:[Tt]hose of|[Aa]s) (spate_\w+)\(\)", comment)]
    for name, definition in definitions:
        if name == "device":
            others.add("device")
        if name not in seen:
            own_there, others_there = names(definition, seen | {name})
            others |= own_there | others_there
    return own, others


@functools.cache
def library():
    return error_flow.of(ROOT)


def returned(name) -> set:
    values = library().find(None, name).returned
    return {value[0] if isinstance(value, tuple) else value for value in values} - {error_flow.OK}


FALLIBLE = sorted(name for name in comments() if (function := library().find(None, name)) is not None and function.returns_error)

# What the analysis finds, and cannot happen; what it does not find, and can: {function: {error: why}}.
VALID = {"INVALID": "only a rename walks with a place to avoid, and the arguments of an erase are valid"}
IMPOSSIBLE = {f"spate_exfat_{name}": VALID
              for name in ("list", "stat", "open", "mkdir", "arm", "arm_chunks", "prepare_deletions", "unmount")}
IMPOSSIBLE |= {
    "spate_exfat_mount": {"UNSUPPORTED": "only spate_exfat_mount_own() needs a record"},
    "spate_recorder_open": {"INVALID": "it gives a turn and a context"},
    "spate_stream_arm": {"NAMES": "only roll-over makes names", **VALID},
    "spate_loop_trigger": VALID,
    "spate_player_work": {"INVALID": "spate_player_open() has checked where it begins and the size of the slots"},
}
UNSEEN = {
    "spate_block_submit": {"INVALID": "of the device", "UNSUPPORTED": "of the device"},
    "spate_exfat_mount_own": {"NO_SPACE": "of later calls"},
}


def test_every_declaration_is_read():
    code = {re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S) for header in HEADERS}
    bodies = {name for text in code for name in re.findall(r"^((?:struct|enum) spate_\w+) \{", text, re.M)}
    functions = {name for text in code for name in re.findall(r"^(?!typedef)\w[\w *]*?\b(spate_\w+)\(", text, re.M)}
    assert sorted((bodies | functions) - comments().keys()) == []


def test_each_public_name_has_a_comment():
    assert len(comments()) > 300
    ports = (ROOT / "include/spate/port.h").read_text()  # of the functions that boards supply
    assert sorted(name for name, comment in comments().items() if not comment and f" {name}(" not in ports) == []


def named_and_returned(name) -> tuple[set, set, set]:
    """(errors that the comment names by itself, those that it names through others, those that the function returns). Above the
    devices, "those of the device" are errors that a device returned. They do not cover what the function returns by itself."""
    is_device = library().find(None, name).path.parent.name in error_flow.BELOW
    return *names(comments()[name], frozenset() if is_device else frozenset({"device"})), returned(name)


@pytest.mark.parametrize("name", FALLIBLE)
def test_the_errors_that_a_comment_names_are_those_that_the_function_returns(name):
    own, others, found = named_and_returned(name)
    not_named = found - own - others - set(IMPOSSIBLE.get(name, ()))
    not_returned = own - found - set(UNSEEN.get(name, ()))
    assert (sorted(not_named), sorted(not_returned)) == ([], []), "(can be returned and is not named, is named and cannot be returned)"


def test_the_errors_of_the_device_are_those_that_a_device_gives():
    own, others = names(classes()["device"])
    ended = library().stored["spate_io", "error"]
    refused = {value for path, name in library().targets["spate_block_ops", "submit"] for value in library().find(path, name).returned}
    given = {value for value in ended | refused if not isinstance(value, tuple)} - {"OK", "FULL"}
    assert given <= own | others


def test_each_exception_is_needed():
    assert (IMPOSSIBLE.keys() | UNSEEN.keys()) <= set(FALLIBLE)
    for name in IMPOSSIBLE.keys() | UNSEEN.keys():
        own, others, found = named_and_returned(name)
        assert IMPOSSIBLE.get(name, {}).keys() <= found - own - others, name
        assert UNSEEN.get(name, {}).keys() <= own - found, name


# ---- the judge itself ----

SAMPLE = """
enum spate_error { SPATE_OK };
struct spate_box { enum spate_error why; };
struct spate_ops { enum spate_error (*act)(int a); };
static enum spate_error refuse(int a) { return SPATE_E_BUSY; }
static const struct spate_ops ops = {refuse};
enum spate_error spate_table(const struct spate_ops *o) { return o->act(1); }
enum spate_error spate_kept(enum spate_error e) { if (e == SPATE_E_FULL) return SPATE_OK; return e; }
enum spate_error spate_filtered(void) { return spate_kept(SPATE_E_FULL); }
enum spate_error spate_passed(void) { return spate_kept(SPATE_E_GONE); }
void spate_store(struct spate_box *b, enum spate_error e) { b->why = e; }
enum spate_error spate_stored(struct spate_box *b) { spate_store(b, SPATE_E_MEDIA); return b->why; }
static void out(enum spate_error *e) { *e = SPATE_E_NAME; }
enum spate_error spate_out(void) { enum spate_error e = SPATE_OK; out(&e); return e; }
enum spate_error spate_loop(int n) {
  enum spate_error e = SPATE_OK;
  for (int i = 0; i < n && e == SPATE_OK; i++) { if (i == 3) continue; e = i == 1 ? SPATE_E_FATAL : SPATE_OK; }
  return e != SPATE_OK ? e : SPATE_E_STALE;
}
enum spate_error spate_chosen(enum spate_error e) {
  switch (spate_passed()) { case SPATE_E_GONE: return SPATE_E_EXISTS; case SPATE_OK: break; default: return SPATE_E_CORRUPT; }
  return SPATE_E_IN_USE;
}
"""


@pytest.mark.parametrize(("name", "errors"), [
    ("table", {"BUSY"}), ("filtered", set()), ("passed", {"GONE"}), ("stored", {"MEDIA"}), ("out", {"NAME"}), ("loop", {"FATAL", "STALE"}),
    ("chosen", {"EXISTS", "IN_USE", "CORRUPT"})])
def test_the_errors_of_a_sample_are_found(tmp_path, name, errors):
    (tmp_path / "a.c").write_text(SAMPLE)
    found = error_flow.Program([tmp_path / "a.c"]).find(None, f"spate_{name}").returned
    assert set(found) - {error_flow.OK} == errors


@pytest.mark.parametrize(("comment", "own", "others"), [
    ("Errors: INVALID (the root), FULL.", {"INVALID", "FULL"}, set()), ("OK, or GPT and NAME_LONGER.", set(), set()),
    ("Errors: those of the device.", set(), {"device", "MEDIA", "GONE"}), ("As spate_exfat_check().", set(), {"STALE"})])
def test_the_errors_that_a_comment_names_are_read(comment, own, others):
    assert names(comment)[0] == own and names(comment)[1] >= others and bool(names(comment)[1]) == bool(others)
