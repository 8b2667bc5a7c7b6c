# SPDX-License-Identifier: Apache-2.0
"""Which errors each function of the library can return, from its source. An approximation: it follows values of `enum spate_error`
through variables, parameters, out-parameters, fields and calls, and respects the comparisons on the path to a return. A field
may have any value that any function stores in it. A call through a pointer calls what src/ stores in this member; what a
program or a board supplies is in SUPPLIED."""

import collections
import pathlib
import re

import tree_sitter
import tree_sitter_c

C = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c.language()))
TYPE = "spate_error"
OK = "OK"

Values = frozenset
NONE: Values = frozenset()

# Whatever a device ends or refuses a request with (spate/block.h), and what it is known not to be.
DEVICE = ("device", frozenset())
BELOW = ("nvme", "gateware")  # the folders of src/ that are such a device: there the values are known

# Members that a program or a board supplies: what the comment of the member allows.
SUPPLIED = {
    ("spate_block_ops", "submit"): {"OK", "FULL", DEVICE},
    ("spate_nvme_bus", "restore"): {"OK", "BUSY"}, ("spate_nvme_bus", "reset"): {"OK", "BUSY"},
    ("spate_nvme_bus", "isolate"): {"OK"}, ("spate_nvme_pcie", "perst"): {"OK", "BUSY"},
    ("spate_checkup_config", "open"): {"OK"},
}



def parameter(index: int) -> tuple:
    """The value of a parameter, before it is known: (its place, what it is known not to be)."""
    return (index, frozenset())


def only(values: Values, name: str) -> Values:
    return frozenset({name}) if any(value == name or isinstance(value, tuple) and name not in value[1] for value in values) \
        else NONE


def without(values: Values, name: str) -> Values:
    kept = (((value[0], value[1] | {name}) if isinstance(value, tuple) else value) for value in values)
    return frozenset(value for value in kept if value != name)


def text(node) -> str:
    return node.text.decode()


def joined(first, second):
    """The state after two branches; None: this branch has ended."""
    if first is None or second is None:
        return second if first is None else first
    return {name: first.get(name, NONE) | second.get(name, NONE) for name in first.keys() | second.keys()}


class Function:
    def __init__(self, path, node, declarator):
        self.path, self.node = path, node
        self.name = text(declarator.child_by_field_name("declarator"))
        self.parameters = []  # (name, struct, is an error, is a pointer)
        for child in declarator.child_by_field_name("parameters").named_children:
            if child.type == "parameter_declaration":
                self.parameters.append(declared(child, child.child_by_field_name("declarator")))
        self.returns_error = is_error(node.child_by_field_name("type")) and "*" not in text(node).split("(")[0]
        self.returned: Values = NONE
        self.outputs: dict[int, Values] = collections.defaultdict(frozenset)
        self.given: dict[int, Values] = collections.defaultdict(frozenset)  # to each parameter, by any caller


def is_error(node) -> bool:
    return node is not None and node.type == "enum_specifier" and text(node).split()[-1] == TYPE


def struct_of(node) -> str:
    name = node.child_by_field_name("name") if node is not None and node.type in ("struct_specifier", "union_specifier") else None
    return text(name) if name is not None else ""


def declared(node, declarator):
    """(name, struct, is an error, is a pointer) of one declared name."""
    kind, pointer, function = node.child_by_field_name("type"), False, False
    while declarator is not None and declarator.type not in ("identifier", "field_identifier"):
        pointer |= declarator.type == "pointer_declarator"
        function |= declarator.type == "function_declarator"
        inner = declarator.child_by_field_name("declarator")
        declarator = inner if inner is not None else next(iter(declarator.named_children), None)
    return (text(declarator) if declarator is not None else "", struct_of(kind), is_error(kind) and not function, pointer)


