# SPDX-License-Identifier: Apache-2.0
"""The semantic operators for src/: mistakes that somebody makes who knows C and not the device. Tree-sitter parses the sources.

Each operator is a generator over the nodes of one file. It yields edits: lists of (node, text), where the text takes the place
of the node."""

import collections
import hashlib
import itertools
import pathlib
import re

import tree_sitter
import tree_sitter_c

from mutants import draw

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))

# Calls that change a register, memory, the media or an object.
WRITES = re.compile(r"write|put|set|clear|commit|erase|free|zero|trim|dirty|clean|record|journal|repair|send|issue|ring|create|delete"
                    r"|publish|mark|update|change|forget|disable|enable|program|forward|place|copy|cpy|take|begin|end|reset")
# Calls after which what was written before is visible or durable.
BARRIERS = re.compile(r"barrier|flush|settle|_kick|cache_clean|cache_invalidate|doorbell")
# What others change while the code waits: the drive, a reset, another clip, another system.
CHANGING = re.compile(r"\b\w*(state|reset|mark|loss|lost|change|running|busy|failed|closed|dead|silen|is_up|seen|stopped|pending"
                      r"|volatile|writing|waiting|closing|claimed|dirty|cleared|corrupt|power|in_flight|serial)\w*")
CLEARED = {"false", "0", "0u", "NULL", "SPATE_OK"}
WIDTHS = ("uint8_t", "uint16_t", "uint32_t", "uint64_t")
LITERAL = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)([uU]?)\b")


def text_of(node) -> str:
    return node.text.decode()


def below(node, *kinds):
    """The nodes of these kinds in this one, in the order of the text."""
    if node.type in kinds:
        yield node
    for child in node.named_children:
        yield from below(child, *kinds)


def blocks(root):
    """The statements of each block, as lists."""
    for block in below(root, "compound_statement", "case_statement"):
        yield [child for child in block.named_children if child.type.endswith(("statement", "declaration"))]


# ---- two writes, or a write and a barrier, in the other order ----


def effect_of(statement):
    """(the variable that gets the result or "", the call), for a statement that only calls."""
    if statement.type == "if_statement" and statement.child_by_field_name("alternative") is None:
        condition = text_of(statement.child_by_field_name("condition"))
        return effect_of(statement.child_by_field_name("consequence")) if "== SPATE_OK" in condition else None
    if statement.type == "declaration":
        made = next(below(statement, "init_declarator"), None)
        return _assigned(made.child_by_field_name("declarator"), made.child_by_field_name("value")) if made else None
    if statement.type != "expression_statement" or not statement.named_children:
        return None
    expression = statement.named_children[0]
    if expression.type == "assignment_expression":
        return _assigned(expression.child_by_field_name("left"), expression.child_by_field_name("right"))
    if expression.type == "cast_expression":
        expression = expression.child_by_field_name("value")
    return ("", expression) if expression.type == "call_expression" else None


def _assigned(left, right):
    return (text_of(left), right) if left.type == "identifier" and right.type == "call_expression" else None


def name_of(call) -> str:
    return text_of(call.child_by_field_name("function"))


def is_effect(call) -> bool:
    return bool(WRITES.search(name_of(call)) or BARRIERS.search(name_of(call)))


def are_apart(one, other) -> bool:
    """Do both fill a field of an image, at offsets of their own? Their order is of no importance."""
    places = [text_of(call.child_by_field_name("arguments")) for call in (one, other)]
    return all(re.match(r"\(\w+ \+ ", place) for place in places) and places[0].split(",")[0] != places[1].split(",")[0]


def stored_by(statement):
    """(where, what) for a store to memory that is not a local variable."""
    if statement.type != "expression_statement" or not statement.named_children:
        return None
    expression = statement.named_children[0]
    if expression.type != "assignment_expression":
        return None
    left = expression.child_by_field_name("left")
    if left.type not in ("field_expression", "subscript_expression", "pointer_expression"):
        return None
    return text_of(left), text_of(expression.child_by_field_name("right"))


def is_check(statement) -> bool:
    """if (error …) return error;"""
    return statement.type == "if_statement" and re.match(r"if \(\w*error( != SPATE_OK)?\) return \w*error;", text_of(statement)) is not None


def neighbours(statements):
    """Statements that follow one another, at most with a check of the first one's error between them."""
    for first, second in itertools.pairwise(statements):
        yield first, second
    for first, check, second in zip(statements, statements[1:], statements[2:]):
        if is_check(check):
            yield first, second


