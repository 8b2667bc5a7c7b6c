/* SPDX-License-Identifier: Apache-2.0 */
/* Requests straight to the device. Addresses rise, and start again at the end of the drive. Written data carries
 * stamps. In turns of writing and reading, the data that was read is compared with them. */
#include "experiments.h"

#include <stdlib.h>
#include <string.h>

enum op { OP_READ, OP_WRITE, OP_ALTERNATE };

struct raw;

struct slot {
  struct spate_io io;
  struct raw *raw;
  struct slot *next_free;
  uint64_t ring_offset, at;
  uint64_t submitted_ps;
};

struct raw {
  const struct lab_options *options;
  struct lab_machine machine;
  enum op op;
  struct slot *slots, *free;
  uint64_t requests, next, done;
  uint64_t span;     /* how many requests fit on the device */
  uint64_t per_turn; /* requests */
  uint64_t wrong_pages;
  struct lab_times times;
  struct lab_series series;
  uint64_t sample_requests, sampled_ps, sampled_done;
};

static void sample(struct raw *raw) {
  uint64_t now_ps = lab_machine_elapsed_ps(&raw->machine);
  double bytes = (double)(raw->done - raw->sampled_done) * (double)raw->options->block_bytes;

  if (raw->done - raw->sampled_done < raw->sample_requests || now_ps == raw->sampled_ps) return;
  lab_series_add(&raw->series, (double[]){(double)raw->done * (double)raw->options->block_bytes,
                                          (double)now_ps / (double)SIM_PS_PER_S,
                                          bytes * (double)SIM_PS_PER_S / (double)(now_ps - raw->sampled_ps),
                                          lab_machine_celsius(&raw->machine), lab_machine_medium(&raw->machine)});
  raw->sampled_done = raw->done;
  raw->sampled_ps = now_ps;
}

static void request_done(struct spate_io *io) {
  struct slot *slot = io->context;
  struct raw *raw = slot->raw;

  lab_expect(io->error, "a request");
  lab_times_add(&raw->times, sim_now_ps(raw->machine.sim) - slot->submitted_ps);
  if (raw->op == OP_ALTERNATE && io->op == SPATE_READ)
    raw->wrong_pages += lab_ring_wrong(&raw->machine, slot->ring_offset, slot->at, raw->options->block_bytes);
  raw->done++;
  sample(raw);
  slot->next_free = raw->free;
  raw->free = slot;
}

/* Address and direction of request `number`. In turns: a range is written, then read. */
static enum spate_op place(const struct raw *raw, uint64_t number, uint64_t *position) {
  if (raw->op != OP_ALTERNATE) {
    *position = number % raw->span;
    return raw->op == OP_READ ? SPATE_READ : SPATE_WRITE;
  }
  uint64_t turn = number / raw->per_turn;
  *position = (turn / 2 * raw->per_turn + number % raw->per_turn) % raw->span;
  return turn % 2 == 0 ? SPATE_WRITE : SPATE_READ;
}

/* False: the device has no room. */
static bool submit(struct raw *raw) {
  struct spate_block *block = &raw->machine.tap.block;
  struct slot *slot = raw->free;
  uint64_t position;
  enum spate_op op = place(raw, raw->next, &position);

  slot->at = position * raw->options->block_bytes;
  slot->submitted_ps = sim_now_ps(raw->machine.sim);
  slot->io = (struct spate_io){.op = (uint8_t)op,
                               .lba = slot->at >> block->block_shift,
                               .blocks = (uint32_t)(raw->options->block_bytes >> block->block_shift),
                               .region = raw->machine.ring,
                               .offset_bytes = slot->ring_offset,
                               .done = request_done,
                               .context = slot};
  if (op == SPATE_WRITE && raw->options->block_bytes >= SIM_PAGE)
    lab_ring_stamp(&raw->machine, slot->ring_offset, slot->at, raw->options->block_bytes);
  enum spate_error error = spate_block_submit(block, &slot->io);
  if (error == SPATE_E_FULL) return false;
  lab_expect(error, "a request");
  raw->free = slot->next_free;
  raw->next++;
  return true;
}

