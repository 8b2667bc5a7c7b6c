/* SPDX-License-Identifier: Apache-2.0 */
/* The drive's registers: creation, enable, disable, shutdown, and faults of the whole drive. */
#include "drive_internal.h"
#include <stdlib.h>
#include <string.h>

enum { REG_CAP = 0x00, REG_VS = 0x08, REG_INTMS = 0x0c, REG_INTMC = 0x10, REG_CC = 0x14, REG_CSTS = 0x1c };
enum { REG_NSSR = 0x20, REG_AQA = 0x24, REG_ASQ = 0x28, REG_ACQ = 0x30, REG_DOORBELLS = 0x1000 };

#define VERSION_1_4       UINT32_C(0x00010400)
#define CC_ENABLE         UINT32_C(1)
#define CC_SHUTDOWN_MASK  UINT32_C(0xc000)
#define CC_SHUTDOWN_CLEAN UINT32_C(0x4000)
#define CC_SHUTDOWN_HARSH UINT32_C(0x8000)
#define CC_WHILE_DISABLED UINT32_C(0x00003ff0) /* AMS, MPS, CSS: must not change while enabled */
#define CC_RESERVED       UINT32_C(0xff00000e)
#define CSTS_READY        UINT32_C(1)
#define CSTS_FATAL        UINT32_C(2)
#define CSTS_SHST_MASK    UINT32_C(0xc)
#define CSTS_SHST_BUSY    UINT32_C(4)
#define CSTS_SHST_DONE    UINT32_C(8)
#define CAP_SUBSYSTEM     (UINT64_C(1) << 36)
#define NSSR_VALUE        UINT32_C(0x4e564d65)
#define RESET_HELD_PS     SIM_PS_PER_MS /* shortest reset of a link */
#define TRAINING_MS       20u
#define UNSEEN_PS         (2 * SIM_PS_PER_US) /* a read of a register, and a write */
#define SUBSYSTEM_MS      5u                  /* how long a subsystem reset keeps the link down. Assumed */

/* ---- creation ---- */

static void *take(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (memory == NULL) abort();
  return memory;
}

static void default_options(struct sim_drive *drive) {
  struct sim_drive_options *options = &drive->options;

  if (options->link.generation == 0)
    options->link = (struct sim_link_config){.generation = drive->profile.generation,
                                             .lanes = drive->profile.lanes,
                                             .payload_bytes = 256,
                                             .read_request_bytes = 512,
                                             .latency_ns = 250,
                                             .dllp_percent = 2};
  if (options->block_shift == 0) options->block_shift = 9;
  if (options->bytes == 0) options->bytes = drive->profile.capacity_bytes;
  options->bytes &= ~(uint64_t)(SIM_PAGE - 1u);
  if (options->queue_pairs == 0) options->queue_pairs = 8;
  if (options->version == 0) options->version = VERSION_1_4;
  if (options->queue_pairs > DRIVE_QUEUES_MAX) options->queue_pairs = DRIVE_QUEUES_MAX;
  drive->profile.capacity_bytes = options->bytes;
  if (options->no_volatile_cache) drive->profile.volatile_cache = false;
}

/* Contiguous queues required, round robin only, NVM command set, 4 KiB pages only. CAP.TO is twice the time that the
 * drive needs to become ready, in units of 500 ms. */
static uint64_t capabilities(const struct sim_drive *drive) {
  const uint64_t timeout = 1u + 2u * drive->profile.ready_ms / 500u;

  return ((drive->profile.queue_entries - 1u) & 0xffffu) | UINT64_C(1) << 16 | (timeout < 255 ? timeout : 255) << 24 |
         (uint64_t)(drive->options.doorbell_stride & 0xfu) << 32 | UINT64_C(1) << 37;
}

struct sim_drive *sim_drive_add(struct sim *sim, const struct sim_profile *profile,
                                const struct sim_drive_options *options) {
  struct sim_drive *drive = take(sizeof *drive);

  drive->sim = sim;
  drive->profile = *profile;
  if (options != NULL) drive->options = *options;
  default_options(drive);
  drive->index = sim_attach(sim, drive);
  sim_link_init(&drive->link, &drive->options.link);
  sim_media_init(&drive->media, &drive->profile, drive->options.filled);
  drive->store = sim_store_new(drive->options.bytes);
  drive->commands = take(DRIVE_COMMANDS_MAX * sizeof *drive->commands);
  drive->bounce = take(DRIVE_CHUNK_BYTES);
  drive->registers.cap = capabilities(drive);
  drive->shut_down = true;
  drive_identify_init(drive);
  drive_features_reset(drive);
  drive_cache_init(drive);
  drive_filled_init(drive);
  drive_forget(drive);
  return drive;
}

