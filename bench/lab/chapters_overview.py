# SPDX-License-Identifier: Apache-2.0
"""The chapters around the experiments: all figures compared, and the sources of the drives' and hosts' numbers."""

import pathlib

from lab import compare, plots, runs, seeds, sources, text
from lab.page import Chapter, Table
from lab.runner import Lab


def systems(lab: Lab, out: pathlib.Path) -> Chapter:
    del lab, out
    rows = [[f"system {system.number}", system.name, system.host, system.year] for system in seeds.SYSTEMS.values()]
    return Chapter(
        "systems", "Systems 1 to 5",
        ["Five recorders or stacks were published with measurements on real drives. This page refers to them by number."], [],
        [Table(["", "what", "host", "year"], rows)])


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
    return Chapter(
        "figures", "All published figures compared with the simulated ones",
        ["These are all published figures of systems 1 to 5 that a simulation can predict. Fitted: a number of the drive's "
         "profile or of the host was chosen to meet this point, so it does not test the model. Predicted: no number was chosen "
         "for it, so it does. A \"more than\" is met by a larger value."],
        [("deviations.png", "Hollow: fitted. Filled: predicted.")],
        [Table(["system", "drive", "what", "measured", "simulated", "deviation", "", "why"], rows),
         Table(["system", "published", "why not"], left_out, "Published, but not simulated")])


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
    return Chapter(
        "models", "What is simulated, and what is not",
        ["The library runs unchanged: the same driver, recorder and file system that firmware links. Below its port is a "
         "machine in virtual time: a processor whose work costs the instructions that `make bench-instructions` counts, a "
         "PCIe link with packets, headers and flow control, and an NVMe controller that fetches commands, page lists and "
         "data by DMA. Behind that the media: SLC cache, folding, direct writes, garbage collection, pauses, heat.",
         "The media is modelled as a fluid, not as flash: it has rates and amounts, but no dies and no wear. Real firmware has "
         "effects that no model covers. A figure here says what the library does with a drive that behaves as described. It does "
         "not say that your drive behaves like that. The same seed and options give the same run to the byte.",
         "Every number of a drive is in sim/profiles with its source; little is published about most industrial drives, and "
         "their profiles say `assumed` often."],
        [],
        [Table(["drive", "model", "SLC", "SLC size", "after it", "when full", "read", "fitted", "numbers"], rows,
               "The drives"),
         Table(["drive", "number", "value", "fitted on"], fitted, "Fitted numbers of the drives"),
         Table(["host", "assumed", "fitted, and on what", "predicted"], hosts, "The hosts")])