/* A turn begins when the previous one is complete: like a host with one job at a time. */
static bool may_submit(const struct raw *raw) {
  if (raw->free == NULL || raw->next == raw->requests) return false;
  return raw->op != OP_ALTERNATE || raw->next % raw->per_turn != 0 || raw->done == raw->next;
}

static void run(struct raw *raw) {
  struct spate_block *block = &raw->machine.tap.block;

  while (raw->done < raw->requests) {
    while (may_submit(raw) && submit(raw)) {
    }
    spate_block_kick(block);
    if (spate_block_poll(block, LAB_BATCH) == 0) sim_idle(raw->machine.sim, LAB_IDLE_PS);
  }
}

/* At least a page: drives take data in pages of memory. */
static uint64_t ring_step(const struct lab_options *options) {
  return options->block_bytes < SIM_PAGE ? SIM_PAGE : options->block_bytes;
}

static void prepare(struct raw *raw, const struct lab_options *options) {
  static const char *const columns[] = {"at_bytes", "t_s", "bytes_per_s", "celsius", "medium", NULL};
  const struct spate_block *block = &raw->machine.tap.block;

  if (strcmp(options->op, "read") == 0)
    raw->op = OP_READ;
  else if (strcmp(options->op, "write") == 0)
    raw->op = OP_WRITE;
  else if (strcmp(options->op, "alternate") == 0)
    raw->op = OP_ALTERNATE;
  else
    lab_fail("--op %s: read, write or alternate", options->op);
  raw->requests = options->bytes / options->block_bytes;
  raw->span = (block->blocks << block->block_shift) / options->block_bytes;
  raw->per_turn = options->turn_bytes / options->block_bytes;
  if (raw->per_turn < options->depth)
    lab_fail("--turn: must be at least the requests in flight (--block times --depth)");
  raw->sample_requests = raw->requests / options->samples;
  if (raw->sample_requests == 0) raw->sample_requests = 1;
  lab_series_init(&raw->series, columns);
  raw->slots = calloc(options->depth, sizeof *raw->slots);
  if (raw->slots == NULL) lab_fail("no memory for %u requests", (unsigned)options->depth);
  for (uint64_t i = options->depth; i-- > 0;) {
    /* Nobody looks at data that is only read, so all of it goes to one place. */
    uint64_t ring_offset = raw->op == OP_READ ? 0 : i * ring_step(options);
    raw->slots[i] = (struct slot){.raw = raw, .ring_offset = ring_offset, .next_free = raw->free};
    raw->free = &raw->slots[i];
  }
}

void lab_raw(const struct lab_options *options, struct json *json) {
  struct raw *raw = calloc(1, sizeof *raw);

  if (raw == NULL) lab_fail("no memory");
  raw->options = options;
  lab_machine_open(&raw->machine, options, options->depth * ring_step(options));
  prepare(raw, options);
  lab_machine_start(&raw->machine);
  run(raw);
  uint64_t elapsed_ps = lab_machine_elapsed_ps(&raw->machine);
  lab_machine_write(&raw->machine, json);
  json_open(json, "result", '{');
  lab_machine_write_work(&raw->machine, raw->requests * options->block_bytes, elapsed_ps, json);
  lab_expect(spate_block_flush(&raw->machine.tap.block), "the flush");
  json_real(json, "seconds_flushed", (double)lab_machine_elapsed_ps(&raw->machine) / (double)SIM_PS_PER_S);
  lab_times_write(&raw->times, "latency", json);
  json_integer(json, "wrong_pages", raw->wrong_pages);
  json_close(json, '}');
  lab_series_write(&raw->series, "series", json);
  lab_series_free(&raw->series);
  lab_machine_close(&raw->machine);
  free(raw->slots);
  free(raw);
}