def swapped(first, second):
    """The edits that let two neighbours change places. None: the order makes no difference by itself, or they are no writes."""
    one, other = effect_of(first), effect_of(second)
    if one and other:
        if one[0] != other[0] or not (is_effect(one[1]) and is_effect(other[1])) or are_apart(one[1], other[1]):
            return None
        return [(one[1], text_of(other[1])), (other[1], text_of(one[1]))]
    stores = stored_by(first), stored_by(second)
    call = one or other
    if call and any(stores):
        where = next(store for store in stores if store)[0]
        arguments = text_of(call[1].child_by_field_name("arguments"))
        base = re.search(r"\w+", where)[0]
        sees = re.search(rf"\b{base}\b", arguments)
        shared = arguments == "()" and "[" in where and BARRIERS.search(name_of(call[1]))
        if call[0] or not (sees or shared):
            return None
    elif not (all(stores) and (stores[0][0] in stores[1][1] or stores[1][0] in stores[0][1])):
        return None
    return [(first, text_of(second)), (second, text_of(first))]


def swaps(root, with_barrier: bool):
    for statements in blocks(root):
        for first, second in neighbours(statements):
            calls = [effect[1] for effect in (effect_of(first), effect_of(second)) if effect]
            if any(BARRIERS.search(name_of(call)) for call in calls) == with_barrier and (edits := swapped(first, second)):
                yield edits


# ---- no second look at what may have changed ----


def leaves(statement) -> bool:
    """Does it end the function, the loop, or this turn of it?"""
    if statement.type == "compound_statement" and statement.named_children:
        return leaves(statement.named_children[-1])
    return statement.type in ("return_statement", "continue_statement", "break_statement")


def rechecks(root):
    for function in below(root, "function_definition"):
        first_call = next((call.start_byte for call in below(function.child_by_field_name("body"), "call_expression")), function.end_byte)
        for check in below(function, "if_statement"):
            if check.start_byte < first_call or check.child_by_field_name("alternative") is not None:
                continue
            if leaves(check.child_by_field_name("consequence")) and CHANGING.search(text_of(check.child_by_field_name("condition"))):
                yield [(check, ";")]
        for condition in below(function, "binary_expression"):
            operator = text_of(condition.child_by_field_name("operator"))
            if operator not in ("&&", "||"):
                continue
            left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
            for dropped, kept in ((left, right), (right, left)):
                if not re.search(r"&&|\|\|", text_of(dropped)) and CHANGING.search(text_of(dropped)):
                    yield [(condition, text_of(kept))]


# ---- narrower and wider ----


def widths(root):
    for cast in below(root, "cast_expression"):
        kind = cast.child_by_field_name("type")
        yield from ([(kind, other)] for other in beside(text_of(kind)))
    for declared in below(root, "declaration"):
        if declared.parent.type == "for_statement" or not any(below(declared, "init_declarator")):
            continue  # a counter with a small bound, or without a value
        if any(below(declared, "pointer_declarator", "array_declarator")):
            continue
        kind = declared.child_by_field_name("type")
        yield from ([(kind, other)] for other in beside(text_of(kind)) if other != "uint64_t")  # none is computed in 64 bits
    for literal in below(root, "number_literal"):
        if is_mask(literal):
            yield from ([(literal, other)] for other in masks_beside(text_of(literal)))
    for define in below(root, "preproc_def"):
        value = define.child_by_field_name("value")
        if value is not None and re.fullmatch(r"(UINT\d+_C\()?0[xX][0-9a-fA-F]+[uU]?\)?", text_of(value).strip()):
            yield from ([(value, other)] for other in masks_beside(text_of(value)))


def beside(kind: str) -> list[str]:
    if kind not in WIDTHS:
        return []
    at = WIDTHS.index(kind)
    return [WIDTHS[other] for other in (at - 1, at + 1) if 0 <= other < len(WIDTHS)]


def is_mask(literal) -> bool:
    """An operand of &, also as an argument of UINT64_C and behind ~."""
    around = literal.parent
    while around.type in ("argument_list", "call_expression", "unary_expression", "parenthesized_expression"):
        around = around.parent
    operator = around.child_by_field_name("operator")
    return operator is not None and text_of(operator) in ("&", "&=")


def masks_beside(text: str) -> list[str]:
    """The mask without its highest bit, and with one more. Only of several bits that lie together."""
    literal = LITERAL.search(text)
    value = int(literal[1], 0)
    low = value & -value
    if value == low or value == 0 or (value + low) & value:
        return []
    top = 1 << (value.bit_length() - 1)
    return [text.replace(literal[0], f"{other:#x}{literal[2]}") for other in (value & ~top, value | top << 1) if other < 1 << 64]


# ---- a flag that stays ----


def kept_flags(root):
    for statement in below(root, "expression_statement"):
        expression = statement.named_children[0] if statement.named_children else None
        if expression is None or expression.type != "assignment_expression":
            continue
        left, right = expression.child_by_field_name("left"), text_of(expression.child_by_field_name("right"))
        operator = text_of(expression.child_by_field_name("operator"))
        clears = right in CLEARED if operator == "=" else operator == "&=" and "~" in right
        if clears and left.type in ("field_expression", "subscript_expression", "pointer_expression"):
            yield [(statement, ";")]


# ---- what was asked for, instead of what was granted ----


def asked(root):
    yield from limits(root)
    for block in below(root, "compound_statement"):
        yield from written_instead_of_read(block)
    for function in below(root, "function_definition"):
        yield from own_instead_of_the_objects(function)