void sim_drive_free(struct sim_drive *drive) {
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    free(drive->commands[i].pages);
    free(drive->commands[i].buffer);
  }
  drive_cache_free(drive);
  drive_queues_free(drive);
  sim_store_free(drive->store);
  free(drive->filled);
  free(drive->commands);
  free(drive->bounce);
  free(drive->log);
  free(drive);
}

/* ---- dropping all commands ---- */

void drive_forget(struct sim_drive *drive) {
  drive_changes_orphaned(drive);
  drive->epoch++;
  memset(drive->sq, 0, sizeof drive->sq);
  memset(drive->cq, 0, sizeof drive->cq);
  memset(&drive->events, 0, sizeof drive->events);
  drive->fetch_first = drive->fetch_count = drive->promised = 0;
  drive->down.first = drive->down.count = drive->up.first = drive->up.count = 0;
  drive->down.outstanding_bytes = drive->up.outstanding_bytes = 0;
  drive->front_free_ps = 0;
  drive->blocked = drive->held = 0;
  drive_queues_forget(drive);
  drive->free_count = DRIVE_COMMANDS_MAX;
  for (unsigned i = 0; i < DRIVE_COMMANDS_MAX; i++) {
    drive->commands[i].generation = 0;
    drive->commands[i].change = NULL;
    drive->free_slots[i] = (uint16_t)(DRIVE_COMMANDS_MAX - 1u - i);
  }
}

void drive_fatal(struct sim_drive *drive) {
  drive_forget(drive);
  drive->registers.csts |= CSTS_FATAL;
}

bool drive_may_master(struct sim_drive *drive) {
  return !drive->link_down && sim_pcie_bus_master(drive->sim, drive->index);
}

/* ---- enable and disable ---- */

static void ready(void *context, uint64_t epoch) {
  struct sim_drive *drive = context;

  if (epoch == drive->epoch) drive->registers.csts |= CSTS_READY;
}

static void stopped(void *context, uint64_t epoch) {
  struct sim_drive *drive = context;

  if (epoch == drive->epoch) drive_forget(drive);
}

static void disabled(void *context, uint64_t disables) {
  struct sim_drive *drive = context;

  if (disables != drive->disables || drive_enabled(drive)) return;
  drive->registers.csts = 0;
  if (!drive->options.clears_admin_when_disabled) return;
  drive->registers.aqa = 0;
  drive->registers.asq = drive->registers.acq = 0;
}

/* Why the controller cannot start. NULL: it can. */
static const char *start_fault(const struct sim_drive *drive) {
  const struct drive_registers *registers = &drive->registers;
  const uint32_t cc = registers->cc;

  if ((registers->aqa & 0xfffu) == 0 || (registers->aqa >> 16 & 0xfffu) == 0) return "an admin queue of one entry";
  if (registers->asq == 0 || registers->acq == 0) return "an admin queue at address 0";
  if ((cc >> 4 & 7u) != 0) return "CC.CSS that CAP.CSS does not offer";
  if ((cc >> 7 & 0xfu) < (registers->cap >> 48 & 0xfu) || (cc >> 7 & 0xfu) > (registers->cap >> 52 & 0xfu))
    return "CC.MPS out of CAP.MPSMIN and CAP.MPSMAX";
  if ((cc >> 7 & 0xfu) != 0) return "CC.MPS other than 4 KiB, which this drive does not support";
  if ((cc >> 11 & 7u) != 0) return "CC.AMS that CAP.AMS does not offer";
  if ((cc >> 16 & 0xfu) != 6 || (cc >> 20 & 0xfu) != 4) return "CC.IOSQES and CC.IOCQES other than 64 and 16 bytes";
  return NULL;
}

static void not_fatal(void *context, uint64_t epoch) {
  struct sim_drive *drive = context;

  if (epoch == drive->epoch) drive->registers.csts &= ~CSTS_FATAL;
}

