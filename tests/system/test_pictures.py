# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/images: small, complete in themselves, described, and without text on text."""

import itertools
import pathlib
import re
import sys
import xml.etree.ElementTree

import matplotlib.ft2font
import matplotlib.font_manager
import program
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import recording  # noqa: E402 - the path comes first

IMAGES = sorted((ROOT / "docs/images").glob("*.svg"))
MADE = {"demo.svg", "spate-linux.svg", "pressure.svg"}  # by a command
HAND_MADE = [path for path in IMAGES if path.name not in MADE]
SVG = "{http://www.w3.org/2000/svg}"
BYTES_MAX = 30_000
PLOT_BYTES_MAX = 60_000


def tree(path):
    return xml.etree.ElementTree.parse(path).getroot()


def test_all_are_here():
    assert {path.stem for path in IMAGES} == {"system", "ring", "clip", "power-cut", "core", "demo", "spate-linux", "pressure"}


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_it_is_small_and_described(path):
    picture = tree(path)
    assert path.stat().st_size <= (PLOT_BYTES_MAX if path.stem == "pressure" else BYTES_MAX)
    for name in ("title", "desc"):
        told = picture.find(SVG + name)
        assert told is not None and len(told.text.split()) >= 2, f"no <{name}>"
    assert picture.get("viewBox")
    assert list(picture.iter(SVG + "text")), "its text is drawn as curves"


@pytest.mark.parametrize("path", IMAGES, ids=lambda path: path.name)
def test_it_fetches_nothing(path):
    for element in tree(path).iter():
        assert element.tag.removeprefix(SVG) not in ("image", "script", "foreignObject", "a"), element.tag
        for name, value in element.attrib.items():
            assert not (name.endswith("href") and not value.startswith("#")), value
            assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)]*)", value)), value
        if element.tag == SVG + "style":
            assert "@import" not in element.text and "@font-face" not in element.text and "url(" not in element.text


# ---- those made by hand ----


def test_they_look_alike():
    styles = {path.name: tree(path).find(SVG + "style").text for path in HAND_MADE}
    assert len(set(styles.values())) == 1, "change the style of all pictures: " + ", ".join(styles)


def sizes(style: str) -> dict[str, tuple[str, int]]:
    """Font and size of each class that has one; of "" for a text without class."""
    found = {"": ("DejaVu Sans", 13)}
    for name, rule in re.findall(r"\.([\w-]+) \{([^}]*)\}", style.partition("@media")[0]):
        size, family = re.search(r"font-size: (\d+)px", rule), re.search(r'font-family: "([^"]+)"', rule)
        if size or family:
            found[name] = (family[1] if family else "DejaVu Sans", int(size[1]) if size else 13)
    return found


def box(text, fonts) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of a text, in DejaVu: a wide font, in which nothing overlaps that does not in others."""
    classes = text.get("class", "").split()
    family, size = next((fonts[name] for name in classes if name in fonts), fonts[""])
    weight = "bold" if "title" in classes else "normal"
    path = matplotlib.font_manager.findfont(matplotlib.font_manager.FontProperties(family=family, weight=weight))
    font = matplotlib.ft2font.FT2Font(path)
    font.set_size(size, 72)
    font.set_text(text.text)
    width = font.get_width_height()[0] / 64
    x, y = float(text.get("x")), float(text.get("y"))
    left = x - width if "end" in classes else x - width / 2 if "middle" in classes else x
    return (left, y - 0.76 * size, left + width, y + 0.2 * size)


def overlaps(picture) -> list[str]:
    fonts = sizes(picture.find(SVG + "style").text)
    width, height = map(float, picture.get("viewBox").split()[2:])
    boxes = [(text.text, box(text, fonts)) for text in picture.iter(SVG + "text")]
    outside = [f'"{text}" ends outside of the picture' for text, (left, top, right, bottom) in boxes
               if left < 4 or top < 4 or right > width - 4 or bottom > height - 4]
    return outside + [f'"{first}" lies on "{second}"' for (first, one), (second, other) in itertools.combinations(boxes, 2)
                      if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]]


@pytest.mark.parametrize("path", HAND_MADE, ids=lambda path: path.name)
def test_no_text_lies_on_another_or_outside(path):
    assert overlaps(tree(path)) == []


def test_text_on_text_is_found():
    picture = tree(ROOT / "docs/images/ring.svg")
    texts = list(picture.iter(SVG + "text"))
    texts[1].set("y", texts[0].get("y"))
    texts[2].set("x", "1000")
    assert len(overlaps(picture)) == 2


# ---- the recorded terminal ----


def record(path: pathlib.Path, *commands: str, status: int = 0):
    words = [word for command in commands for word in ("--run", command)]
    program.run(sys.executable, ROOT / "tools/recording.py", path, "--title", "a title", *words, statuses=(status,), timeout_s=60)


def visible(text) -> bool:
    return text.get("visibility") != "hidden"


def test_it_shows_what_the_terminal_showed(tmp_path):
    record(tmp_path / "x.svg", "echo one; echo '<&>'", r"printf 'half\rwhole\n'; printf 'long gone\r\033[Kleft'")
    texts = [text.text for text in tree(tmp_path / "x.svg").iter(SVG + "text") if visible(text)]
    assert texts == ["a title", "$ echo one; echo '<&>'", "one", "<&>", r"$ printf 'half\rwhole\n'; printf 'long gone\r\033[Kleft'",
                     "whole", "left"]


def test_a_long_line_goes_on_in_the_next_row():
    screen = recording.Screen()
    screen.see("x" * (recording.COLUMNS + 3) + "\r\n", 0.0)
    assert [states[-1].text for states in screen.end()] == ["x" * recording.COLUMNS, "xxx"]


def test_what_was_rewritten_is_shown_when_it_was():
    screen = recording.Screen()
    for second in range(3):
        screen.see(f"\r{second} s", float(second))
    drawn = [xml.etree.ElementTree.fromstring(line) for line in recording.row_svg(0, screen.end()[0])]
    assert [(text.text, visible(text)) for text in drawn] == [("0 s", False), ("1 s", False), ("2 s", True)]
    assert [(text[0].get("begin"), text[0].get("end")) for text in drawn] == [("0.00s", "1.00s"), ("1.00s", "2.00s"), ("0s", "2.00s")]


def test_a_moment_is_not_shown():
    states = [recording.State(0.1 * at, str(at)) for at in range(10)]
    kept = recording.thinned(states)
    assert kept[-1].text == "9" and 1 < len(kept) < 5
    assert all(after.at_s - state.at_s >= recording.REWRITE_S for state, after in zip(kept, kept[1:]))


def test_pauses_are_cut():
    times = iter([0.0, 1.0, 11.0, 12.0])
    clock = recording.Clock(lambda: next(times))
    assert [clock.read() for _ in range(3)] == [1.0, 1.0 + recording.PAUSE_S, 2.0 + recording.PAUSE_S]


def test_a_command_that_fails_makes_no_picture(tmp_path):
    record(tmp_path / "x.svg", "false", status=1)
    assert not (tmp_path / "x.svg").exists()


@pytest.mark.parametrize(("name", "last"), [("demo.svg", "demo   passed in "), ("spate-linux.svg", "")])
def test_the_recorded_commands_passed(name, last):
    texts = [text.text for text in tree(ROOT / "docs/images" / name).iter(SVG + "text") if visible(text)]
    assert texts[1].startswith("$ ") and texts[-1].startswith(last)