def limits(root):
    """The smaller (or larger) of two, and values that are cut down."""
    for choice in below(root, "conditional_expression"):
        condition = choice.child_by_field_name("condition")
        both = [choice.child_by_field_name(name) for name in ("consequence", "alternative")]
        if re.search(r" [<>]=? ", text_of(condition)) and any(text_of(one) in text_of(condition) for one in both):
            yield from ([(choice, text_of(one))] for one in both)
    for cut in below(root, "if_statement", "while_statement"):
        change = cut.child_by_field_name("body" if cut.type == "while_statement" else "consequence")
        if cut.child_by_field_name("alternative") is not None or change.type != "expression_statement" or not change.named_children:
            continue
        left = change.named_children[0].child_by_field_name("left")
        condition = text_of(cut.child_by_field_name("condition"))
        if left is not None and re.search(r" [<>]=? ", condition) and text_of(left) in condition:
            yield [(cut, ";")]


def written_instead_of_read(block):
    """A register that is written and read back."""
    for write, read in itertools.product(below(block, "call_expression"), repeat=2):
        if write.start_byte >= read.start_byte or "write" not in name_of(write) or "read" not in name_of(read):
            continue
        given = write.child_by_field_name("arguments").named_children
        wanted = read.child_by_field_name("arguments").named_children
        if len(given) > 1 and [text_of(one) for one in given[:-1]] == [text_of(one) for one in wanted]:
            yield [(read, f"({text_of(given[-1])})")]


def own_instead_of_the_objects(function):
    """A parameter, a local variable or a field of a configuration, instead of the object's field of the same name."""
    own = declared_by(function)
    configured = {text_of(one.child_by_field_name("field")): text_of(one) for one in below(function, "field_expression")
                  if re.search(r"\bconfig(->|\.)\w+$", text_of(one))}
    for read in below(function, "field_expression"):
        name = text_of(read.child_by_field_name("field"))
        if is_written(read) or text_of(read) in configured.values() or read.parent.type in ("field_expression", "call_expression"):
            continue
        if name in configured or own.get(name, read.start_byte) < read.start_byte:
            yield [(read, configured.get(name, name))]


def declared_by(function) -> dict[str, int]:
    """The names of parameters and local variables, and where each declaration ends."""
    found = {}
    for declared in below(function, "parameter_declaration", "declaration"):
        made = declared.child_by_field_name("declarator")
        name = next(below(made, "identifier"), None) if made is not None else None
        if name is not None:
            found[text_of(name)] = declared.end_byte
    return found


def is_written(node) -> bool:
    around = node.parent
    return around.type in ("update_expression", "pointer_expression") or (
        around.type == "assignment_expression" and around.child_by_field_name("left") == node)


# ---- mutants ----

OPERATORS = {
    "two writes swapped": lambda root: swaps(root, with_barrier=False),
    "a write and a barrier swapped": lambda root: swaps(root, with_barrier=True),
    "no second look": rechecks,
    "another width": widths,
    "a flag stays": kept_flags,
    "asked, not granted": asked,
}


def mutants_of(root: pathlib.Path, file: str, seed: int) -> list[draw.Mutant]:
    """All mutants of one file."""
    source = draw.without_comments((root / file).read_text())
    tree = PARSER.parse(source.encode())
    seen: dict[tuple[str, ...], int] = collections.defaultdict(int)
    return [mutant for name in OPERATORS for mutant in _made(source, tree.root_node, file, seed, name, seen)]


def _made(source, root, file, seed, name, seen):
    for edits in OPERATORS[name](root):
        edits = sorted(edits, key=lambda edit: edit[0].start_byte)
        first, last = edits[0][0].start_point.row, edits[-1][0].end_point.row
        lines = source.splitlines()[first:last + 1]
        if any(line.lstrip().startswith("#") for line in lines) and len(lines) > 1:
            continue
        original, mutated = draw.joined(lines), draw.joined(_edited(source, edits).splitlines()[first:last + 1 + _more(edits)])
        function, function_line = _function_around(edits[0][0])
        text = function, original, mutated
        if original == mutated:
            continue
        seen[text] += 1
        key = hashlib.sha256("\0".join([str(seed), name, file, *text, str(seen[text])]).encode()).hexdigest()
        yield draw.Mutant(file, first + 1, function_line, original, mutated, key, len(lines), name)


def _edited(source: str, edits) -> str:
    text = source.encode()
    for node, new in reversed(edits):
        text = text[:node.start_byte] + new.encode() + text[node.end_byte:]
    return text.decode()


def _more(edits) -> int:
    """How many lines the edits add."""
    return sum(new.count("\n") - text_of(node).count("\n") for node, new in edits)


def _function_around(node) -> tuple[str, int]:
    while node is not None and node.type != "function_definition":
        node = node.parent
    if node is None:
        return "", 0
    name = next(below(node.child_by_field_name("declarator"), "identifier"))
    return text_of(name), node.start_point.row + 1
