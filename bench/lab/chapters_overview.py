# SPDX-License-Identifier: Apache-2.0
"""The chapters around the experiments: all figures compared, and the sources of the drives' and hosts' numbers."""

import pathlib

from lab import compare, plots, runs, seeds, sources, text
from lab.page import Chapter, Table
from lab.prose import chapter
from lab.runner import Lab


def systems(lab: Lab, out: pathlib.Path) -> Chapter:
    del lab, out
    rows = [[f"system {system.number}", system.name, system.host, system.year] for system in seeds.SYSTEMS.values()]
    return chapter("systems", Table(["", "what", "host", "year"], rows))


def _bound(answer: compare.Answer) -> str:
    return {"value": "", "about": "about ", "at least": "more than "}[answer.figure.bound]


def _deviation(answer: compare.Answer) -> str:
    if answer.figure.bound == "at least":
        return "met" if answer.deviation > -0.005 else "MISSED"
    return text.deviation(answer.deviation)


def figures(lab: Lab, out: pathlib.Path) -> Chapter:
    answers = compare.answers(lab, runs.DEPTHS)
    shown = [answer for answer in answers if answer.figure.bound != "at least"]
    with plots.figure(out / "deviations.png", width=10.0, height=0.8 + 0.3 * len(shown)) as axis:
        names = [f"{answer.figure.profile}: {answer.figure.what}" for answer in shown]
        for place, answer in enumerate(shown):
            color = plots.RAW if answer.fitted else plots.OURS
            axis.plot([0, 100 * answer.deviation], [place, place], color=color, linewidth=2)
            plots.seed_point(axis, 100 * answer.deviation, place, answer.fitted, None, color)
        axis.set_yticks(range(len(shown)), names, fontsize=8)
        axis.invert_yaxis()
        axis.axvline(0, color="black", linewidth=1)
        axis.set_xlabel("deviation of the simulation from the measurement, %")
        axis.grid(axis="y", visible=False)
    rows = [[str(answer.figure.system), answer.figure.profile, answer.figure.what,
             _bound(answer) + text.value(answer.figure.value, answer.figure.unit),
             text.value(answer.ours, answer.figure.unit), _deviation(answer),
             "fitted" if answer.fitted else "predicted", compare.REMARKS.get(answer.figure.key, "")] for answer in answers]
    left_out = [[str(system), what, why] for system, what, why in seeds.NOT_SIMULATED]
    return chapter("figures", Table(["system", "drive", "what", "measured", "simulated", "deviation", "", "why"], rows),
                   Table(["system", "published", "why not"], left_out, "Published, but not simulated"))


def models(lab: Lab, out: pathlib.Path) -> Chapter:
    del out
    hosts = [list(host) for host in runs.HOSTS]
    rows = []
    for profile in lab.results["profiles"]["profiles"]:
        lines = sources.read(profile["name"])
        kinds: dict[str, list[str]] = {}
        for line in lines.values():
            kinds.setdefault(line.kind, []).append(line.key)
        solid = sum(len(kinds.get(kind, [])) for kind in ("data sheet", "report", "review", "seed", "derived"))
        rows.append([profile["name"], profile["model"], text.gbps(profile["slc_rate"]),
                     f"{profile['slc_bytes'] / 1e9:.0f} GB", text.gbps(profile["direct_rate"]),
                     text.gbps(profile["full_rate"]), text.gbps(profile["read_rate"]),
                     ", ".join(kinds.get("fitted", [])) or "none", f"{solid} sourced, {len(kinds.get('assumed', []))} assumed"])
    fitted = [[profile["name"], line.key, line.value, line.note] for profile in lab.results["profiles"]["profiles"]
              for line in sources.read(profile["name"]).values() if line.kind == "fitted"]
    return chapter(
        "models",
        Table(["drive", "model", "SLC", "SLC size", "after it", "when full", "read", "fitted", "numbers"], rows, "The drives"),
        Table(["drive", "number", "value", "fitted on"], fitted, "Fitted numbers of the drives"),
        Table(["host", "assumed", "fitted, and on what", "predicted"], hosts, "The hosts"))
