/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers and addresses of a Xilinx bridge (bridge.h). PHY status and the link's training are in bridge_link.c.
 *
 * The bridge's own registers, at PG194's offsets. Each has a section "(Offset 0x...)" in PG194, and in PG055 unless
 * noted. On Versal they are 0xcd8 further on: PG302, PG344 and PG347, "Bridge Register Space" (from 0xe00 on), AM012,
 * "CPM5_DMA_CSR Module" (from 0xe00 on), and the offsets of the Linux drivers.
 *
 *   0x130  bridge information         bit 1: root port. Read-only
 *   0x134  bridge status and control  bit 8: no interrupt at all
 *   0x138  interrupt decode           a 1 clears; bits 9 to 11 only when the error FIFO is empty
 *   0x13c  interrupt mask
 *   0x144  PHY status/control         bridge_link.c
 *   0x148  root port status/control   0 bridge enable, 16 and 18 the FIFOs are not empty
 *   0x14c, 0x150  MSI base            upper and lower half
 *   0x154  root port error FIFO       18 valid; a write removes the entry. Reads do not
 *   0x158, 0x15c  interrupt FIFO      31 valid (PG055; PG194: AXI PCIe Gen3 only)
 *   0x160  interrupt decode 2         19:16 INTD to INTA; read-only (PG194: XDMA only; Versal)
 *   0x164  its mask                   the same
 *   0x170, 0x174  MSI decode          a 1 clears (PG194: XDMA only; Versal)
 *   0x178, 0x17c  their masks         the same
 *   0x208 to 0x214  AXI BAR translation, upper and lower half for each of two BARs (PG055, and embeddedsw for PG194)
 */
#include "bridge.h"
#include "../machine/internal.h"
#include <stdlib.h>

enum {
  BRIDGE_INFO = 0x130,
  BRIDGE_CONTROL = 0x134,
  INTERRUPT_DECODE = 0x138,
  INTERRUPT_MASK = 0x13c,
  PHY_STATUS = 0x144,
  ROOT_PORT = 0x148,
  MSI_BASE_UPPER = 0x14c,
  MSI_BASE_LOWER = 0x150,
  ERROR_FIFO = 0x154,
  INTERRUPT_FIFO = 0x158,
  INTERRUPT_DECODE_2 = 0x160,
  INTERRUPT_MASK_2 = 0x164,
  MSI_DECODE_1 = 0x170,
  MSI_DECODE_2 = 0x174,
  MSI_MASK_1 = 0x178,
  MSI_MASK_2 = 0x17c,
  TRANSLATION = 0x208, /* of AXI BAR 0: upper half, lower half; then of AXI BAR 1 */
  FIRST_REGISTER = 0x128,
  END_OF_REGISTERS = 0x238,
};

#define INFO_ROOT_PORT       UINT32_C(0x00000002)
#define CONTROL_NO_INTERRUPT UINT32_C(0x00000100)
#define DECODE_LINK_DOWN     UINT32_C(0x00000001)
#define DECODE_CORRECTABLE   UINT32_C(0x00000200)
#define DECODE_ERRORS        UINT32_C(0x00000e00)
#define ENABLE               UINT32_C(0x00000001)
#define ERRORS_NOT_EMPTY     UINT32_C(0x00010000)
#define INTERRUPTS_NOT_EMPTY UINT32_C(0x00040000)
#define ERROR_VALID          UINT32_C(0x00040000)
#define INTERRUPT_VALID      UINT32_C(0x80000000)
#define INTA                 UINT32_C(0x00010000)
#define REQUESTER            UINT32_C(0x00000100) /* bus 1, device 0: the drive */

#define VERSAL_SHIFT 0xcd8u /* Linux: QDMA_BRIDGE_BASE_OFF, and XILINX_CPM_PCIE_REG_IDR - 0x138 */
#define REGION_BYTES 0x1000u
#define MIB          (UINT64_C(1) << 20)
#define GIB          (UINT64_C(1) << 30)
#define TRAP_PS      (1 * SIM_PS_PER_US) /* as in unanswered.c */
#define GRACE_PS     (10 * SIM_PS_PER_US)

