# SPDX-License-Identifier: Apache-2.0
"""make place-calibrate: its cores, their sources, the ratios, and what the page says of them. Nothing is placed here."""

import re
import shlex

import pytest

import place_cores
import place_kept
import place_meaning
import place_ratio
import program
import rtl_calibrate
from place import report, synthesis

PUBLISHED = {"ultrascale_plus": True, "tool": "Vivado", "source": "README.md"}


def published(mhz, part="xcku3p-ffva676-2-e", how="maximum", **changes):
    return place_cores.Published(**PUBLISHED | {"part": part, "mhz": mhz, "how": how} | changes)


def core(name="a", *figures, files=None, fetched=False):
    return place_cores.Core(name, f"Core {name}", "a processor", f"somebody/{name}", "0123456789abcdef", "ISC", fetched, name, {},
                            [], files or {}, list(figures))


def kept(*frequencies_mhz):
    seeds = {str(seed): {"fmax_mhz": value, "routing_ns": 3.0, "logic_ns": 1.0} for seed, value in enumerate(frequencies_mhz, 1)}
    return {"seeds": seeds, "luts": 10, "ffs": 20}


MEASURED = {name: kept(90, 95, 100, 105, 110) for name in "abc"}


# ---- the table, and the sources ----


def test_each_core_of_the_table_can_be_found_and_compared():
    cores = place_cores.load()
    usable = {core.name for core in cores for figure in core.published
              if figure.ultrascale_plus and place_ratio.grade(figure.part) == place_ratio.GRADE}
    assert usable == {core.name for core in cores} and len(usable) == len(cores)
    assert {figure.how for core in cores for figure in core.published} <= set(place_cores.HOW)
    assert all(core.files and re.fullmatch(r"[0-9a-f]{40}", core.commit) for core in cores)
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for core in cores for digest in core.files.values())


def test_the_core_that_is_fetched_is_the_one_that_the_set_up_names():
    names = {core.name for core in place_cores.load() if core.fetched}
    listed = re.findall(r"^pythondata-cpu-(\w+)==\S+ --hash=sha256:", (program.ROOT / "setup/cores.txt").read_text(), re.M)
    assert names == set(listed)


def test_absent_and_other_sources_are_named_with_what_to_do(tmp_path):
    files = {"rtl/there.v": "cd" * 32, "rtl/absent.v": "ab" * 32}
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "there.v").write_text("module a; endmodule\n")
    with pytest.raises(SystemExit) as refused:
        place_cores.need_sources(core("a", files=files), tmp_path)
    said = str(refused.value)
    assert "a needs files of github.com/somebody/a, commit 0123456789abcdef; no package registry has them" in said
    assert f"rtl/absent.v is not there: put it at {tmp_path}/a/absent.v; its SHA-256 is {'ab' * 32}" in said
    assert f"{tmp_path}/a/there.v is another file than rtl/there.v" in said
    with pytest.raises(SystemExit, match="setup/install calibrate fetches them"):
        place_cores.need_sources(core("a", files=files, fetched=True), tmp_path)


