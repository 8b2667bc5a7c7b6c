// SPDX-License-Identifier: Apache-2.0
// Reads /metrics once a second, and shows it. There is no other interface, so the page cannot show what Prometheus does not see.
"use strict";

const LEVELS = ["calm", "watch", "slow", "critical"];
const SILENT_S = 5;
const HISTORY_MS = 300000;
const history = [];
const SPAN_MIN_MS = 60000;
let begun = null; // of the graph
let last = null; // bytes and clock of the last report: the rate since then, because a stream's own is that of 64 ms
const RECENT_MS = 10000; // a source may send in bursts
let recent = []; // reports: {at, stream, clock, pushed}

// name -> [{labels, value}]
function parse(text) {
  const families = {};
  for (const line of text.split("\n")) {
    const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, key, value] of (match[2] || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value.replace(/\\(.)/g, "$1");
    (families[match[1]] ||= []).push({ labels, value: Number(match[3]) });
  }
  return families;
}

const all = (families, name) => (families["spate_" + name] || []);
const sum = (families, name) => all(families, name).reduce((total, sample) => total + sample.value, 0);
const most = (families, name) => Math.max(...all(families, name).map((sample) => sample.value), -Infinity);
const of = (families, name, stream) => all(families, name).find((sample) => sample.labels.stream === stream)?.value;

function scaled(value, step, units) {
  let unit = 0;
  while (value >= step * 0.9995 && unit < units.length - 1) { value /= step; unit++; }
  return `${value < 10 && unit > 0 ? value.toFixed(2) : value < 100 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}
const bytes = (value) => scaled(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB"]);
function time(seconds) {
  if (!isFinite(seconds)) return "–";
  if (seconds < 0.001) return `${(seconds * 1e6).toFixed(0)} µs`;
  if (seconds < 1) return `${(seconds * 1e3).toPrecision(seconds < 0.1 ? 2 : 3)} ms`;
  if (seconds < 90) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes < 60 * 48 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${Math.floor(minutes / 1440)} days`;
}
const put = (id, text) => { document.getElementById(id).textContent = text; };
const mark = (id, level) => { document.getElementById(id).className = "tile" + (level >= 3 ? " bad" : level >= 1 ? " warn" : ""); };
const percent = (part, whole) => (whole > 0 ? Math.round((100 * part) / whole) : 0);

// Bounds of all streams together: le -> count, not cumulated.
function histogram(families) {
  const counts = new Map();
  for (const { labels, value } of all(families, "latency_seconds_bucket")) counts.set(labels.le, (counts.get(labels.le) || 0) + value);
  let before = 0;
  return [...counts].map(([le, value]) => {
    const count = value - before;
    before = value;
    return { bound: le === "+Inf" ? Infinity : Number(le), count };
  });
}

function quantile(bars, share) {
  const total = bars.reduce((count, bar) => count + bar.count, 0);
  let seen = 0;
  for (const bar of bars) {
    seen += bar.count;
    if (total > 0 && seen >= total * share) return bar.bound === Infinity ? "more than 4 s" : time(bar.bound);
  }
  return "–";
}

function showLatency(families) {
  const bars = histogram(families);
  const highest = Math.max(1, ...bars.map((bar) => Math.log10(bar.count + 1)));
  const list = document.getElementById("bars");
  while (list.children.length < bars.length) {
    const item = document.createElement("li");
    item.append(document.createElement("i"), document.createElement("span"));
    list.append(item);
  }
  bars.forEach((bar, index) => {
    const item = list.children[index];
    const label = bar.bound === Infinity ? "more" : time(bar.bound).replace(/\d+\.\d+/, (digits) => Math.round(Number(digits)));
    item.title = `${bar.count} requests, at most ${bar.bound === Infinity ? "any time" : time(bar.bound)}`;
    item.children[0].style.height = `${(Math.log10(bar.count + 1) / highest) * 118}px`;
    item.children[1].textContent = label.replace(" ", "\u202f");
  });
  put("p50", quantile(bars, 0.5));
  put("p99", quantile(bars, 0.99));
  put("latency-max", time(most(families, "latency_seconds_max")));
}

function showGraph() {
  const now = performance.now();
  while (history.length > 0 && history[0].at < now - HISTORY_MS) history.shift();
  begun ??= now;
  const span = Math.min(HISTORY_MS, Math.max(SPAN_MIN_MS, now - begun));
  const highest = Math.max(1, ...history.map((point) => point.rate));
  const points = history.map((point) => `${(600 * (1 - (now - point.at) / span)).toFixed(1)},${(148 - (140 * point.rate) / highest).toFixed(1)}`);
  if (points.length === 0) return;
  document.getElementById("line").setAttribute("d", "M" + points.join("L"));
  document.getElementById("area").setAttribute("d", `M${points[0].split(",")[0]},150L${points.join("L")}L${points.at(-1).split(",")[0]},150Z`);
  put("span", time(span / 1000));
  put("graph-max", `highest ${bytes(highest)}/s`);
}

function showHeat(families) {
  const celsius = most(families, "drive_celsius"), level = most(families, "heat_level");
  if (!isFinite(celsius)) return;
  const left = Math.min(...all(families, "heat_left_seconds").map((sample) => sample.value), Infinity);
  const limit = most(families, "drive_warning_celsius");
  put("celsius", `${celsius} °C`);
  put("forecast", isFinite(left) ? `warning in ${time(left)}` : limit > 0 ? `limit ${limit} °C, not rising` : "not rising");
  mark("heat-tile", level);
}