class Program:
    def __init__(self, paths: list[pathlib.Path]):
        self.functions: dict[tuple, Function] = {}  # (path or None for those that other files see, name)
        self.members: dict[str, dict[str, str]] = collections.defaultdict(dict)  # struct: {member: its struct}
        self.stored: dict[tuple, Values] = collections.defaultdict(frozenset)  # (struct, member): errors
        self.arrays: dict[tuple, Values] = {}  # (path, name): the errors in a table
        self.targets: dict[tuple, set] = collections.defaultdict(set)  # (struct, member) or (function, parameter): functions
        self.results: dict[str, str] = {}  # function: the struct that it returns
        for path in paths:
            self.read(path)
        self.changed = True
        while self.changed:
            self.changed = False
            for function in self.functions.values():
                Walk(self, function).run()

    def read(self, path):
        source = re.sub(r"SPATE_MUST_CHECK(?! __attribute)|__attribute__\(\(.*?\)\)", " ", path.read_text())
        for node in descend(C.parse(source.encode()).root_node):
            if node.type == "function_definition":
                declarator = node.child_by_field_name("declarator")
                while declarator.type == "pointer_declarator":
                    declarator = declarator.child_by_field_name("declarator")
                function = Function(path, node, declarator)
                private = path.suffix == ".c" and any(text(child) == "static" for child in node.children[:2])
                self.functions[path if private else None, function.name] = function
                self.results[function.name] = struct_of(node.child_by_field_name("type"))
            elif node.type == "struct_specifier" and node.child_by_field_name("body") is not None:
                for field in descend(node.child_by_field_name("body")):
                    if field.type == "field_declaration":
                        for declarator in field.children_by_field_name("declarator"):
                            name, struct, error, _ = declared(field, declarator)
                            self.members[struct_of(node)][name] = struct
                            if error:
                                self.stored[struct_of(node), name] = frozenset({OK})
            elif node.type == "init_declarator":
                self.initialised(path, node)

    def initialised(self, path, node):
        """A table of functions, {.submit = submit, ...}, or of errors."""
        struct = struct_of(node.parent.child_by_field_name("type"))
        for listed in (child for child in node.named_children if child.type == "initializer_list"):
            for index, item in enumerate(child for child in listed.named_children if child.type != "comment"):
                pair = item.type == "initializer_pair"
                if struct and (item.named_children[-1] if pair else item).type == "identifier":
                    member = text(item.named_children[0]).lstrip(".") if pair else list(self.members[struct])[index]
                    self.targets[struct, member].add((path, text(item.named_children[-1] if pair else item)))
            errors = frozenset(name for child in descend(listed) if (name := named(child)) is not None)
            if errors and not struct:
                self.arrays[path, text(next(n for n in descend(node) if n.type == "identifier"))] = errors

    def find(self, path, name):
        return self.functions.get((path, name)) or self.functions.get((None, name))

    def store(self, key, values: Values, function: Function):
        self.add(self.stored, key, substituted(values, function.given))

    def add(self, table, key, values):
        if not values <= table[key]:
            table[key] |= values
            self.changed = True


def descend(node):
    yield node
    for child in node.children:
        yield from descend(child)


