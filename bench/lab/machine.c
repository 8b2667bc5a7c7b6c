/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <profiles/profile_text.h>

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

#define CLIP             1u
#define LARGE_PAGE_BYTES ((uintptr_t)1 << 21)

void lab_expect(enum spate_error error, const char *what) {
  if (error != SPATE_OK) lab_fail("%s: %s: %s", what, spate_error_name(error), spate_error_help(error));
}

static struct sim_link_config link_of(const struct lab_options *options, const struct sim_profile *profile) {
  struct sim_link_config link = {.generation = profile->generation,
                                 .lanes = profile->lanes,
                                 .payload_bytes = (uint16_t)options->payload_bytes,
                                 .read_request_bytes = (uint16_t)options->read_request_bytes,
                                 .latency_ns = 250,
                                 .dllp_percent = (uint8_t)options->link_percent,
                                 .fetch_mb_per_s = (uint32_t)(options->fetch_rate / 1e6)};

  if (options->generation > 0 && options->generation < link.generation) link.generation = (uint8_t)options->generation;
  if (options->lanes > 0 && options->lanes < link.lanes) link.lanes = (uint8_t)options->lanes;
  return link;
}

/* Under Linux, half of a command's cost is charged when it is submitted, half when it completes. */
static struct sim_host host_of(const struct lab_options *options) {
  struct sim_host host = options->host->cost;

  if (options->command_ns > 0) {
    const uint32_t instructions = (uint32_t)(options->command_ns * host.clock_mhz / 1000u);
    host.submit_instructions = instructions / 2u;
    host.complete_instructions = instructions - instructions / 2u;
  }
  if (options->submit_ps > 0) {
    host.submit_instructions = (uint32_t)options->submit_ps;
    host.complete_instructions = (uint32_t)options->complete_ps;
    host.write_ns = (uint32_t)options->doorbell_ns;
  }
  return host;
}

/* The source writes only two places in each page of the ring, which is slow with small pages on the simulating PC.
 * Large pages are only faster: nothing depends on them. */
