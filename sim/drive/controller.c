/* SPDX-License-Identifier: Apache-2.0 */
/* The drive's registers: enable, disable and shutdown. */
#include "drive_internal.h"

enum { REG_CAP = 0x00, REG_VS = 0x08, REG_INTMS = 0x0c, REG_INTMC = 0x10, REG_CC = 0x14, REG_CSTS = 0x1c };
enum { REG_NSSR = 0x20, REG_AQA = 0x24, REG_ASQ = 0x28, REG_ACQ = 0x30, REG_DOORBELLS = 0x1000 };

#define CC_ENABLE         UINT32_C(1)
#define CC_SHUTDOWN_MASK  UINT32_C(0xc000)
#define CC_SHUTDOWN_CLEAN UINT32_C(0x4000)
#define CC_WHILE_DISABLED UINT32_C(0x00003ff0) /* AMS, MPS, CSS: must not change while enabled */
#define CC_RESERVED       UINT32_C(0xff00000e)
#define CSTS_SHST_MASK    UINT32_C(0xc)
#define CSTS_SHST_BUSY    UINT32_C(4)
#define CAP_SUBSYSTEM     (UINT64_C(1) << 36)
#define NSSR_VALUE        UINT32_C(0x4e564d65)
#define UNSEEN_PS         (2 * SIM_PS_PER_US) /* a read of a register, and a write */

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
        drive_subsystem_reset(drive);
      else
        sim_violate(drive->sim, "NSSR written with %08x, which resets nothing", value);
      break;
    } /* otherwise reserved */
    __attribute__((fallthrough));
  default: sim_violate(drive->sim, "a register that is read only or reserved was written: offset %x", offset);
  }
}
