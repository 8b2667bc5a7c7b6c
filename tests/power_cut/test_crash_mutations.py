# SPDX-License-Identifier: Apache-2.0
"""The crash gate detects each broken rule of the library's order of writes.

Each mutation changes a copy of one source file, at one place that must be there exactly once, and links it with a
program of the gate ahead of the library. The program must then fail, and report what a user would have lost."""

import os
import pathlib
import re
import subprocess

import pytest

import program
from conftest import ROOT

pytestmark = pytest.mark.thorough

BUILD = ROOT / "build" / os.environ.get("SPATE_CRASH_BUILD", "host-release")

CHECKPOINT, CLIP, CHANGE, RECORD = "recorder/checkpoint.c", "exfat/clip.c", "exfat/change.c", "exfat/record.c"
REMOVAL, JOIN = "exfat/removal.c", "exfat/join.c"
KEEP, SPAN = "loop/keep.c", "loop/span.c"

# name: (source, [(old, new), ...], program, what it must say)
MUTATIONS = {
    "no flush before the checkpoint": (
        CHECKPOINT,
        [("  if (recorder->block->volatile_cache) {\n", "  if (recorder->turn > 99) {\n")],
        "crash_recording", "foreign byte",
    ),
    "length from submitted bytes": (
        CHECKPOINT,
        [("clip->snapshot_bytes = spate_progress_with_tail(clip);", "clip->snapshot_bytes = clip->progress.pushed_bytes;")],
        "crash_recording", "foreign byte",
    ),
    "length completed after the flush was submitted": (
        CHECKPOINT,
        [("spate_exfat_publish(&clip->file, clip->snapshot_bytes, published, clip);",
          "spate_exfat_publish(&clip->file, clip->progress.completed_bytes, published, clip);")],
        "crash_recording", "foreign byte",
    ),
    "stream A's write publishes stream B's unflushed length": (
        CHECKPOINT,
        [("  enum spate_error error = spate_exfat_publish(&clip->file, clip->snapshot_bytes, published, clip);",
          """  struct spate_recorder *recorder = clip->stream->recorder;
  for (uint32_t i = 0; i < clip_count(recorder); i++) {
    struct spate_stream_clip *other = open_clip(recorder, i);
    if (other == NULL || other == clip || other->publishing) continue;
    if (other->progress.completed_bytes <= other->file.wanted_bytes) continue;
    enum spate_error wrong = spate_exfat_publish(&other->file, other->progress.completed_bytes, published, other);
    other->publishing = wrong == SPATE_OK && other->file.published_bytes < other->file.wanted_bytes;
  }
  enum spate_error error = spate_exfat_publish(&clip->file, clip->snapshot_bytes, published, clip);""")],
        "crash_recording", "foreign byte",
    ),
    "no FUA": (
        "exfat/cache.c",
        [(".flags = SPATE_IO_FUA | SPATE_IO_CPU", ".flags = SPATE_IO_CPU")],
        "crash_volumes", "is lost|is back|free in the bitmap|leaked|stray|bytes|marked dirty",
    ),
    "no FUA of a checkpoint": (
        "exfat/publish.c",
        [(".flags = SPATE_IO_FUA | SPATE_IO_CPU", ".flags = SPATE_IO_CPU")],
        "crash_recording", "of [0-9]+ bytes",
    ),
    "no flush before the final length": (
        CLIP,
        [("  enum spate_error error = spate_exfat_flush_data(volume);\n", "  enum spate_error error = SPATE_OK;\n")],
        "crash_volumes", "foreign byte",
    ),
    "no FUA of the bitmap": (
        "exfat/bitmap.c",
        [("now_blocks, at, SPATE_IO_FUA)", "now_blocks, at, 0)")],
        "crash_volumes", "free in the bitmap|leaked",
    ),
    "entry before bitmap": (
        CHANGE,
        [("  if (error == SPATE_OK) error = spate_exfat_bitmap_set(volume, cluster, 1, true);\n",
          "  if (error == SPATE_OK) error = spate_exfat_entries_write(volume, &record.to, raw);\n"
          "  if (error == SPATE_OK) error = spate_exfat_bitmap_set(volume, cluster, 1, true);\n")],
        "crash_volumes", "free in the bitmap",
    ),
    "arming with a first cluster": (
        CLIP,
        [("  spate_exfat_time_stamp(&volume->config, spate_exfat_clip_set(clip), true);\n",
          "  spate_exfat_set_lengths(spate_exfat_clip_set(clip), clip->first_cluster, 0, true);\n"
          "  spate_exfat_time_stamp(&volume->config, spate_exfat_clip_set(clip), true);\n")],
        "crash_volumes", "empty, with a first cluster",
    ),
    "TRIM before the deletion is durable": (
        REMOVAL,
        [("  error = spate_exfat_entries_erase(volume, &set.place);\n",
          "  error = each_run(volume, chain, spate_exfat_trim);\n"
          "  if (error == SPATE_OK) error = spate_exfat_entries_erase(volume, &set.place);\n")],
        "crash_volumes", "foreign byte",
    ),
    "bits freed before the entry": (
        REMOVAL,
        [("  error = spate_exfat_entries_erase(volume, &set.place);\n"
          "  if (error == SPATE_OK) error = spate_exfat_removal_free(volume, chain, shared);",
          "  error = each_run(volume, chain, free_run);\n"
          "  if (error == SPATE_OK) error = spate_exfat_entries_erase(volume, &set.place);")],
        "crash_volumes", "free in the bitmap",
    ),
    "no record of a reservation": (
        CLIP,
        [("spate_exfat_record_begin(volume, clip->record, &record);", "spate_exfat_boot_dirty(volume, true);")],
        "crash_recording", "leaked|recovered, and marked dirty",
    ),
    "record cleared before the tail is free": (
        CLIP,
        [("  enum spate_error error = free_tail(volume, tail_first, tail);\n",
          "  enum spate_error error = spate_exfat_record_end(volume, clip->record);\n"
          "  if (error == SPATE_OK) error = free_tail(volume, tail_first, tail);\n")],
        "crash_volumes", "leaked",
    ),
    "dirty before the record": (
        RECORD,
        [("  enum spate_error error = put_slot(volume, slot, record);\n\n"
          "  return error == SPATE_OK ? spate_exfat_boot_dirty(volume, true) : error;",
          "  enum spate_error error = spate_exfat_boot_dirty(volume, true);\n\n"
          "  return error == SPATE_OK ? put_slot(volume, slot, record) : error;")],
        "crash_volumes", "recovered, and marked dirty",
    ),
    "record cleared before the volume is clean": (
        RECORD,
        [("  enum spate_error error = spate_exfat_clean(volume, ~(UINT32_C(1) << slot));\n\n"
          "  return error == SPATE_OK ? put_slot(volume, slot, &cleared) : error;",
          "  enum spate_error error = put_slot(volume, slot, &cleared);\n\n"
          "  return error == SPATE_OK ? spate_exfat_clean(volume, UINT32_MAX) : error;")],
        "crash_volumes", "recovered, and marked dirty",
    ),
    "a length salvaged from the drive's cache": (
        "exfat/salvage.c",
        [("  error = spate_exfat_flush_data(volume);\n", "")],
        "crash_recording", "foreign byte",
    ),
    "checkpoints that come late": (
        CHECKPOINT,
        [("ticks < recorder->period_ticks) return false;", "ticks < 4u * recorder->period_ticks) return false;")],
        "crash_recording", "had completed a checkpoint's time ago",
    ),
    "a flush of one drive of an array": (
        "stripe/parts.c",
        [("  if (moves_data(stripe->splitting)) return next_chunk(stripe, range);\n",
          "  if (moves_data(stripe->splitting)) return next_chunk(stripe, range);\n"
          "  if (stripe->splitting->op == SPATE_FLUSH && stripe->split_position == 1) return false;\n")],
        "crash_drive", "foreign byte|free in the bitmap",
    ),
    "recovery that frees what has an owner": (
        "exfat/reclaim.c",
        [("if (!spate_exfat_ownerless(owners, at)) {", "if (false) {")],
        "crash_recording", "free in the bitmap",
    ),
    "a deletion that frees what another file owns": (
        "exfat/shared.c",
        [("  (void)spate_exfat_corrupt(volume);\n  if (volume->shared_end == 0", "  if (volume->shared_end == 0"),
         ("    *shared |= at < volume->shared_end && volume->shared_first < at + run;\n", "")],
        "crash_volumes", "free in the bitmap",
    ),
    "recovery of a deletion that frees what another file owns": (
        "exfat/owners.c",
        [("  if (error == SPATE_OK) error = enter(owners, &volume->root);\n", "")],
        "crash_volumes", "free in the bitmap",
    ),
    "recovery that forgets before it has freed": (
        "exfat/recover.c",
        [("  if (error == SPATE_OK) error = reclaim(volume, found);\n",
          "  if (error == SPATE_OK) error = clear_all(volume);\n"
          "  if (error == SPATE_OK) error = reclaim(volume, found);\n")],
        "crash_recording", "leaked",
    ),
    "a mount that does not recover, and forgets": (
        "exfat/volume.c",
        [("  volume->record_unresolved = volume->record_used;\n  return SPATE_OK;\n", "  volume->record_used = 0;\n  return SPATE_OK;\n")],
        "crash_recording", "leaked|marked dirty",
    ),
    "a folder that becomes a file before its parts are linked": (
        JOIN,
        [("  enum spate_error error = link_some(join, &all);\n",
          "  enum spate_error error = finish(join);\n  for (all = false; error == SPATE_OK && !all;)\n"
          "    error = link_some(join, &all);\n  return error;\n")],
        "crash_join", "fault: |foreign byte|too long",
    ),
    "a folder that becomes a file while its links are in the drive's cache": (
        JOIN,
        [("  if (error == SPATE_OK && all) error = spate_block_flush(device);\n", "")],
        "crash_join", "fault: |foreign byte|too long",
    ),
    "links that the drive may have lost are not written again": (
        JOIN,
        [("  const bool lost = spate_block_power_mark(device) != join->power_mark;\n", "  const bool lost = false;\n")],
        "crash_join", "fault: |foreign byte|too long",
    ),
    "links that are written again from the present part on": (
        JOIN,
        [("begin_links(join) : SPATE_E_POWER_LOST;", "resume_links(join) : SPATE_E_POWER_LOST;"),
         ("static enum spate_error step(",
          "static enum spate_error resume_links(struct spate_exfat_join *join) {\n"
          "  join->power_mark = spate_block_power_mark(join->volume->config.block);\n"
          "  join->linked = 0;\n"
          "  return SPATE_OK;\n}\n\n"
          "static enum spate_error step(")],
        "crash_join", "fault: |foreign byte|too long",
    ),
    "links that are written again from the second part on": (
        JOIN,
        [("  return advance(join);\n}\n\nstatic enum spate_error begin(",
          "  enum spate_error error = advance(join);\n"
          "  for (uint32_t i = 0; error == SPATE_OK && join->link_tries > 1 && i < 2; i++)\n"
          "    error = advance(join);\n"
          "  return error;\n}\n\n"
          "static enum spate_error begin(")],
        "crash_join", "fault: |foreign byte|too long",
    ),
    "a loss of power between two calls that is not seen": (
        JOIN,
        [("  const bool lost = spate_block_power_mark(device) != join->power_mark;\n",
          "  const bool lost = spate_block_power_mark(device) != join->volume->power_mark;\n")],
        "crash_join", "fault: |foreign byte|too long",
    ),
    "a folder's clusters freed while it is a folder": (
        JOIN,
        [("  if (error == SPATE_OK) error = spate_exfat_entries_write(volume, &head, set->raw);\n"
          "  if (error == SPATE_OK) error = spate_exfat_removal_free(volume, &clusters, shared);\n",
          "  if (error == SPATE_OK) error = spate_exfat_removal_free(volume, &clusters, shared);\n"
          "  if (error == SPATE_OK) error = spate_exfat_entries_write(volume, &head, set->raw);\n")],
        "crash_join", "free in the bitmap",
    ),
    "a join without a journal": (
        JOIN,
        [("  error = spate_exfat_journal_begin(volume, &record);\n", "  error = spate_exfat_boot_dirty(volume, true);\n")],
        "crash_join", "leaked|recovered, and marked dirty",
    ),
    "a joined folder's entry set in two writes": (
        JOIN,
        [("  if (((set->place.offset_bytes + EXFAT_ENTRY_BYTES) & volume->block_mask) != 0) return", "  if (true) return")],
        "crash_join", "is lost|fault: ",
    ),
    "a join that ends its journal too early": (
        JOIN,
        [("  if (error == SPATE_OK) error = spate_exfat_removal_free(volume, &clusters, shared);\n"
          "  return spate_exfat_journal_end(volume, error);",
          "  error = spate_exfat_journal_end(volume, error);\n"
          "  return error == SPATE_OK ? spate_exfat_removal_free(volume, &clusters, shared) : error;")],
        "crash_join", "leaked",
    ),
    "a last part whose chain continues": (
        JOIN,
        [("join->next_clusters > 0 ? join->next_first : EXFAT_CLUSTER_END,",
          "join->next_clusters > 0 ? join->next_first : join->first,")],
        "crash_join", "too long|fault: ",
    ),
    # Loops.
    "parts of a span moved before the list has the span": (
        SPAN,
        [("  error = spate_loop_list_span(loop, count);\n  if (error != SPATE_OK) loop->spans[count].state = SPAN_NONE; /* an empty folder stays */\n",
          "")],
        "crash_loop", "afterwards: .* is not what was kept",
    ),
    "a part that is not in the list": (
        KEEP,
        [("  return error == SPATE_OK ? spate_loop_list_part(loop, &part) : error;", "  return error;")],
        "crash_loop", "afterwards: ",
    ),
    "the oldest part deleted although a span has it": (
        SPAN,
        [("    if (part->state == PART_CLOSED && !spate_loop_span_has(loop, part->number)) return part;",
          "    if (part->state == PART_CLOSED) return part;")],
        "crash_loop", "is lost",
    ),
    "parts of a span moved newest first": (
        SPAN,
        [("    struct spate_loop_part *part = &loop->config.parts[i];\n"
          "    if (!holds(span, part->number)) continue;\n"
          "    return part->state == PART_CLOSED ? part : NULL;",
          "    struct spate_loop_part *part = &loop->config.parts[loop->count - 1u - i];\n"
          "    if (!holds(span, part->number) || part->state != PART_CLOSED) continue;\n"
          "    return part;"),
         ("if (number <= before || number < span->first)", "if (number < span->first)")],
        "crash_loop", "afterwards: .* is not what was kept",
    ),
    # The rest: volumes of others, names, changes by a PC, many streams.
    "the first FAT's bitmap": (
        "exfat/volume.c",
        [("(raw[1] & BITMAP_SECOND) != volume->active_fat ||", "(raw[1] & BITMAP_SECOND) != 0 ||")],
        "crash_others", "no bitmap|free in the bitmap|foreign byte|cross-linked|entry past the end|came before its region",
    ),
    "a deleted chain freed as if its clusters lay together": (
        REMOVAL,
        [("  if (error == SPATE_OK) error = spate_exfat_removal_free(volume, chain, shared);",
          "  if (error == SPATE_OK)\n"
          "    error = free_run(volume, chain->first_cluster, (uint32_t)spate_exfat_clusters(volume, chain->bytes));")],
        "crash_others", "free in the bitmap",
    ),
    "a new directory with what its cluster held": (
        CHANGE,
        [("    error = spate_exfat_zero(volume, spate_exfat_cluster_lba(volume, cluster), spate_exfat_cluster_blocks(volume, 1));\n",
          "    error = SPATE_OK;\n")],
        "crash_others", "stale .* was never created",
    ),
    "a directory grown by what a cluster held": (
        "exfat/grow.c",
        [("  if (error == SPATE_OK)\n"
          "    error = spate_exfat_zero(volume, spate_exfat_cluster_lba(volume, added), spate_exfat_cluster_blocks(volume, 1));\n",
          "")],
        "crash_others", "stale .* was never created|stray entries|entry past the end",
    ),
    "no flush between zeros and a directory's entry": (
        "exfat/chain.c",
        [("    if (error == SPATE_OK) error = spate_block_flush(device);\n", "")],
        "crash_others", "stale .* was never created|stray entries|entry past the end",
    ),
    "the second unit of a pair with another last bit": (
        "exfat/name.c",
        [("      code = 0xdc00 + ((code - 0x10000) & 0x3ff);", "      code = 0xdc00 + (((code - 0x10000) & 0x3ff) ^ 1);")],
        "crash_others", "is lost|was never created|exists neither there",
    ),
    "a hash of the name as it is written": (
        "exfat/name.c",
        [("  name->hash = spate_exfat_name_hash(name->upper, count);", "  name->hash = spate_exfat_name_hash(name->units, count);")],
        "crash_others", "name hash",
    ),
    "recovery that stops at a chain which a PC has changed": (
        "exfat/reclaim.c",
        [("  return error == SPATE_E_CORRUPT ? SPATE_OK : error;\n", "  return error;\n")],
        "crash_others", "marked dirty|leaked",
    ),
    "recovery that frees what a PC has linked to a file": (
        "exfat/owners.c",
        [("  if (error == SPATE_OK) error = mark_chain(owners, &chain);\n  if (error == SPATE_OK) error = mark_vendors",
          "  if (error == SPATE_OK && (chain.contiguous || (set.raw[FILE_ATTRIBUTES] & EXFAT_DIRECTORY) != 0))\n"
          "    error = mark_chain(owners, &chain);\n  if (error == SPATE_OK) error = mark_vendors")],
        "crash_others", "free in the bitmap",
    ),
    "recovery that trusts a recorded directory": (
        "exfat/met.c",
        [("  *met = (struct exfat_met){\n      ",
          "  *met = (struct exfat_met){\n"
          "      .directory_bytes = (uint32_t)place->directory.bytes, .contiguous = place->directory.contiguous,\n      ")],
        "crash_others", "FROM A PC.TXT: a mount has changed its bytes",
    ),
    "a clip that is extended into what a PC has given away": (
        "exfat/salvage.c",
        [("    if (!spate_exfat_ownerless(owners, at)) {", "    if (false) {")],
        "crash_others", "cross-linked|leaked",
    ),
    "a clip that is extended in a set outside of the tree": (
        "exfat/salvage.c",
        [("  if (!met->whole) return SPATE_OK;\n  spate_exfat_met_chain(met, &directory);\n",
          "  (void)met;\n  directory = record->to.directory;\n")],
        "crash_others", "FROM A PC.TXT: a mount has changed its bytes",
    ),
    "a record of eight reservations": (
        CLIP,
        [("  return *slot < SPATE_EXFAT_CLIPS_MAX ? SPATE_OK : SPATE_E_FULL;", "  *slot &= 7u;\n  return SPATE_OK;")],
        "crash_recording", "leaked",
    ),
}