/* `unseen`: the drive reset itself so shortly before that the host could not know. */
static void enable(struct sim_drive *drive, uint64_t sequence, bool unseen) {
  struct drive_registers *registers = &drive->registers;

  if ((registers->csts & CSTS_READY) != 0) sim_violate(drive->sim, "CC.EN set while CSTS.RDY is still 1");
  drive_forget(drive);
  drive_features_reset(drive);
  drive->counters.enables++;
  drive->patience_ps = sim_now_ps(drive->sim) + (registers->cap >> 24 & 0xffu) * 500u * SIM_PS_PER_MS;
  drive->shut_down = false;
  registers->csts = drive->options.stale_fatal_ms == 0 ? 0 : CSTS_FATAL;
  const char *fault = start_fault(drive);
  if (fault != NULL && !unseen) sim_violate(drive->sim, "CC.EN set with %s", fault);
  if (fault != NULL || drive->fatal_on_enable || drive->broken) {
    registers->csts = CSTS_FATAL;
    return;
  }
  drive->sq[0] = (struct drive_sq){.address = registers->asq, .entries = (registers->aqa & 0xfffu) + 1u};
  drive->cq[0] =
      (struct drive_cq){.address = registers->acq, .entries = (registers->aqa >> 16 & 0xfffu) + 1u, .phase = true};
  drive_check_phases(drive, &drive->cq[0], sequence);
  if (drive->options.stale_fatal_ms != 0)
    sim_at(drive->sim, sim_now_ps(drive->sim) + drive->options.stale_fatal_ms * SIM_PS_PER_MS, not_fatal, drive,
           drive->epoch);
  if (drive->never_ready) return;
  sim_at(drive->sim, sim_now_ps(drive->sim) + drive->profile.ready_ms * SIM_PS_PER_MS, ready, drive, drive->epoch);
}

/* Until CSTS.RDY is 0, data may still move and completions may still be posted (3.1.5). How long they do is random. */
static void disable(struct sim_drive *drive) {
  const uint64_t now = sim_now_ps(drive->sim);

  if ((drive->registers.csts & (CSTS_READY | CSTS_FATAL)) == 0 && now < drive->patience_ps)
    sim_violate(drive->sim, "CC.EN cleared before CSTS.RDY was 1, and before CAP.TO was over");
  drive->disables++;
  if (drive->never_disabled) return; /* it continues to work */
  sim_at(drive->sim, now + sim_random(drive->sim) % DRIVE_DISABLE_PS, stopped, drive, drive->epoch);
  sim_at(drive->sim, now + DRIVE_DISABLE_PS, disabled, drive, drive->disables);
}

static void shut_down(void *context, uint64_t epoch) {
  struct sim_drive *drive = context;

  if (epoch != drive->epoch || (drive->registers.csts & CSTS_SHST_MASK) != CSTS_SHST_BUSY) return;
  drive->registers.csts ^= CSTS_SHST_MASK;
  if ((drive->registers.cc & CC_SHUTDOWN_MASK) != CC_SHUTDOWN_CLEAN) return; /* abrupt: nothing is written back */
  drive->shut_down = true;
  drive_flushed(drive, UINT64_MAX);
}

static void shutdown_begin(struct sim_drive *drive) {
  const uint64_t now = sim_now_ps(drive->sim);
  const uint32_t how = drive->registers.cc & CC_SHUTDOWN_MASK;
  const bool waits = how == CC_SHUTDOWN_CLEAN && drive_cache_on(drive);

  if (how == CC_SHUTDOWN_MASK) sim_violate(drive->sim, "CC.SHN set to 11b, which is reserved");
  drive->counters.shutdowns++;
  for (unsigned i = 1; i <= DRIVE_QUEUES_MAX; i++)
    if (drive->sq[i].entries != 0 || drive->cq[i].entries != 0) {
      drive->counters.hot_shutdowns++;
      break;
    }
  drive->registers.csts = (drive->registers.csts & ~CSTS_SHST_MASK) | CSTS_SHST_BUSY;
  const uint64_t flushed_ps = waits ? sim_media_flush(&drive->media, now) : now;
  sim_at(drive->sim, flushed_ps + drive->shutdown_ms * SIM_PS_PER_MS, shut_down, drive, drive->epoch);
}

static void leave_shutdown(struct sim_drive *drive, bool stays_enabled) {
  if (stays_enabled) sim_violate(drive->sim, "CC.SHN cleared without a reset after the shutdown");
  drive->registers.csts &= ~CSTS_SHST_MASK;
}

