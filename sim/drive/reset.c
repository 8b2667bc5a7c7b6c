/* SPDX-License-Identifier: Apache-2.0 */
/* What resets a drive besides CC.EN: faults, power cuts, its link, and the resets of the bus. */
#include "drive_internal.h"

#define RESET_HELD_PS SIM_PS_PER_MS /* shortest reset of a link */
#define TRAINING_MS   20u
#define SUBSYSTEM_MS  5u /* how long a subsystem reset keeps the link down. Assumed */

static void fall_back(struct sim_drive *drive) {
  drive_forget(drive);
  drive_features_reset(drive);
  drive->registers = (struct drive_registers){.cap = drive->registers.cap};
  drive->surprised = true;
  drive->surprised_ps = sim_now_ps(drive->sim);
}

void sim_drive_reset(struct sim_drive *drive) {
  drive->counters.resets++;
  fall_back(drive);
}

void sim_drive_silence(struct sim_drive *drive, bool silent) {
  if (silent != drive->silent) fall_back(drive);
  drive->silent = silent;
}

static void count_up(uint8_t *counter) { spate_put64(counter, spate_get64(counter) + 1u); }

void sim_drive_power_cut(struct sim_drive *drive) {
  const bool unsafe = !drive->shut_down;

  fall_back(drive);
  drive_changes_cut(drive);
  drive->media.buffered_bytes = 0;
  drive->drained_ps = 0;
  drive->counters.power_cycles++;
  drive->counters.unsafe_shutdowns += unsafe;
  if (drive->options.counts_no_power_cut) return;
  count_up(drive->smart + 112);
  if (unsafe) count_up(drive->smart + 144);
}

static void link_returns(void *context, uint64_t drops) {
  struct sim_drive *drive = context;

  if (drops != drive->link_drops) return; /* the link was dropped again meanwhile */
  drive->link_down = false;
  sim_bus_of(drive->sim)->link_changed(drive->sim, drive->index, true);
}

static void return_link(struct sim_drive *drive, uint32_t ms) {
  const uint64_t due_ps = sim_now_ps(drive->sim) + ms * SIM_PS_PER_MS;

  sim_bus_of(drive->sim)->link_due(drive->sim, due_ps);
  sim_at(drive->sim, due_ps, link_returns, drive, drive->link_drops);
}

void sim_drive_link_drop(struct sim_drive *drive, uint32_t ms) {
  fall_back(drive);
  drive->link_down = true;
  drive->link_drops++;
  sim_bus_of(drive->sim)->link_changed(drive->sim, drive->index, false);
  if (ms != UINT32_MAX) return_link(drive, ms);
}

static void apply_reset(struct sim_drive *drive, enum sim_reset_kind kind) {
  drive->counters.hard_resets[kind]++;
  if (drive->cure == kind) drive->broken = false;
}

void sim_drive_break(struct sim_drive *drive, enum sim_reset_kind cure) {
  drive->broken = true;
  drive->cure = cure;
  drive_fatal(drive);
}

void drive_subsystem_reset(struct sim_drive *drive) {
  apply_reset(drive, SIM_RESET_SUBSYSTEM);
  sim_drive_link_drop(drive, SUBSYSTEM_MS);
}

void sim_drive_function_reset(struct sim_drive *drive) {
  apply_reset(drive, SIM_RESET_FUNCTION);
  fall_back(drive);
  sim_bus_of(drive->sim)->function_reset(drive->sim, drive->index);
}

void sim_drive_link_reset(struct sim_drive *drive, enum sim_reset_kind kind, bool on) {
  const uint64_t now = sim_now_ps(drive->sim);

  if (on) {
    drive->reset_begun_ps = now;
    apply_reset(drive, kind);
    sim_drive_link_drop(drive, UINT32_MAX);
    return;
  }
  if (now - drive->reset_begun_ps < RESET_HELD_PS)
    sim_violate(drive->sim, "drive %u: a reset of its link that lasted less than 1 ms", drive->index);
  return_link(drive, TRAINING_MS);
}

void sim_drive_perst(struct sim_drive *drive, bool asserted) { sim_drive_link_reset(drive, SIM_RESET_SLOT, asserted); }