struct sim_bridge {
  struct sim *sim;
  struct sim_bridge_config config;
  struct sim_bridge_map map;
  struct sim_bridge_counters counters;
  uint32_t decode, mask, decode_2, mask_2, msi_mask[2], control;
  struct sim_msi_page msi;
  uint64_t translation[2];
  uint16_t errors, interrupts;
  bool enabled;
  struct sim_bridge_link link;
};

/* ---- where it is ---- */

static bool is_versal(enum sim_bridge_family family) { return family >= SIM_BRIDGE_QDMA; }

uint32_t sim_bridge_shift(enum sim_bridge_family family) { return is_versal(family) ? VERSAL_SHIFT : 0; }

struct sim_bridge_map sim_bridge_map_of(const struct sim_bridge_config *config) {
  /* Zynq-7000: below M_AXI_GP0. UltraScale+: as the designs of a Zynq UltraScale+ with an XDMA at 0x400000000 have it.
   * QDMA: the memory window of a published Versal design. CPM: PG347, "Register Space", and the Linux bindings. */
  static const struct sim_bridge_map maps[SIM_BRIDGE_FAMILIES] = {
      [SIM_BRIDGE_PG055] = {0x50000000, 0, 15, {0x60000000, 0x60000000, 256 * MIB}, {0}},
      [SIM_BRIDGE_PG194] = {0x400000000, 0, 15, {0xb0000000, 0xb0000000, 256 * MIB}, {0x500000000, 0x500000000, GIB}},
      [SIM_BRIDGE_QDMA] =
          {0x400000000, 0x80000000, 255, {0xa8000000, 0xa8000000, 128 * MIB}, {0x500000000, 0x500000000, GIB}},
      [SIM_BRIDGE_CPM4] =
          {0x600000000, 0, 255, {0xe0000000, 0xe0000000, 256 * MIB}, {0x8000000000, 0x8000000000, 2 * GIB}},
      [SIM_BRIDGE_CPM5] =
          {0x600000000, 0xfce20000, 15, {0xe0000000, 0xe0000000, 256 * MIB}, {0x8000000000, 0x8000000000, 2 * GIB}},
  };
  struct sim_bridge_map map = maps[config->family];

  if (!config->translates || is_versal(config->family)) return map;
  map.memory.cpu = config->family == SIM_BRIDGE_PG055 ? 0x70000000 : 0x480000000;
  map.memory.bus = 0x80000000;
  map.high.bus = 0x1000000000;
  return map;
}

/* ---- reset, and what came before ---- */

static void reset(struct sim_bridge *bridge) {
  bridge->decode = bridge->mask = bridge->decode_2 = bridge->mask_2 = bridge->control = 0;
  for (unsigned i = 0; i < 2; i++)
    bridge->msi.decode[i] = bridge->msi_mask[i] = 0;
  bridge->msi.base = 0;
  bridge->errors = bridge->interrupts = 0;
  bridge->enabled = false;
  bridge->translation[0] = bridge->map.memory.bus;
  bridge->translation[1] = bridge->map.high.bus;
}

static bool has_masks(const struct sim_bridge *bridge) { return bridge->config.family != SIM_BRIDGE_PG055; }

static void leave_as_found(struct sim_bridge *bridge) {
  const struct sim_bridge_config *config = &bridge->config;

  bridge->msi.base = config->msi_base;
  bridge->errors = config->errors;
  bridge->interrupts = has_masks(bridge) ? 0 : config->interrupts;
  if (config->errors != 0) bridge->decode |= DECODE_CORRECTABLE;
  if (!config->interrupts_on) return;
  bridge->mask = UINT32_MAX;
  if (!has_masks(bridge)) return;
  bridge->mask_2 = 0xf0000;
  bridge->msi_mask[0] = bridge->msi_mask[1] = UINT32_MAX;
  bridge->decode_2 = INTA;
  bridge->msi.decode[0] = bridge->msi.decode[1] = 1;
}