static void write_cc(struct sim_drive *drive, uint32_t value, uint64_t sequence) {
  const uint32_t before = drive->registers.cc;

  if (drive->ignores_control) {
    if ((value & CC_ENABLE) == 0) drive->registers.csts &= ~CSTS_READY;
    return;
  }
  if ((value & CC_RESERVED) != 0) sim_violate(drive->sim, "reserved bits of CC set: %08x", value);
  if ((value & before & CC_ENABLE) != 0 && ((value ^ before) & CC_WHILE_DISABLED) != 0)
    sim_violate(drive->sim, "CC.AMS, MPS or CSS changed while enabled");
  const bool unseen = drive->surprised && sim_now_ps(drive->sim) - drive->surprised_ps < UNSEEN_PS;
  drive->surprised = false;
  drive->registers.cc = value;
  if ((value & ~before & CC_ENABLE) != 0) enable(drive, sequence, unseen);
  if ((before & ~value & CC_ENABLE) != 0) disable(drive);
  if ((value & CC_SHUTDOWN_MASK) != 0 && (before & CC_SHUTDOWN_MASK) == 0) shutdown_begin(drive);
  if ((value & CC_SHUTDOWN_MASK) == 0 && (before & CC_SHUTDOWN_MASK) != 0)
    leave_shutdown(drive, (value & before & CC_ENABLE) != 0);
}

/* ---- registers ---- */

static uint32_t admin_register(const struct sim_drive *drive, uint32_t offset) {
  const struct drive_registers *registers = &drive->registers;

  if (drive->options.hides_admin_registers) return 0;
  switch (offset) {
  case REG_AQA: return registers->aqa;
  case REG_ASQ: return (uint32_t)registers->asq;
  case REG_ASQ + 4: return (uint32_t)(registers->asq >> 32);
  case REG_ACQ: return (uint32_t)registers->acq;
  default: return (uint32_t)(registers->acq >> 32);
  }
}

uint32_t sim_drive_register_read(struct sim_drive *drive, uint32_t offset) {
  const struct drive_registers *registers = &drive->registers;

  if (drive->link_down) return UINT32_MAX;
  if (offset >= REG_DOORBELLS) sim_violate(drive->sim, "a doorbell was read: offset %x", offset);
  switch (offset) {
  case REG_CAP: return (uint32_t)registers->cap;
  case REG_CAP + 4: return (uint32_t)(registers->cap >> 32);
  case REG_VS: return drive->options.version;
  case REG_INTMS:
  case REG_INTMC: return registers->intms;
  case REG_CC: return registers->cc;
  case REG_CSTS: return registers->csts;
  case REG_AQA:
  case REG_ASQ:
  case REG_ASQ + 4:
  case REG_ACQ:
  case REG_ACQ + 4: return admin_register(drive, offset);
  case REG_NSSR: return 0;
  default:
    if (offset < REG_DOORBELLS)
      sim_violate(drive->sim, "a register that the drive does not have was read: offset %x", offset);
    return 0;
  }
}

static void subsystem_reset(struct sim_drive *drive);

static void write_address(struct sim_drive *drive, uint64_t *address, bool high, uint32_t value) {
  if (!high && value % SIM_PAGE != 0) sim_violate(drive->sim, "an admin queue that is not page aligned: %08x", value);
  *address = high ? (uint32_t)*address | (uint64_t)value << 32 : (*address & ~UINT64_C(0xffffffff)) | (value & ~0xfffu);
}

void sim_drive_register_write(struct sim_drive *drive, uint32_t offset, uint32_t value, uint64_t sequence) {
  struct drive_registers *registers = &drive->registers;

  if (drive->link_down) return;
  if (offset >= REG_DOORBELLS) {
    drive_doorbell(drive, offset - REG_DOORBELLS, value, sequence);
    return;
  }
  if (offset >= REG_AQA && offset < REG_ACQ + 8 && (registers->cc & CC_ENABLE) != 0)
    sim_violate(drive->sim, "admin queue registers written while enabled");
  switch (offset) {
  case REG_INTMS: registers->intms |= value; break;
  case REG_INTMC: registers->intms &= ~value; break;
  case REG_CC: write_cc(drive, value, sequence); break;
  case REG_AQA:
    if ((value & 0xf000f000u) != 0) sim_violate(drive->sim, "reserved bits of AQA set: %08x", value);
    registers->aqa = value & 0x0fff0fffu;
    break;
  case REG_ASQ: write_address(drive, &registers->asq, false, value); break;
  case REG_ASQ + 4: write_address(drive, &registers->asq, true, value); break;
  case REG_ACQ: write_address(drive, &registers->acq, false, value); break;
  case REG_ACQ + 4: write_address(drive, &registers->acq, true, value); break;
  case REG_NSSR:
    if ((registers->cap & CAP_SUBSYSTEM) != 0) {
      if (value == NSSR_VALUE)
        subsystem_reset(drive);
      else
        sim_violate(drive->sim, "NSSR written with %08x, which resets nothing", value);
      break;
    } /* otherwise reserved */
    __attribute__((fallthrough));
  default: sim_violate(drive->sim, "a register that is read only or reserved was written: offset %x", offset);
  }
}