def test_the_measured_sources_are_accepted(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.v").write_text("module a; endmodule\n")
    digest = "c6eb4df3199b831c563791384a0828679051685efacb4365dcbacd093dc54704"
    place_cores.need_sources(core("a", files={"rtl/a.v": digest}), tmp_path)


def test_a_design_has_the_files_in_the_order_of_the_table():
    design = core("a", files={"rtl/pkg.sv": "", "rtl/top.sv": ""}).design
    assert design.files == ("build/calibrate/a/pkg.sv", "build/calibrate/a/top.sv") and design.module == "a"


def test_ports_that_the_published_measurement_leaves_open_are_not_connected():
    ports = {name: {"direction": "output", "bits": [0]} for name in ("trap", "trace_data", "pcpi_valid")}
    design = synthesis.Design("a", "a", {}, (), ("pcpi_", "trace_"))
    modules = {"a": {"attributes": {"top": "01"}, "ports": ports}}
    assert [port.name for port in synthesis.connected(design, modules)] == ["trap"]
    assert len(synthesis.connected(design._replace(open_ports=()), modules)) == 3


# ---- the ratios ----


@pytest.mark.parametrize(("part", "grade"), [("xcku3p-ffva676-2-e", 2), ("xcvu3p-ffvc1517-3-e", 3), ("xc7k70t-fbg676-1", 1)])
def test_the_speed_grade_of_a_part(part, grade):
    assert place_ratio.grade(part) == grade


def test_a_ratio_is_the_published_frequency_by_the_median_of_five_seeds():
    (ratio,) = place_ratio.all_ratios([core("a", published(400))], {"a": kept(90, 100, 80, 110, 120, 1, 1, 1)})
    assert ratio.figure.mhz == 400 and ratio.value == pytest.approx(4)


def test_the_range_is_of_ultrascale_plus_parts_of_one_speed_grade():
    cores = [core("a", published(200), published(50, ultrascale_plus=False)),
             core("b", published(400), published(900, "xcku3p-ffva676-3-e")), core("c", published(300))]
    least, most = place_ratio.extent(place_ratio.all_ratios(cores, MEASURED))
    assert (least.core, least.value, most.core, most.value) == ("a", 2, "b", 4)


def test_two_cores_make_no_range():
    cores = [core("a", published(200), published(210)), core("b", published(400)), core("c", published(1, "xcku3p-ffva676-1-e"))]
    assert place_ratio.extent(place_ratio.all_ratios(cores, MEASURED)) is None
    assert place_ratio.extent([]) is None


def test_the_share_of_routing():
    assert place_ratio.routing_share(kept(100, 100)) == pytest.approx(0.75)


# ---- the page ----


@pytest.fixture
def table(monkeypatch):
    cores = [core("a", published(200, how="met")), core("b", published(400)), core("c", published(300, how="slack"))]
    monkeypatch.setattr(place_cores, "load", lambda: cores)


def test_the_page_says_the_range_and_what_it_makes_of_a_design(table):
    text = "\n".join(place_meaning.section({"usp": kept(110)}, MEASURED))
    assert "are ≥ 2.0 (a, xcku3p-ffva676-2-e) to 4.0 (b, xcku3p-ffva676-2-e) times those here" in text
    assert "| `usp` | 110.0 | 75% | 220 | 440 |" in text
    assert "| 100.0 (90.0 … 110.0) | 5 | 75% | ≥ 200 |" in text and "| ≥ 2.00 |" in text
    assert "| 400 | xcku3p-ffva676-2-e | Vivado | 4.00 |" in text and "| ≥ 3.00 |" in text


def test_without_three_cores_the_page_claims_levels_and_a_trend_only(table):
    text = "\n".join(place_meaning.section({"usp": kept(110)}, {"a": MEASURED["a"], "b": MEASURED["b"]}))
    assert "needs 3 cores, and 2 are measured" in text and "a trend only" in text and "| `usp` |" not in text
    assert "needs 3 cores, and 0 are measured" in "\n".join(place_meaning.section({}, {}))


def test_each_core_of_the_table_is_measured_at_its_commit():
    measured = place_kept.load(place_ratio.PATH)
    assert measured.keys() == {core.name for core in place_cores.load()}
    assert all(place_ratio.here_mhz(measured[core.name]) and core.commit.startswith(measured[core.name]["commit"])
               for core in place_cores.load())


# ---- the command ----


def test_each_seed_is_kept_when_it_is_measured(monkeypatch, tmp_path):
    kept_after = []

    def measure(_design, seeds):
        kept_after.append(len(place_kept.load(place_ratio.PATH).get("a", {"seeds": ()})["seeds"]))
        return "netlist", {seed: report.Result(100.0 + seed, 1, 2, 0, 0, 3, [], []) for seed in seeds}

    monkeypatch.setattr(place_ratio, "PATH", tmp_path / "kept.json")
    monkeypatch.setattr(rtl_calibrate.rtl_place, "measure", measure)
    monkeypatch.setattr(rtl_calibrate.rtl_place, "tools", lambda: {"nextpnr": "0", "yosys": "0"})
    monkeypatch.setattr(rtl_calibrate.place_page, "write", lambda _kept: None)
    assert rtl_calibrate.measure(core("a"), keep=True).keys() == {1, 2, 3, 4, 5} and kept_after == [0, 1, 2, 3, 4]
    assert place_ratio.here_mhz(place_kept.load(place_ratio.PATH)["a"]) == [101, 102, 103, 104, 105]
    (tmp_path / "kept.json").unlink()
    rtl_calibrate.measure(core("a"), keep=False)
    assert not (tmp_path / "kept.json").exists()


def test_what_people_type_reaches_the_script():
    done = program.run("make", "-n", "place-calibrate", "ONLY=kvcache", "KEEP=1", cwd=program.ROOT)
    (line,) = (line for line in done.stdout.splitlines() if "bench/rtl_calibrate.py" in line)
    assert shlex.split(line)[3:] == ["kvcache", "--keep"]