class Walk:
    """One pass through a function. A state is {variable, or text of an expression that was compared: its possible values}."""

    def __init__(self, program: Program, function: Function):
        self.program, self.function = program, function
        self.above = function.path.parent.name not in BELOW
        self.structs: dict[str, str] = {}
        self.pointers: set[str] = set()  # out-parameters
        self.breaks: list[list] = []
        self.continues: list[list] = []
        self.end = None

    def run(self):
        state = {}
        for index, (name, struct, error, pointer) in enumerate(self.function.parameters):
            self.structs[name] = struct
            if error:
                state[f"*{name}" if pointer else name] = frozenset() if pointer else frozenset({parameter(index)})
                self.pointers |= {name} if pointer else set()
        self.leave(self.statement(self.function.node.child_by_field_name("body"), state))

    def leave(self, state, values: Values = NONE):
        if state is None:
            return
        function = self.function
        if function.returns_error and not values <= function.returned:
            function.returned |= values
            self.program.changed = True
        for index, (name, *_) in enumerate(function.parameters):
            if name in self.pointers:
                self.program.add(function.outputs, index, state.get(f"*{name}", NONE))

    # ---- statements: each returns the state after it, or None ----

    def statement(self, node, state):
        if state is None or node is None:
            return state
        return getattr(self, node.type, self.others)(node, state)

    def others(self, node, state):
        for child in node.named_children:
            state = self.statement(child, state) if "statement" in child.type or child.type == "declaration" \
                else self.evaluated(child, state)
        return state

    def evaluated(self, node, state):
        self.value(node, state)
        return state

    def compound_statement(self, node, state):
        for child in node.named_children:
            state = self.statement(child, state)
        return state

    def comment(self, node, state):
        return state

    def declaration(self, node, state):
        for declarator in node.children_by_field_name("declarator"):
            initial = declarator.child_by_field_name("value") if declarator.type == "init_declarator" else None
            name, struct, error, _ = declared(node, declarator)
            self.structs[name] = struct
            if initial is not None:
                values = self.value(initial, state, struct)
                if error:
                    state[name] = values
        return state

    def return_statement(self, node, state):
        values = NONE
        for child in node.named_children:
            if child.type != "comment":
                values = self.value(child, state)
        self.leave(state, values)

    def if_statement(self, node, state):
        yes, no = self.split(node.child_by_field_name("condition"), state)
        otherwise = node.child_by_field_name("alternative")
        return joined(self.statement(node.child_by_field_name("consequence"), yes),
                      self.statement(otherwise, no) if otherwise is not None else no)

    def else_clause(self, node, state):
        return self.statement(node.named_children[-1], state)

    def loop(self, condition, body, update, state, first=True):
        out = None
        for _ in range(20):
            yes, no = self.split(condition, dict(state)) if condition is not None else (dict(state), None)
            if not first:
                yes, no = dict(state), None
            self.breaks.append([])
            self.continues.append([])
            after = self.statement(body, yes)
            for other in self.continues.pop():
                after = joined(after, other)
            if after is not None and update is not None:
                self.value(update, after)
            if not first and after is not None:
                after, no = self.split(condition, after)
            out = joined(out, no)
            for other in self.breaks.pop():
                out = joined(out, other)
            again = joined(dict(state), after)
            if again == state:
                break
            state = again
        return out

    def while_statement(self, node, state):
        return self.loop(node.child_by_field_name("condition"), node.child_by_field_name("body"), None, state)

    def do_statement(self, node, state):
        return self.loop(node.child_by_field_name("condition"), node.child_by_field_name("body"), None, state, first=False)

    def for_statement(self, node, state):
        initial = node.child_by_field_name("initializer")
        if initial is not None:
            state = self.statement(initial, state) if initial.type == "declaration" else self.evaluated(initial, state)
        return self.loop(node.child_by_field_name("condition"), node.child_by_field_name("body"),
                         node.child_by_field_name("update"), state)

    def break_statement(self, _, state):
        self.breaks[-1].append(state)

    def continue_statement(self, _, state):
        self.continues[-1].append(state)

    def switch_statement(self, node, state):
        subject = node.child_by_field_name("condition")
        values, place = self.value(subject, state), text(subject).strip("()")
        self.breaks.append([])
        state.setdefault(place, values)
        rest, current, default = dict(state), None, False
        for case in node.child_by_field_name("body").named_children:
            if case.type != "case_statement":
                continue
            label = case.child_by_field_name("value")
            name = named(label) if label is not None else None
            default |= label is None
            here = dict(rest)
            if name is not None:
                here[place] = only(rest[place], name)
                rest[place] = without(rest[place], name)
            current = joined(current, here)
            for child in case.named_children:
                if label is None or child.id != label.id:
                    current = self.statement(child, current)
        current = joined(current, None if default else rest)
        for other in self.breaks.pop():
            current = joined(current, other)
        return current

    # ---- conditions: the states in which one is true and false ----

    def split(self, node, state):
        if node.type == "parenthesized_expression":
            return self.split(node.named_children[0], state)
        if node.type == "unary_expression" and text(node).startswith("!"):
            return self.split(node.child_by_field_name("argument"), state)[::-1]
        if node.type == "binary_expression":
            operator = text(node.child_by_field_name("operator"))
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if operator in ("&&", "||"):
                yes, no = self.split(left, state)
                if operator == "&&":
                    also, not_also = self.split(right, yes) if yes is not None else (None, None)
                    return also, joined(no, not_also)
                also, not_also = self.split(right, no) if no is not None else (None, None)
                return joined(yes, also), not_also
            if operator in ("==", "!=") and named(right) is not None:
                return self.compared(left, named(right), state)[:: 1 if operator == "==" else -1]
        self.value(node, state)
        return dict(state), dict(state)

    def compared(self, node, name, state):
        if node.type == "parenthesized_expression":
            node = node.named_children[0]
        values = self.value(node, state)
        if node.type == "assignment_expression":
            node = node.child_by_field_name("left")
        if not values:  # of another type, or nothing is known yet
            return dict(state), dict(state)
        yes, no = only(values, name), without(values, name)
        if node.type == "call_expression":
            return (dict(state) if yes else None), (dict(state) if no else None)
        place = text(node)
        return ({**state, place: yes} if yes else None), ({**state, place: no} if no else None)

    # ---- expressions: the errors that one can be ----

    def value(self, node, state, struct="") -> Values:
        kind = node.type
        if kind in ("identifier", "field_expression", "pointer_expression", "subscript_expression"):
            return self.place(node, state)
        if kind == "assignment_expression":
            return self.assign(node, state)
        if kind == "call_expression":
            return self.call(node, state)
        if kind == "conditional_expression":
            yes, no = self.split(node.child_by_field_name("condition"), state)
            values = NONE
            for branch, name in ((yes, "consequence"), (no, "alternative")):
                if branch is not None:
                    values |= self.value(node.child_by_field_name(name), branch)
            return values
        if kind == "initializer_list":
            return self.listed(node, state, struct)
        if kind == "compound_literal_expression":
            type_node = node.child_by_field_name("type")
            return self.listed(node.child_by_field_name("value"), state, struct_of(type_node.child_by_field_name("type")))
        if kind == "cast_expression":
            return self.value(node.child_by_field_name("value"), state)
        values = NONE
        for child in node.named_children:
            values = self.value(child, state)
        return values if kind in ("parenthesized_expression", "comma_expression") else NONE

    def listed(self, node, state, struct):
        for child in node.named_children:
            if child.type == "initializer_pair":
                member = text(child.named_children[0]).lstrip(".")
                inner = self.program.members[struct].get(member, "")
                values = self.value(child.named_children[-1], state, inner)
                if values:
                    self.program.store((struct, member), values, self.function)
            elif child.type != "comment":
                self.value(child, state)
        return NONE

    def place(self, node, state) -> Values:
        if named(node) is not None:
            return frozenset({named(node)})
        if text(node) in state:
            return state[text(node)]
        if node.type == "field_expression":
            self.value(node.child_by_field_name("argument"), state)
            member = self.member(node)
            return frozenset({OK, DEVICE}) if member == ("spate_io", "error") and self.above else self.program.stored[member]
        if node.type == "identifier":
            return NONE
        for child in node.named_children:
            self.value(child, state)
        return self.program.arrays.get((self.function.path, text(node.named_children[0])), NONE)

    def member(self, node):
        return self.struct(node.child_by_field_name("argument")), text(node.child_by_field_name("field"))

    def struct(self, node) -> str:
        if node.type == "identifier":
            return self.structs.get(text(node), "")
        if node.type == "field_expression":
            struct, member = self.member(node)
            return self.program.members[struct].get(member, "")
        if node.type == "call_expression":
            return self.program.results.get(text(node.child_by_field_name("function")), "")
        inner = node.child_by_field_name("argument") or next(iter(node.named_children), None)
        return self.struct(inner) if inner is not None else ""

    def assign(self, node, state) -> Values:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        values = self.value(right, state, self.struct(left))
        if left.type == "field_expression":
            state.pop(text(left), None)
            if values:
                self.program.store(self.member(left), values, self.function)
            if right.type == "identifier" and not values:
                self.program.targets[self.member(left)].add((self.function.path, text(right)))
        elif text(left) in state or values:
            state[text(left)] = values
        return values

    def call(self, node, state) -> Values:
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments").named_children
        arguments = [argument for argument in arguments if argument.type != "comment"]
        given = [self.value(argument, state) for argument in arguments]
        for name in [name for name in state if "->" in name or "." in name]:
            del state[name]  # the function may have changed it
        values = NONE
        supplied = SUPPLIED.get(self.member(called)) if called.type == "field_expression" else None
        for function in self.targets(called) if supplied is None else ():
            places = dict(enumerate(given))
            for index, argument in enumerate(arguments[:len(function.parameters)]):
                self.program.add(function.given, index, substituted(given[index], self.function.given))
                if argument.type == "identifier" and self.program.find(self.function.path, text(argument)) is not None:
                    self.program.add(self.program.targets, (function.name, function.parameters[index][0]),
                                     {(self.function.path, text(argument))})
                self.output(argument, substituted(function.outputs[index], places), state)
            values |= substituted(function.returned, places)
        return values if supplied is None else frozenset(supplied)

    def output(self, argument, values, state):
        place = text(argument)[1:] if text(argument).startswith("&") else f"*{text(argument)}"
        if values and "." not in place and "->" not in place:
            state[place] = state.get(place, NONE) | values
        elif values and argument.type == "pointer_expression":
            self.program.store(self.member(argument.child_by_field_name("argument")), values, self.function)

    def targets(self, called) -> list[Function]:
        if called.type == "identifier":
            direct = self.program.find(self.function.path, text(called))
            if direct is not None:
                return [direct]
            key = (self.function.name, text(called))
        elif called.type == "field_expression":
            key = self.member(called)
        else:
            return []
        found = (self.program.find(path, name) for path, name in self.program.targets[key])
        return [function for function in found if function is not None]


def substituted(values: Values, given: dict[int, Values]) -> Values:
    """The values, with those of parameters filled in."""
    result = set()
    for value in values:
        if isinstance(value, tuple) and value[0] != DEVICE[0]:
            for one in given.get(value[0], NONE):
                if isinstance(one, tuple):
                    result.add((one[0], one[1] | value[1]))
                elif one not in value[1]:
                    result.add(one)
        else:
            result.add(value)
    return frozenset(result)


def named(node) -> str | None:
    """The error that a constant is."""
    name = text(node) if node is not None and node.type == "identifier" else ""
    return OK if name == "SPATE_OK" else name.removeprefix("SPATE_E_") if name.startswith("SPATE_E_") else None


def of(root: pathlib.Path) -> Program:
    headers = sorted([*(root / "include").rglob("*.h"), *(root / "src").rglob("*.h")])
    return Program([*headers, *sorted((root / "src").rglob("*.c"))])