def gate(binary, **settings):
    """Run a program of the gate up to the first broken promise, and return that; None: no promise was broken."""
    environment = os.environ | {"SPATE_CUTS": "1000"} | settings
    with subprocess.Popen([str(binary)], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True) as running:
        said = ""
        for line in running.stderr:
            if line.startswith("again: "):
                running.kill()
                return said.removeprefix("[  ERROR   ] --- ").removeprefix("ERROR: ").strip()
            said = line
    assert running.returncode == 0, program.report([binary], program.ending(running.returncode), said)
    return None


def compile_mutated(folder, source, changes):
    """An object of the changed source. Each change must fit in exactly one place."""
    text = (ROOT / "src" / source).read_text()
    for old, new in changes:
        assert text.count(old) == 1, f"{source} has {text.count(old)} times: {old}"
        text = text.replace(old, new)
    copy = folder / pathlib.Path(source).name
    copy.write_text(text)
    where = [ROOT / "include", ROOT / "ports/host", ROOT / "src" / pathlib.Path(source).parent]
    command = ["gcc", "-std=c17", "-O1", "-c", copy, "-o", copy.with_suffix(".o")]
    # Its includes are found from its original place: "internal.h" beside it, "../core/fields.h" through that folder.
    program.run(*command, *[f"-I{folder}" for folder in where])
    return copy.with_suffix(".o")


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_gate_sees(name, tmp_path):
    source, changes, binary, said = MUTATIONS[name]
    parts = (BUILD / "made-of" / binary).read_text().split(";")
    mutated = compile_mutated(tmp_path, source, changes)
    libraries = ["-Wl,--start-group", *parts, "-Wl,--end-group"]
    program.run("gcc", mutated, *libraries, "-lm", "-o", tmp_path / "gate")
    broken = gate(tmp_path / "gate")
    assert broken is not None, "nothing broke"
    assert re.search(said, broken), broken
    print(f"{name}: {broken}")


def test_the_gate_sees_an_entry_set_across_two_blocks():
    """A set inside a block of 4096 bytes spans several units of 512, on a drive that tears within a block."""
    broken = gate(BUILD / "crash" / "crash_recording", SPATE_ATOMIC_BYTES="512")
    assert broken is not None and re.search("torn set|stray", broken), broken


@pytest.mark.parametrize("binary", sorted({binary for _, _, binary, _ in MUTATIONS.values()}))
def test_without_a_mutation_it_passes(binary):
    assert gate(BUILD / "crash" / binary, SPATE_CUTS="200") is None