void sim_bridge_fit(struct sim *sim, const struct sim_bridge_config *config) {
  struct sim_bridge *bridge = calloc(1, sizeof *bridge);
  struct sim_drive *drive = sim_drive_at(sim, 0);

  if (bridge == NULL || drive == NULL || sim_drive_at(sim, 1) != NULL || sim_bridge_of(sim) != NULL) abort();
  bridge->sim = sim;
  bridge->config = *config;
  bridge->map = sim_bridge_map_of(config);
  reset(bridge);
  leave_as_found(bridge);
  sim_bridge_link_start(&bridge->link, config, sim_drive_link(drive));
  sim_set_bridge(sim, bridge, &bridge->msi);
  if (config->training != SIM_BRIDGE_TRAINS)
    sim_drive_link_drop(drive, UINT32_MAX);
  else if (config->training_ms != 0)
    sim_drive_link_drop(drive, config->training_ms);
}

void sim_bridge_free(struct sim_bridge *bridge) { free(bridge); }

const struct sim_bridge_config *sim_bridge_config_of(struct sim *sim) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  return bridge == NULL ? NULL : &bridge->config;
}

void sim_bridge_set_presence(struct sim *sim, enum sim_bridge_presence presence) {
  struct sim_bridge *bridge = sim_bridge_of(sim);

  reset(bridge);
  bridge->config.presence = presence;
  if (bridge->map.region != 0) bridge->config.registers = presence;
}

/* Bridge Enable falls with the link: PG194 and PG055, "Root Port Status/Control Register (Offset 0x148)". */
void sim_bridge_link_changed(struct sim *sim, bool up) {
  struct sim_bridge *bridge = sim_bridge_of(sim);

  if (bridge == NULL) return;
  sim_bridge_link_set(&bridge->link, up, sim_now_ps(sim));
  if (up) return;
  bridge->enabled = false;
  bridge->decode |= DECODE_LINK_DOWN;
}

void sim_bridge_link_due(struct sim *sim, uint64_t at_ps) {
  struct sim_bridge *bridge = sim_bridge_of(sim);

  if (bridge != NULL) bridge->link.due_ps = at_ps;
}

uint32_t sim_bridge_link_status(struct sim *sim, uint32_t value) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  return bridge == NULL ? value : sim_bridge_link_speed(&bridge->link, sim_now_ps(sim), value);
}

/* ---- registers ---- */

static uint32_t half(uint64_t value, bool upper) { return (uint32_t)(upper ? value >> 32 : value); }

static void set_half(uint64_t *to, bool upper, uint32_t value) {
  *to = upper ? (*to & UINT32_MAX) | (uint64_t)value << 32 : (*to & ~(uint64_t)UINT32_MAX) | value;
}

static uint32_t root_port_status(const struct sim_bridge *bridge) {
  return (bridge->enabled ? ENABLE : 0) | (bridge->errors != 0 ? ERRORS_NOT_EMPTY : 0) |
         (bridge->interrupts != 0 ? INTERRUPTS_NOT_EMPTY : 0);
}

/* Those that PG055 does not have. */
static uint32_t newer_register(const struct sim_bridge *bridge, unsigned offset) {
  switch (offset) {
  case INTERRUPT_DECODE_2: return bridge->decode_2;
  case INTERRUPT_MASK_2: return bridge->mask_2;
  case MSI_DECODE_1: return bridge->msi.decode[0];
  case MSI_DECODE_2: return bridge->msi.decode[1];
  case MSI_MASK_1: return bridge->msi_mask[0];
  case MSI_MASK_2: return bridge->msi_mask[1];
  default: return 0;
  }
}

static uint32_t register_value(const struct sim_bridge *bridge, unsigned offset) {
  switch (offset) {
  case BRIDGE_INFO: return INFO_ROOT_PORT;
  case BRIDGE_CONTROL: return bridge->control;
  case INTERRUPT_DECODE: return bridge->decode;
  case INTERRUPT_MASK: return bridge->mask;
  case PHY_STATUS: return sim_bridge_link_phy(&bridge->link, sim_now_ps(bridge->sim));
  case ROOT_PORT: return root_port_status(bridge);
  case MSI_BASE_UPPER: return half(bridge->msi.base, true);
  case MSI_BASE_LOWER: return half(bridge->msi.base, false);
  case ERROR_FIFO: return bridge->errors != 0 ? ERROR_VALID | REQUESTER : 0;
  case INTERRUPT_FIFO: return bridge->interrupts != 0 ? INTERRUPT_VALID | REQUESTER : 0;
  default: break;
  }
  const unsigned at = (offset - TRANSLATION) / 4;
  if (offset >= TRANSLATION && at < 4 && !is_versal(bridge->config.family))
    return half(bridge->translation[at / 2], at % 2 == 0);
  return has_masks(bridge) ? newer_register(bridge, offset) : 0;
}