static void use_large_pages(const struct spate_region *ring) {
  const uintptr_t start = ((uintptr_t)ring->start + LARGE_PAGE_BYTES - 1) & ~(LARGE_PAGE_BYTES - 1);
  const uintptr_t end = ((uintptr_t)ring->start + ring->bytes) & ~(LARGE_PAGE_BYTES - 1);

  if (end > start) (void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}

/* Sets the air temperature and the drives' temperature, before the library opens the drives. */
static void surround(struct lab_machine *machine) {
  const struct lab_options *options = machine->options;

  machine->surrounded = *machine->profile;
  machine->surrounded.ambient_c = options->ambient;
  for (unsigned i = 0; i < options->drives; i++) {
    struct sim_drive *drive = machine->stack->drives[i].drive;
    if (options->ambient > 0) sim_drive_media(drive)->profile = &machine->surrounded;
    if (options->celsius > 0) sim_drive_heat(drive, options->celsius);
  }
}

void lab_machine_open(struct lab_machine *machine, const struct lab_options *options, uint64_t ring_bytes) {
  char why[SIM_PROFILE_WHY_BYTES];
  const struct sim_profile *profile = sim_profile_open(options->profile, why);

  if (profile == NULL) lab_fail("%s", why);
  struct sim_stack_config config = {
      .machine = {.seed = options->seed, .host = host_of(options), .coherent = true},
      .profile = options->profile,
      .options = {.link = link_of(options, profile), .filled = options->filled},
      .drives = (unsigned)options->drives,
      .depth = SPATE_NVME_QUEUE_DEPTH_MAX,
      .chunk_bytes = (uint32_t)options->chunk_bytes,
  };
  *machine = (struct lab_machine){.options = options, .profile = profile, .stack = sim_stack_new(&config)};
  machine->sim = machine->stack->sim;
  surround(machine);
  lab_expect(sim_stack_open(machine->stack), "opening the drives");
  machine->ring = sim_stack_region(machine->stack, ring_bytes, SIM_LOGIC);
  use_large_pages(machine->ring);
  lab_tap_init(&machine->tap, machine->stack->block, machine->sim, machine->ring);
}

void lab_machine_close(struct lab_machine *machine) {
  const char *first = NULL;

  lab_expect(sim_stack_close(machine->stack), "shutting the drives down");
  if (sim_take_violations(machine->sim, &first) > 0) lab_fail("the host violated the specification: %s", first);
  sim_stack_free(machine->stack);
}

void lab_machine_start(struct lab_machine *machine) {
  machine->start_ps = sim_now_ps(machine->sim);
  machine->busy_start_ps = sim_busy_ps(machine->sim);
  machine->tap.counters = (struct lab_tap_counters){0};
  lab_tap_start(&machine->tap);
  for (unsigned i = 0; i < machine->options->drives; i++)
    sim_drive_clear_counters(machine->stack->drives[i].drive);
}

uint64_t lab_machine_elapsed_ps(const struct lab_machine *machine) {
  return sim_now_ps(machine->sim) - machine->start_ps;
}

/* ---- the source's stamps ---- */

void lab_ring_stamp(struct lab_machine *machine, uint64_t ring_offset, uint64_t at, uint64_t bytes) {
  for (uint64_t page = 0; page < bytes; page += SIM_PAGE)
    sim_stamp_put(machine->ring->start + ring_offset + page, (struct sim_stamp){.clip = CLIP, .offset = at + page});
}

uint64_t lab_ring_wrong(struct lab_machine *machine, uint64_t ring_offset, uint64_t at, uint64_t bytes) {
  uint64_t wrong = 0;

  for (uint64_t page = 0; page < bytes; page += SIM_PAGE) {
    struct sim_stamp stamp;
    bool there = sim_stamp_get(machine->ring->start + ring_offset + page, &stamp);
    if (!there || stamp.clip != CLIP || stamp.offset != at + page) wrong++;
  }
  return wrong;
}

bool lab_machine_stamp(struct lab_machine *machine, uint64_t at, struct sim_stamp *stamp) {
  const struct spate_stripe *stripe = &machine->stack->stripe;
  unsigned drive = 0;

  if (machine->options->drives > 1) {
    const unsigned chunk_shift = (unsigned)stripe->chunk_shift + stripe->block.block_shift;
    uint64_t chunk = at >> chunk_shift;
    const struct spate_stripe_member *member = &stripe->members[chunk % stripe->member_count];
    for (unsigned i = 0; i < machine->options->drives; i++)
      if (&machine->stack->drives[i].queue.block == member->block) drive = i;
    at = (member->data_lba << stripe->block.block_shift) + ((chunk / stripe->member_count) << chunk_shift) +
         (at & ((UINT64_C(1) << chunk_shift) - 1u));
  }
  return sim_store_stamp(sim_drive_store(machine->stack->drives[drive].drive), at, stamp) && stamp->clip == CLIP;
}

/* ---- state of the drives ---- */

static struct sim_media *media_at(const struct lab_machine *machine, unsigned index) {
  return sim_drive_media(machine->stack->drives[index].drive);
}

double lab_machine_celsius(const struct lab_machine *machine) {
  double hottest = -273.15;

  for (unsigned i = 0; i < machine->options->drives; i++)
    hottest = fmax(hottest, media_at(machine, i)->temperature_c);
  return hottest;
}

unsigned lab_machine_medium(const struct lab_machine *machine) {
  unsigned worst = 0;

  for (unsigned i = 0; i < machine->options->drives; i++)
    if ((unsigned)media_at(machine, i)->state > worst) worst = (unsigned)media_at(machine, i)->state;
  return worst;
}

double lab_machine_throttled_s(const struct lab_machine *machine) {
  uint64_t longest_ps = 0;

  for (unsigned i = 0; i < machine->options->drives; i++)
    if (media_at(machine, i)->throttled_ps > longest_ps) longest_ps = media_at(machine, i)->throttled_ps;
  return (double)longest_ps / (double)SIM_PS_PER_S;
}

/* ---- results ---- */

void lab_machine_write(const struct lab_machine *machine, struct json *json) {
  const struct sim_link_config *link = &sim_drive_link(machine->stack->drives[0].drive)->config;

  json_open(json, "machine", '{');
  json_string(json, "model", machine->profile->model);
  json_integer(json, "capacity_bytes", machine->profile->capacity_bytes);
  json_string(json, "host", machine->options->host->what);
  json_integer(json, "generation", link->generation);
  json_integer(json, "lanes", link->lanes);
  json_integer(json, "payload_bytes", link->payload_bytes);
  json_real(json, "link_raw_bytes_per_s", sim_link_raw(link->generation, link->lanes));
  json_real(json, "link_write_bytes_per_s", sim_link_down_max(link));
  json_real(json, "link_read_bytes_per_s", sim_link_up_max(link));
  json_close(json, '}');
}

void lab_machine_write_work(const struct lab_machine *machine, uint64_t bytes, uint64_t elapsed_ps, struct json *json) {
  double seconds = (double)elapsed_ps / (double)SIM_PS_PER_S;
  double busy_s = (double)(sim_busy_ps(machine->sim) - machine->busy_start_ps) / (double)SIM_PS_PER_S;
  uint64_t commands = 0;

  for (unsigned i = 0; i < machine->options->drives; i++) {
    const struct sim_drive_counters *counters = sim_drive_counters(machine->stack->drives[i].drive);
    for (unsigned opcode = 0; opcode < 256u; opcode++)
      commands += counters->io[opcode];
  }
  json_integer(json, "bytes", bytes);
  json_real(json, "seconds", seconds);
  json_real(json, "bytes_per_s", (double)bytes / seconds);
  json_integer(json, "commands", commands);
  json_real(json, "commands_per_s", (double)commands / seconds);
  json_real(json, "host_busy_share", busy_s / seconds);
  json_real(json, "host_ns_per_command", commands > 0 ? busy_s * 1e9 / (double)commands : 0);
  json_real(json, "celsius_end", lab_machine_celsius(machine));
  json_real(json, "throttled_s", lab_machine_throttled_s(machine));
}
