# SPDX-License-Identifier: Apache-2.0
"""What ONLY selects, in all commands for the gateware.

ONLY is a name or the beginning of names, with or without spate_. A complete name has precedence over a beginning: `fifo`
selects spate_fifo and not spate_fifo_x. An ONLY that selects nothing is an error, and the message lists the names.
"""

import difflib
import textwrap

PREFIX = "spate_"


class Unknown(SystemExit):
    """Nothing has that name; the message lists the names."""


def choose(what: str, items: list, names, only: str, option: str = "ONLY") -> list:
    """The `items` that `only` selects; all if it is empty. `names(item)` are all names of an item, the one to print first."""
    if not only:
        return items
    wanted = only.removeprefix(PREFIX)
    known = [(item, {name.removeprefix(PREFIX) for name in names(item)}) for item in items]
    exact = [item for item, own in known if wanted in own]
    chosen = exact or [item for item, own in known if wanted and any(name.startswith(wanted) for name in own)]
    if not chosen:
        raise Unknown(message(what, sorted(names(item)[0] for item in items), only, option))
    return chosen


def message(what: str, shown: list[str], only: str, option: str) -> str:
    near = difflib.get_close_matches(only, shown, n=1)
    question = f" Did you mean {near[0]}?" if near else ""
    listed = textwrap.fill(", ".join(shown), 120, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return (f"no {what} is called '{only}', and none begins with it.{question} {option} must be one of these names or the beginning "
            f"of one:\n{listed}")