static void set_newer_register(struct sim_bridge *bridge, unsigned offset, uint32_t value) {
  switch (offset) {
  case INTERRUPT_MASK_2: bridge->mask_2 = value & 0xf0000; break;
  case MSI_DECODE_1: bridge->msi.decode[0] &= ~value; break;
  case MSI_DECODE_2: bridge->msi.decode[1] &= ~value; break;
  case MSI_MASK_1: bridge->msi_mask[0] = value; break;
  case MSI_MASK_2: bridge->msi_mask[1] = value; break;
  default: break;
  }
}

static void set_enable(struct sim_bridge *bridge, bool on) {
  if (on && !bridge->enabled) bridge->counters.enables++;
  bridge->enabled = on;
}

static void remove_entry(uint16_t *entries) {
  if (entries != NULL && *entries != 0) (*entries)--;
}

static void set_register(struct sim_bridge *bridge, unsigned offset, uint32_t value) {
  switch (offset) {
  case BRIDGE_CONTROL: bridge->control = value & CONTROL_NO_INTERRUPT; return;
  case INTERRUPT_DECODE: bridge->decode &= ~(value & (bridge->errors != 0 ? ~DECODE_ERRORS : UINT32_MAX)); return;
  case INTERRUPT_MASK: bridge->mask = value; return;
  case ROOT_PORT: set_enable(bridge, (value & ENABLE) != 0); return;
  case MSI_BASE_UPPER: set_half(&bridge->msi.base, true, value); return;
  case MSI_BASE_LOWER: set_half(&bridge->msi.base, false, value & ~(uint32_t)(SIM_MSI_PAGE_BYTES - 1)); return;
  case ERROR_FIFO: remove_entry(bridge->config.endless_errors ? NULL : &bridge->errors); return;
  case INTERRUPT_FIFO: remove_entry(&bridge->interrupts); return;
  default: break;
  }
  const unsigned at = (offset - TRANSLATION) / 4;
  if (offset >= TRANSLATION && at < 4 && !is_versal(bridge->config.family))
    set_half(&bridge->translation[at / 2], at % 2 == 0, value);
  else if (has_masks(bridge))
    set_newer_register(bridge, offset, value);
  else
    sim_violate(bridge->sim, "a write to offset 0x%x, which is reserved in this bridge", offset);
}

/* ---- the processor's accesses ---- */

bool sim_bridge_ecam(struct sim *sim, uint64_t address, uint64_t *at) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  *at = address - (bridge == NULL ? SIM_ECAM : bridge->map.control);
  return *at < (bridge == NULL ? (uint64_t)SIM_ECAM_BUSES : bridge->map.last_bus + UINT64_C(1)) * MIB;
}

static uint32_t nothing(struct sim *sim, enum sim_bridge_presence presence) {
  if (presence == SIM_BRIDGE_READS_ZEROS) return 0;
  if (presence == SIM_BRIDGE_ABORTS) sim_work(sim, TRAP_PS);
  return UINT32_MAX;
}

static bool is_own(const struct sim_bridge *bridge, unsigned offset) {
  const unsigned shift = sim_bridge_shift(bridge->config.family);

  return bridge->map.region == 0 && offset >= FIRST_REGISTER + shift && offset < END_OF_REGISTERS + shift;
}

bool sim_bridge_control_read(struct sim *sim, bool port, unsigned offset, uint32_t *value) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  if (bridge == NULL) return false;
  if (bridge->config.presence != SIM_BRIDGE_PRESENT) {
    *value = nothing(sim, bridge->config.presence);
    return true;
  }
  if (!port || !is_own(bridge, offset)) return false;
  *value = register_value(bridge, offset - sim_bridge_shift(bridge->config.family));
  return true;
}