/* ---- faults of the whole drive ---- */

void sim_drive_stick(struct sim_drive *drive, bool never_ready, bool never_disabled, bool fatal_on_enable) {
  drive->never_ready = never_ready;
  drive->never_disabled = never_disabled;
  drive->fatal_on_enable = fatal_on_enable;
}

void sim_drive_hide_admin_registers(struct sim_drive *drive, bool hides) {
  drive->options.hides_admin_registers = hides;
}

void sim_drive_ignore_control(struct sim_drive *drive) { drive->ignores_control = true; }

void sim_drive_slow_shutdown(struct sim_drive *drive, uint32_t ms) { drive->shutdown_ms = ms; }

void sim_drive_fail(struct sim_drive *drive) { drive_fatal(drive); }

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

bool sim_drive_is_silent(const struct sim_drive *drive) { return drive->silent; }

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
  sim_pcie_link_changed(drive->sim, drive->index, true);
}

static void return_link(struct sim_drive *drive, uint32_t ms) {
  const uint64_t due_ps = sim_now_ps(drive->sim) + ms * SIM_PS_PER_MS;

  sim_bridge_link_due(drive->sim, due_ps);
  sim_at(drive->sim, due_ps, link_returns, drive, drive->link_drops);
}

void sim_drive_link_drop(struct sim_drive *drive, uint32_t ms) {
  fall_back(drive);
  drive->link_down = true;
  drive->link_drops++;
  sim_pcie_link_changed(drive->sim, drive->index, false);
  if (ms != UINT32_MAX) return_link(drive, ms);
}

/* ---- resets beyond CC.EN ---- */

static void apply_reset(struct sim_drive *drive, enum sim_reset_kind kind) {
  drive->counters.hard_resets[kind]++;
  if (drive->cure == kind) drive->broken = false;
}

void sim_drive_break(struct sim_drive *drive, enum sim_reset_kind cure) {
  drive->broken = true;
  drive->cure = cure;
  drive_fatal(drive);
}

static void subsystem_reset(struct sim_drive *drive) {
  apply_reset(drive, SIM_RESET_SUBSYSTEM);
  sim_drive_link_drop(drive, SUBSYSTEM_MS);
}

void sim_drive_function_reset(struct sim_drive *drive) {
  apply_reset(drive, SIM_RESET_FUNCTION);
  fall_back(drive);
  sim_pcie_function_reset(drive->sim, drive->index);
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

/* ---- accessors ---- */

const struct sim_drive_counters *sim_drive_counters(const struct sim_drive *drive) { return &drive->counters; }
void sim_drive_clear_counters(struct sim_drive *drive) {
  drive->counters = (struct sim_drive_counters){0};
  drive->last_data_ps = 0;
}

unsigned sim_drive_index(const struct sim_drive *drive) { return drive->index; }
uint64_t *sim_drive_cap(struct sim_drive *drive) { return &drive->registers.cap; }
uint8_t *sim_drive_identify_controller(struct sim_drive *drive) { return drive->identify_controller; }
uint8_t *sim_drive_identify_namespace(struct sim_drive *drive) { return drive->identify_namespace; }
uint8_t *sim_drive_smart(struct sim_drive *drive) { return drive->smart; }
struct sim_media *sim_drive_media(struct sim_drive *drive) {
  return &drive->media;
}
struct sim_link *sim_drive_link(struct sim_drive *drive) {
  return &drive->link;
}
struct sim_store *sim_drive_store(struct sim_drive *drive) {
  return drive->store;
}
uint64_t sim_drive_blocks(const struct sim_drive *drive) { return drive->blocks; }
uint8_t sim_drive_block_shift(const struct sim_drive *drive) { return drive->block_shift; }

const struct sim_command *sim_drive_commands(const struct sim_drive *drive, size_t *count) {
  *count = drive->log_count;
  return drive->log;
}

void sim_drive_clear_commands(struct sim_drive *drive) { drive->log_count = 0; }
uint32_t *sim_drive_namespaces(struct sim_drive *drive) { return drive->namespaces; }
