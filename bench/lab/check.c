/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"
#include "experiments.h"

#include <spate/player.h>
#include <stdlib.h>

/* Opens the clip's next file. False: there are no more. */
static bool open_part(struct spate_exfat *volume, unsigned part, struct spate_exfat_file *file) {
  char path[32];

  if (part == 1)
    (void)snprintf(path, sizeof path, "%s", LAB_FILE);
  else
    (void)snprintf(path, sizeof path, "CLIP_%04u.RAW", part % 10000u);
  enum spate_error error = spate_exfat_open(volume, path, file);
  if (error == SPATE_E_NOT_FOUND) return false;
  lab_expect(error, path);
  return true;
}

/* Plays one file from its first byte to its last. Returns the number of wrong pages. */
static uint64_t play(struct lab_machine *machine, struct spate_exfat_file *file, uint64_t at, struct spate_slot *slots,
                     uint32_t slot_count) {
  struct spate_player_config config = {.region = machine->ring,
                                       .slot_bytes = (uint32_t)machine->options->block_bytes,
                                       .slots = slots,
                                       .slot_count = slot_count,
                                       .depth = (uint16_t)machine->options->depth};
  struct spate_player player;
  uint64_t wrong = 0;

  lab_expect(spate_player_open(&player, file, 0, &config), "opening the player");
  while (!spate_player_ended(&player)) {
    uint64_t offset;
    uint32_t bytes;
    bool any = false;
    lab_expect(spate_player_work(&player), "playing");
    for (; spate_player_take(&player, &offset, &bytes); spate_player_give_back(&player), any = true, at += bytes)
      wrong += lab_ring_wrong(machine, offset, at, bytes);
    if (!any) sim_idle(machine->sim, LAB_IDLE_PS);
  }
  return wrong;
}

void lab_check_read(struct lab_machine *machine, struct spate_exfat *volume, uint64_t bytes, struct json *json) {
  uint32_t slot_count = (uint32_t)(machine->ring->bytes / machine->options->block_bytes);
  struct spate_slot *slots = calloc(slot_count, sizeof *slots);
  struct spate_exfat_file file;
  uint64_t at = 0, wrong = 0;

  if (slots == NULL) lab_fail("no memory for the player's slots");
  lab_machine_start(machine);
  for (unsigned part = 1; open_part(volume, part, &file); part++) {
    wrong += play(machine, &file, at, slots, slot_count);
    at += file.bytes;
  }
  json_open(json, "read", '{');
  lab_machine_write_work(machine, at, lab_machine_elapsed_ps(machine), json);
  json_integer(json, "wrong_pages", wrong);
  json_bool(json, "complete", at == bytes);
  json_close(json, '}');
  free(slots);
}

static uint64_t walk(struct lab_machine *machine, struct spate_exfat_file *file, uint64_t at) {
  const uint8_t shift = machine->tap.block.block_shift;
  uint64_t wrong = 0;

  for (uint64_t offset = 0; offset < file->bytes;) {
    uint64_t lba, blocks;
    lab_expect(spate_exfat_extent(file, offset, &lba, &blocks), "looking up an extent");
    if (blocks == 0) return wrong + (file->bytes - offset) / SIM_PAGE;
    for (uint64_t page = 0; page < blocks << shift; page += SIM_PAGE) {
      struct sim_stamp stamp;
      bool there = lab_machine_stamp(machine, (lba << shift) + page, &stamp);
      if (!there || stamp.offset != at + offset + page) wrong++;
    }
    offset += blocks << shift;
  }
  return wrong;
}

static void write_walk(unsigned files, uint64_t walked_bytes, uint64_t wrong, bool complete, struct json *json) {
  json_open(json, "walk", '{');
  json_integer(json, "files", files);
  json_integer(json, "pages", walked_bytes / SIM_PAGE);
  json_integer(json, "wrong_pages", wrong);
  json_bool(json, "complete", complete);
  json_close(json, '}');
}

void lab_check_walk(struct lab_machine *machine, struct spate_exfat *volume, uint64_t bytes, struct json *json) {
  struct spate_exfat_file file;
  uint64_t at = 0, wrong = 0;
  unsigned part = 1;

  for (; open_part(volume, part, &file); part++) {
    wrong += walk(machine, &file, at);
    at += file.bytes;
  }
  write_walk(part - 1, at, wrong, at == bytes, json);
}

/* The loop's parts have numbers of eight digits. False: there is no such part. */
static bool open_round_part(const struct spate_loop *loop, uint32_t number, struct spate_exfat_file *file) {
  char path[32];

  (void)snprintf(path, sizeof path, "CLIP_%08u.RAW", (unsigned)number);
  enum spate_error error = spate_exfat_open(loop->config.stream->recorder->volume, path, file);
  if (error == SPATE_E_NOT_FOUND) return false;
  lab_expect(error, path);
  return true;
}

/* Every part is full, except the last one. */
void lab_check_round(struct lab_machine *machine, const struct spate_loop *loop, uint64_t bytes, struct json *json) {
  const uint32_t first = loop->counters.deleted + 1u;
  const uint64_t from = loop->counters.deleted * loop->config.part_bytes;
  struct spate_exfat_file file;
  uint64_t at = from, wrong = 0;
  uint32_t number = first;

  for (; open_round_part(loop, number, &file); number++) {
    wrong += walk(machine, &file, at);
    at += file.bytes;
  }
  write_walk(number - first, at - from, wrong, at == bytes, json);
}