bool sim_bridge_control_write(struct sim *sim, bool port, unsigned offset, uint32_t value) {
  struct sim_bridge *bridge = sim_bridge_of(sim);

  if (bridge == NULL) return false;
  if (bridge->config.presence != SIM_BRIDGE_PRESENT) {
    sim_violate(sim, "a write to the control interface of a bridge that is absent");
    return true;
  }
  if (!port || !is_own(bridge, offset)) return false;
  set_register(bridge, offset - sim_bridge_shift(bridge->config.family), value);
  return true;
}

static bool is_in_region(const struct sim_bridge *bridge, uint64_t address) {
  return bridge != NULL && bridge->map.region != 0 && address - bridge->map.region < REGION_BYTES;
}

/* Below 0xe00 the region shows the root port's configuration space (PG302, PG344, "AXI4-Lite Bridge Slave CSR
 * Interface"). The library must not need it, so the model reads zeros there. */
bool sim_bridge_region_read(struct sim *sim, uint64_t address, uint32_t *value) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  if (!is_in_region(bridge, address)) return false;
  const unsigned offset = (unsigned)(address - bridge->map.region);
  if (bridge->config.registers != SIM_BRIDGE_PRESENT)
    *value = nothing(sim, bridge->config.registers);
  else
    *value = offset < FIRST_REGISTER + VERSAL_SHIFT ? 0 : register_value(bridge, offset - VERSAL_SHIFT);
  return true;
}

bool sim_bridge_region_write(struct sim *sim, uint64_t address, uint32_t value) {
  struct sim_bridge *bridge = sim_bridge_of(sim);

  if (!is_in_region(bridge, address)) return false;
  const unsigned offset = (unsigned)(address - bridge->map.region);
  if (bridge->config.registers != SIM_BRIDGE_PRESENT)
    sim_violate(sim, "a write to the registers of a bridge that are absent");
  else if (offset >= FIRST_REGISTER + VERSAL_SHIFT)
    set_register(bridge, offset - VERSAL_SHIFT, value);
  return true;
}

/* ---- memory ---- */

bool sim_bridge_is_memory(struct sim *sim, uint64_t address) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  if (bridge == NULL) return address - SIM_WINDOW < SIM_WINDOW_BYTES;
  return address - bridge->map.memory.cpu < bridge->map.memory.bytes ||
         address - bridge->map.high.cpu < bridge->map.high.bytes;
}

/* The bus address of a memory request; false: it is in no AXI BAR, or the bridge refuses it. */
bool sim_bridge_to_bus(struct sim *sim, uint64_t address, uint64_t *bus) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  *bus = address;
  if (!sim_bridge_is_memory(sim, address)) return false;
  if (bridge == NULL) return true;
  const uint64_t at = address - bridge->map.memory.cpu;
  *bus = at < bridge->map.memory.bytes ? bridge->translation[0] + at
                                       : bridge->translation[1] + (address - bridge->map.high.cpu);
  return bridge->config.presence == SIM_BRIDGE_PRESENT && bridge->enabled;
}

void sim_bridge_refused(struct sim *sim) {
  struct sim_bridge *bridge = sim_bridge_of(sim);

  if (bridge != NULL && !bridge->enabled) bridge->counters.slave_errors++;
}

void sim_bridge_config_lost(struct sim *sim) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  if (bridge != NULL && sim_bridge_link_down_for(&bridge->link, sim_now_ps(sim)) > GRACE_PS)
    sim_violate(sim, "a configuration request below the bridge, whose link is down");
}

/* ---- what it did ---- */

struct sim_bridge_counters sim_bridge_counters(struct sim *sim) {
  struct sim_bridge_counters counters = sim_bridge_of(sim)->counters;

  counters.msi_writes = sim_msi_of(sim)->writes;
  return counters;
}

bool sim_bridge_interrupts(struct sim *sim) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);
  const uint32_t asserted = (bridge->decode & bridge->mask) | (bridge->decode_2 & bridge->mask_2) |
                            (bridge->msi.decode[0] & bridge->msi_mask[0]) |
                            (bridge->msi.decode[1] & bridge->msi_mask[1]);

  return asserted != 0 && (bridge->control & CONTROL_NO_INTERRUPT) == 0;
}

uint32_t sim_bridge_fifo_entries(struct sim *sim) {
  const struct sim_bridge *bridge = sim_bridge_of(sim);

  return (uint32_t)bridge->errors + bridge->interrupts;
}
