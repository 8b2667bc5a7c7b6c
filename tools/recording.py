# SPDX-License-Identifier: Apache-2.0
"""
Runs commands in a terminal and writes its output as a picture: an SVG that plays once. Viewers that do not play it show its end.

    python3 tools/recording.py docs/images/demo.svg --title "make demo" --run "make demo"

Each line appears at the time at which the terminal showed it, except that pauses are cut to PAUSE_S. A line that the program
rewrites is rewritten, at most every REWRITE_S. Nothing else is changed. If a command fails, no other is run, and no picture is
written.
"""

import argparse
import dataclasses
import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import sys
import tempfile
import termios
import time

import program

COLUMNS, ROWS = 112, 60
PAUSE_S = 1.5  # longer pauses are cut to this
REWRITE_S = 0.4  # a row that is rewritten more often is shown at this interval
CHARACTER, LINE, MARGIN, BAR = 7.2, 17, 16, 28
TIMEOUT_S = 900
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STYLE = """
    text { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12px; fill: #e7e5e4; white-space: pre; }
    .prompt { fill: #6ee7b7; font-weight: bold; }
    .title { font-family: "DejaVu Sans", Verdana, sans-serif; fill: #d6d3d1; }
    .frame { fill: #1c1917; stroke: #78716c; }
    .bar { fill: #44403c; }
"""


@dataclasses.dataclass
class State:
    """The text of a row from a time on, until the next state of the row."""

    at_s: float
    text: str
    prompt: bool = False


class Screen:
    """The rows of a terminal, and the times of their changes. It understands line ends, carriage returns and "erase to the end of
    the line", which are all that these programs use."""

    def __init__(self):
        self.rows: list[list[State]] = [[]]
        self.line, self.column = "", 0
        self.now_s = 0.0

    def _put(self, character: str) -> None:
        if self.column >= COLUMNS:
            self._end_line()
        self.line = self.line[:self.column].ljust(self.column) + character + self.line[self.column + 1:]
        self.column += 1

    def _show(self) -> None:
        text = self.line.rstrip()
        shown = self.rows[-1][-1].text if self.rows[-1] else ""
        if text != shown:
            self.rows[-1].append(State(self.now_s, text))

    def _end_line(self) -> None:
        self._show()
        self.rows.append([])
        self.line, self.column = "", 0

    def type(self, command: str) -> None:
        self.rows[-1] = [State(self.now_s, f"$ {command}", prompt=True)]
        self.rows.append([])

    def see(self, text: str, at_s: float) -> None:
        """The terminal received this text at this time."""
        self.now_s = at_s
        for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", text):
            if part == "\x1b[K":
                self.line = self.line[:self.column]
            elif not CONTROL.fullmatch(part):
                for character in part:
                    if character == "\n":
                        self._end_line()
                    elif character == "\r":
                        self.column = 0
                    elif character >= " ":
                        self._put(character)
        self._show()

    def end(self) -> list[list[State]]:
        """Returns the rows, without empty rows at the end."""
        while self.rows and not self.rows[-1]:
            self.rows.pop()
        return self.rows


class Clock:
    """A clock that leaves out long pauses."""

    def __init__(self, now=time.monotonic):
        self.now, self.last, self.shown_s = now, now(), 0.0

    def read(self) -> float:
        now = self.now()
        self.shown_s += min(now - self.last, PAUSE_S)
        self.last = now
        return self.shown_s