function showLosses(families) {
  const lost = sum(families, "lost_bytes_total") + sum(families, "overrun_bytes_total");
  const datagrams = sum(families, "lost_datagrams_total"), unknown = sum(families, "unknown_bytes_total");
  const gaps = sum(families, "gaps_total");
  const age = Math.min(...all(families, "loss_age_seconds").map((sample) => sample.value), Infinity);
  const parts = [];
  if (datagrams > 0) parts.push(`${datagrams} datagrams`);
  if (unknown > 0) parts.push(`${bytes(unknown)} in doubt`);
  if (gaps > 0) parts.push(`${gaps} gap${gaps === 1 ? "" : "s"}`);
  if (isFinite(age)) parts.push(`last ${time(age)} ago`);
  put("lost", bytes(lost));
  put("loss-text", parts.join(", ") || "nothing");
  mark("loss-tile", lost + datagrams + unknown > 0 ? 3 : 0);
}

function showFiles(families) {
  const rows = all(families, "pushed_bytes_total").map(({ labels }) => {
    const value = (name) => of(families, name, labels.stream) ?? 0;
    const row = document.createElement("tr");
    const texts = [labels.file || `stream ${labels.stream}`, `${bytes(value("in_bytes_per_second"))}/s`, bytes(value("durable_bytes_total")),
      `${percent(value("ring_held_pieces"), value("ring_pieces"))} %`, bytes(value("lost_bytes_total") + value("overrun_bytes_total")),
      LEVELS[value("pressure_level")] || "–", value("part") > 1 ? value("part") - 1 : "–"];
    for (const text of texts) row.insertCell().textContent = text;
    row.cells[0].title = labels.file;
    return row;
  });
  document.getElementById("files").replaceChildren(...rows);
}

function showRates(families) {
  const now = performance.now(), clock = most(families, "clock_seconds");
  const pushed = sum(families, "pushed_bytes_total"), completed = sum(families, "completed_bytes_total");
  const again = last !== null && clock === last.clock; // no new report
  const fresh = last !== null && clock > last.clock && pushed >= last.pushed;
  const rate = again ? last.rate : fresh ? (pushed - last.pushed) / (clock - last.clock) : sum(families, "in_bytes_per_second");
  const out = again ? last.out : fresh ? Math.max(0, (completed - last.completed) / (clock - last.clock)) : sum(families, "out_bytes_per_second");
  last = { clock, pushed, completed, rate, out };
  if (!again) history.push({ at: now, rate });
  put("rate-in", `${bytes(rate)}/s`);
  put("rate-out", `${bytes(out)}/s`);
  put("pushed", bytes(pushed));
  put("durable", bytes(sum(families, "durable_bytes_total")));
}

// Bytes per second of a stream over the recent reports; with one report only, its own figure.
function meanRate(families, stream) {
  const reports = recent.filter((report) => report.stream === stream);
  const first = reports[0], now = reports.at(-1);
  return reports.length > 1 ? (now.pushed - first.pushed) / (now.clock - first.clock) : of(families, "in_bytes_per_second", stream) ?? 0;
}

function remember(families) {
  const now = performance.now();
  recent = recent.filter((report) => report.at > now - RECENT_MS);
  for (const { labels: { stream }, value: pushed } of all(families, "pushed_bytes_total")) {
    const clock = of(families, "clock_seconds", stream), before = recent.findLast((report) => report.stream === stream);
    if (before && (clock < before.clock || pushed < before.pushed)) recent = recent.filter((report) => report.stream !== stream); // begun again
    if (!before || clock !== before.clock) recent.push({ at: now, stream, clock, pushed });
  }
}

// Until the first file has no room left.
function showRoom(families) {
  remember(families);
  const kept = sum(families, "kept_bytes"); // a recording that goes round has no end
  const left = Math.min(...all(families, "reservation_left_bytes").map(({ labels, value }) => {
    const mean = meanRate(families, labels.stream);
    return mean > 0 ? value / mean : Infinity;
  }));
  put("time-left", kept > 0 ? "no end" : time(left));
  put("room", kept > 0 ? `keeps ${bytes(kept)}` : `room ${bytes(sum(families, "reservation_left_bytes"))}`);
}

function showRing(families) {
  const shares = all(families, "ring_pieces").map(({ labels, value }) => ({
    now: Math.max(percent(of(families, "ring_held_pieces", labels.stream), value), of(families, "source_ring_percent", labels.stream) ?? 0),
    most: percent(of(families, "ring_held_pieces_max", labels.stream), value) }));
  const level = most(families, "pressure_level");
  put("ring", `${Math.max(0, ...shares.map((share) => share.now))} %`);
  put("ring-max", `${Math.max(0, ...shares.map((share) => share.most))} %`);
  put("pressure", LEVELS[level] || "–");
  mark("ring-tile", level);
}

function show(families) {
  const age = most(families, "report_age_seconds");
  const status = document.getElementById("status");
  const silent = age > SILENT_S, none = !isFinite(age);
  status.textContent = none ? "no report yet" : silent ? `silent for ${time(age)}` : "recording";
  status.className = "badge" + (none || silent ? " warn" : "");
  put("skipped", sum(families, "monitor_skipped_lines_total") > 0 ? `${sum(families, "monitor_skipped_lines_total")} lines were not reports.` : "");
  if (none) return;
  showRates(families);
  showRoom(families);
  showRing(families);
  showHeat(families);
  showLosses(families);
  showLatency(families);
  showFiles(families);
  showGraph();
}

async function turn() {
  const status = document.getElementById("status");
  try {
    const answer = await fetch("metrics", { signal: AbortSignal.timeout(4000) });
    if (!answer.ok) throw new Error(answer.statusText);
    show(parse(await answer.text()));
  } catch {
    status.textContent = "not reachable: ended?";
    status.className = "badge bad";
  }
  setTimeout(turn, 1000);
}
turn();