def run(screen: Screen, clock: Clock, command: str, folder: pathlib.Path) -> None:
    """Runs a command in its own terminal. Failed if it does not end with status 0."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    words = ["sh", "-c", command]
    said = ""
    screen.now_s = clock.read()
    screen.type(command)
    with program.process(words, stdin=slave, stdout=slave, stderr=slave, cwd=folder,
                         env=environment | {"TERM": "xterm", "COLUMNS": str(COLUMNS)}) as process:
        os.close(slave)
        rest = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # no program has the terminal any more
                break
            if not piece:
                break
            # An incomplete character waits for its remaining bytes.
            text = (rest + piece).decode(errors="ignore")
            rest = (rest + piece)[len(text.encode()):] if len(text.encode()) < len(rest + piece) else b""
            said += text
            screen.see(text, clock.read())
        status = process.wait(TIMEOUT_S)
    os.close(master)
    if status != 0:
        raise program.Failed(words, program.ending(status), said)


def thinned(states: list[State]) -> list[State]:
    """Removes states that were visible only for a moment. The last one stays."""
    kept: list[State] = []
    for state in states:
        if kept and state.at_s - kept[-1].at_s < REWRITE_S:
            state = dataclasses.replace(state, at_s=kept.pop().at_s)
        kept.append(state)
    return kept


def row_svg(number: int, states: list[State]) -> list[str]:
    """Viewers that do not play the SVG draw the row's last state; the others are hidden."""
    y = BAR + MARGIN + LINE * number + 4
    drawn = []
    states = thinned(states)
    for state, after in zip(states, [*states[1:], None]):
        if not state.text:
            continue
        begin, kind = f"{state.at_s:.2f}s", ' class="prompt"' if state.prompt else ""
        width = f'textLength="{len(state.text) * CHARACTER:.1f}" lengthAdjust="spacingAndGlyphs"'
        place = f'<text{kind} x="{MARGIN}" y="{y}" {width}'
        if after is None:
            hide = f'<set attributeName="visibility" to="hidden" begin="0s" end="{begin}"/>' if state.at_s > 0 else ""
            drawn.append(f"{place}>{html.escape(state.text)}{hide}</text>")
        else:
            show = f'<set attributeName="visibility" to="visible" begin="{begin}" end="{after.at_s:.2f}s"/>'
            drawn.append(f'{place} visibility="hidden">{html.escape(state.text)}{show}</text>')
    return drawn


def svg(title: str, commands: list[str], rows: list[list[State]]) -> str:
    columns = max(len(state.text) for states in rows for state in states)
    width = round(columns * CHARACTER + 2 * MARGIN)
    height = BAR + 2 * MARGIN + LINE * len(rows)
    drawn = "\n  ".join(line for number, states in enumerate(rows) for line in row_svg(number, states))
    told = html.escape(f"A terminal in which {' and '.join(commands)} ran. Real output of one run, recorded by make recording; "
                       f"pauses are cut to {PAUSE_S} s.")
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" \
aria-labelledby="title desc">
  <!-- SPDX-License-Identifier: Apache-2.0 -->
  <title id="title">{html.escape(title)}</title>
  <desc id="desc">{told}</desc>
  <style>{STYLE}  </style>
  <rect class="frame" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>
  <path class="bar" d="M1 {BAR}V8a7 7 0 0 1 7-7H{width - 8}a7 7 0 0 1 7 7V{BAR}z"/>
  <text class="title" x="{MARGIN}" y="19">{html.escape(title)}</text>
  {drawn}
</svg>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("--title", required=True)
    parser.add_argument("--run", action="append", required=True, metavar="COMMAND", help="for the shell; may be given again")
    parser.add_argument("--new-folder", action="store_true", help="run in an empty folder, which is removed at the end, instead of this one")
    parser.add_argument("--programs", type=pathlib.Path, metavar="FOLDER", help="comes first on the PATH")
    options = parser.parse_args()
    if options.programs:
        os.environ["PATH"] = f"{options.programs.resolve()}:{os.environ['PATH']}"
    screen, clock = Screen(), Clock()
    with tempfile.TemporaryDirectory(dir=program.BUILD) as new:
        folder = pathlib.Path(new) if options.new_folder else pathlib.Path.cwd()
        try:
            for command in options.run:
                run(screen, clock, command, folder)
        except program.Failed as failed:
            sys.exit(f"recording: no picture, because a command failed\n{failed}")
    rows = screen.end()
    options.picture.write_text(svg(options.title, options.run, rows))
    print(f"{options.picture}: {len(rows)} lines, {options.picture.stat().st_size} bytes, plays for {clock.shown_s:.0f} s")


if __name__ == "__main__":
    main()
