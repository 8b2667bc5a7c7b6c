/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host bridge: ECAM, and for each drive a root port on bus 0 with the drive as device 0 of the bus below it.
 * Configuration space is 256 bytes: the registers, and a mask of their writable bits. A write only stores bits. What
 * they mean (windows, BARs, payload sizes) is read from the registers when it is needed. Section numbers are those of
 * the PCI Express base specification 4.0.
 */
#include "../machine/internal.h"
#include <stdlib.h>

enum {
  ID = 0x00,
  COMMAND = 0x04,
  CLASS = 0x08,
  HEADER = 0x0c,
  BAR0 = 0x10,
  BUS_NUMBERS = 0x18,
  MEMORY_WINDOW = 0x20,
  PREFETCH_WINDOW = 0x24,
  PREFETCH_BASE_UPPER = 0x28,
  PREFETCH_LIMIT_UPPER = 0x2c,
  CAPABILITIES = 0x34,
  BRIDGE_CONTROL = 0x3c,
  EXPRESS = 0x40, /* the capability, and its registers */
  DEVICE_CAPABILITIES = EXPRESS + 0x04,
  DEVICE_CONTROL = EXPRESS + 0x08,
  LINK_CAPABILITIES = EXPRESS + 0x0c,
  LINK_CONTROL = EXPRESS + 0x10,
  SLOT_CONTROL = EXPRESS + 0x18,
  ROOT_CONTROL = EXPRESS + 0x1c,
  CONFIG_BYTES = 0x100,
};

#define COMMAND_MEMORY       UINT32_C(0x0002)
#define COMMAND_MASTER       UINT32_C(0x0004)
#define COMMAND_WRITABLE     UINT32_C(0x0547) /* I/O, memory, master, parity, SERR#, no INTx */
#define STATUS_CAPABILITIES  UINT32_C(0x00100000)
#define EXPRESS_ROOT_PORT    UINT32_C(0x01420010) /* version 2, a slot; the capability's ID, no next one */
#define EXPRESS_SLOT         UINT32_C(0x01000000)
#define EXPRESS_ENDPOINT     UINT32_C(0x00020010)
#define DEVICE_CONTROL_RESET UINT32_C(0x00002810) /* 7.5.3.4: relaxed order, no snoop, MPS 128, MRRS 512 */
#define PAYLOAD_SHIFT        5u
#define READ_REQUEST_SHIFT   12u
#define SIZE_CODE_MAX        5u /* 128 << 5 = 4096 bytes; 6 and 7 are reserved */
#define PAYLOAD              "Max_Payload_Size"
#define LINK_REPORTING       UINT32_C(0x00100000) /* data link layer link active reporting capable */
#define LINK_ACTIVE          UINT32_C(0x20000000)
#define SLOT_PRESENCE        UINT32_C(0x00400000)
#define SLOT_LINK_CHANGED    UINT32_C(0x01000000) /* stays until a one is written to it */
#define SECONDARY_BUS_RESET  UINT32_C(0x00400000)
#define FUNCTION_RESET_ABLE  UINT32_C(0x10000000)
#define FUNCTION_RESET       UINT32_C(0x00008000)
#define ROOT_RETRY_VISIBLE   UINT32_C(0x00000010)
#define ROOT_RETRY_CAPABLE   UINT32_C(0x00010000)

#define ALL_ONES UINT32_MAX
#define RETRY    UINT32_C(0xffff0001) /* 2.3.2: the answer to a read of the ID, if visible to software */

/* IDs that no product uses. */
#define ID_PORT  UINT32_C(0x000c1b36)
#define ID_DRIVE UINT32_C(0x00101b36)
/* What Vivado suggests for a root port of a Zynq UltraScale+. */
#define ID_XILINX UINT32_C(0x913110ee)

/* The payload size that a drive supports, as current drives do, whatever the port supports. */
#define DRIVE_PAYLOAD_BYTES 512u
/* For how long a drive answers "retry" after its link came up. Assumed; the specification allows a second (6.6.1). */
#define RETRY_PS (150 * SIM_PS_PER_MS)
/* For how long the host may not send a configuration request after the link came up. */
#define SILENCE_PS (100 * SIM_PS_PER_MS)

struct config_space {
  uint32_t value[CONFIG_BYTES / 4], writable[CONFIG_BYTES / 4];
};

struct root_port {
  struct config_space port, drive;
  uint16_t payload_bytes; /* the port's maximum, from the link's config */
  bool present;           /* it is set up, and has a drive */
  bool down;
  bool came_up; /* the link has come up again, at up_ps */
  uint64_t up_ps;
};

struct sim_pcie {
  struct root_port ports[SIM_DRIVES_MAX];
};

static uint32_t get(const struct config_space *space, unsigned offset) { return space->value[offset / 4]; }

static void define(struct config_space *space, unsigned offset, uint32_t value, uint32_t writable) {
  space->value[offset / 4] = value;
  space->writable[offset / 4] = writable;
}

/* The code of a payload or read request size: 128 << code bytes. */
static uint32_t size_code(uint32_t bytes) {
  uint32_t code = 0;

  while (code < SIZE_CODE_MAX && 128u << code < bytes)
    code++;
  return code;
}

/* ---- the state after reset ---- */

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* What differs in the root port of a Xilinx bridge. Without a slot and without link reporting, only Bridge Enable shows
 * that the link went down. Its BAR 0 says which memory the drive may reach, and has a value from the design. */
static void make_xilinx(struct config_space *space, const struct sim_bridge_config *bridge) {
  define(space, ID, bridge->port_id != 0 ? bridge->port_id : ID_XILINX, 0);
  define(space, BAR0, 0x4, 0);
  define(space, BAR0 + 4, 0, 0xfffffff0);
  if (bridge->reports_link) return;
  define(space, EXPRESS, EXPRESS_ROOT_PORT & ~EXPRESS_SLOT, 0);
  define(space, LINK_CAPABILITIES, get(space, LINK_CAPABILITIES) & ~LINK_REPORTING, 0);
  define(space, LINK_CONTROL, get(space, LINK_CONTROL) & ~LINK_ACTIVE, 0x0fff);
  define(space, SLOT_CONTROL, 0, 0);
}

static void reset_port(struct root_port *port, const struct sim_link_config *link) {
  struct config_space *space = &port->port;
  const uint32_t generation = larger(link->port_generation, link->generation);
  const uint32_t lanes = larger(link->port_lanes, link->lanes);

  *space = (struct config_space){0};
  define(space, ID, ID_PORT, 0);
  define(space, COMMAND, STATUS_CAPABILITIES, COMMAND_WRITABLE);
  define(space, CLASS, 0x06040000, 0);
  define(space, HEADER, 0x00010000, 0);
  define(space, BUS_NUMBERS, 0, 0x00ffffff);
  define(space, MEMORY_WINDOW, 0, 0xfff0fff0);
  define(space, PREFETCH_WINDOW, 0x00010001, 0xfff0fff0);
  define(space, PREFETCH_BASE_UPPER, 0, UINT32_MAX);
  define(space, PREFETCH_LIMIT_UPPER, 0, UINT32_MAX);
  define(space, CAPABILITIES, EXPRESS, 0);
  define(space, BRIDGE_CONTROL, 0, SECONDARY_BUS_RESET);
  define(space, EXPRESS, EXPRESS_ROOT_PORT, 0);
  define(space, DEVICE_CAPABILITIES, size_code(port->payload_bytes), 0);
  define(space, DEVICE_CONTROL, DEVICE_CONTROL_RESET, 0x00007fff);
  define(space, LINK_CAPABILITIES, LINK_REPORTING | lanes << 4 | generation, 0);
  define(space, LINK_CONTROL, (uint32_t)link->lanes << 20 | (uint32_t)link->generation << 16 | LINK_ACTIVE, 0x0fff);
  define(space, SLOT_CONTROL, SLOT_PRESENCE, 0x1fff);
  define(space, ROOT_CONTROL, ROOT_RETRY_CAPABLE, 0x1f);
}

static void reset_drive(struct sim *sim, struct root_port *port, struct sim_drive *drive) {
  const struct sim_bridge_config *bridge = sim_bridge_config_of(sim);
  const struct sim_link_config *link = &sim_drive_link(drive)->config;
  const struct sim_profile *profile = sim_drive_media(drive)->profile;
  const uint32_t generation = larger(profile->generation, link->generation);
  const uint32_t lanes = larger(profile->lanes, link->lanes);
  struct config_space *space = &port->drive;

  *space = (struct config_space){0};
  define(space, ID, ID_DRIVE, 0);
  define(space, COMMAND, STATUS_CAPABILITIES, COMMAND_WRITABLE);
  define(space, CLASS, 0x01080200, 0);
  /* 64 bits, and prefetchable only if the bridge's config says so. */
  define(space, BAR0, bridge != NULL && bridge->high_bar ? 0xc : 0x4, (uint32_t) ~(SIM_BAR_BYTES - 1));
  define(space, BAR0 + 4, 0, UINT32_MAX);
  define(space, CAPABILITIES, EXPRESS, 0);
  define(space, EXPRESS, EXPRESS_ENDPOINT, 0);
  define(space, DEVICE_CAPABILITIES, FUNCTION_RESET_ABLE | size_code(DRIVE_PAYLOAD_BYTES), 0);
  define(space, DEVICE_CONTROL, DEVICE_CONTROL_RESET, 0x00007fff);
  define(space, LINK_CAPABILITIES, lanes << 4 | generation, 0);
  define(space, LINK_CONTROL, (uint32_t)link->lanes << 20 | (uint32_t)link->generation << 16, 0x0fff);
}

/* The size set in a Device Control register. A size that the function does not support is a violation. */
static uint16_t size_of(struct sim *sim, const struct config_space *space, unsigned shift, uint32_t code_max,
                        const char *what) {
  const uint32_t code = get(space, DEVICE_CONTROL) >> shift & 7u;

  if (code > code_max)
    sim_violate(sim, "%s is set to %u bytes, and at most %u are supported", what, 128u << code, 128u << code_max);
  return (uint16_t)(128u << (code < code_max ? code : code_max));
}

/* The link uses the packet sizes in the drive's Device Control register, limited by those of the port. Transfers in
 * progress continue. */
static void set_packet_sizes(struct sim *sim, const struct root_port *port, struct sim_drive *drive) {
  struct sim_link *link = sim_drive_link(drive);
  const struct sim_link before = *link;
  const uint16_t up = size_of(sim, &port->drive, PAYLOAD_SHIFT, get(&port->drive, DEVICE_CAPABILITIES) & 7u, PAYLOAD);
  const uint16_t down = size_of(sim, &port->port, PAYLOAD_SHIFT, get(&port->port, DEVICE_CAPABILITIES) & 7u, PAYLOAD);
  struct sim_link_config config = link->config;

  config.payload_bytes = up < down ? up : down;
  config.read_request_bytes = size_of(sim, &port->drive, READ_REQUEST_SHIFT, SIZE_CODE_MAX, "Max_Read_Request_Size");
  sim_link_init(link, &config);
  link->down_free_ps = before.down_free_ps;
  link->up_free_ps = before.up_free_ps;
  link->down_bytes = before.down_bytes;
  link->up_bytes = before.up_bytes;
}

/* The port of a drive, set up at its first use. NULL: there is no drive. */
static struct root_port *port_at(struct sim *sim, unsigned index) {
  struct sim_drive *drive = sim_drive_at(sim, index);

  if (drive == NULL) return NULL;
  struct root_port *port = &sim_pcie_of(sim)->ports[index];
  if (port->present) return port;
  port->present = true;
  port->payload_bytes = sim_drive_link(drive)->config.payload_bytes;
  reset_port(port, &sim_drive_link(drive)->config);
  if (sim_bridge_config_of(sim) != NULL) make_xilinx(&port->port, sim_bridge_config_of(sim));
  reset_drive(sim, port, drive);
  set_packet_sizes(sim, port, drive);
  return port;
}

static void link_changed(struct sim *sim, unsigned drive_index, bool up) {
  struct root_port *port = port_at(sim, drive_index);

  if (port == NULL) return;
  port->down = !up;
  port->came_up = up;
  port->up_ps = sim_now_ps(sim);
  sim_bridge_link_changed(sim, up);
  if (up && (get(&port->port, LINK_CAPABILITIES) & LINK_REPORTING) != 0)
    port->port.value[LINK_CONTROL / 4] |= LINK_ACTIVE;
  else
    port->port.value[LINK_CONTROL / 4] &= ~LINK_ACTIVE;
  if ((get(&port->port, EXPRESS) & EXPRESS_SLOT) != 0) port->port.value[SLOT_CONTROL / 4] |= SLOT_LINK_CHANGED;
  reset_drive(sim, port, sim_drive_at(sim, drive_index));
  set_packet_sizes(sim, port, sim_drive_at(sim, drive_index));
}

/* As after the link came up: the host must wait for 100 ms with configuration requests, and gets "retry" for longer. */
static void function_reset(struct sim *sim, unsigned drive_index) {
  struct root_port *port = port_at(sim, drive_index);

  port->came_up = true;
  port->up_ps = sim_now_ps(sim);
  reset_drive(sim, port, sim_drive_at(sim, drive_index));
  set_packet_sizes(sim, port, sim_drive_at(sim, drive_index));
}

static bool may_master(struct sim *sim, unsigned drive_index) {
  const struct root_port *port = &sim_pcie_of(sim)->ports[drive_index];

  return port->present && !port->down && (get(&port->port, COMMAND) & get(&port->drive, COMMAND) & COMMAND_MASTER) != 0;
}

static const struct sim_bus calls = {
    .link_changed = link_changed,
    .link_due = sim_bridge_link_due,
    .function_reset = function_reset,
    .may_master = may_master,
};

struct sim_pcie *sim_pcie_new(struct sim *sim) {
  struct sim_pcie *pcie = calloc(1, sizeof *pcie);

  if (pcie == NULL) abort();
  sim_set_bus(sim, &calls);
  return pcie;
}

void sim_pcie_free(struct sim_pcie *pcie) { free(pcie); }

/* ---- configuration accesses ---- */

struct target {
  unsigned index;
  bool is_drive;
  uint16_t offset;
};

bool sim_pcie_is_config(struct sim *sim, uint64_t address) {
  uint64_t at;

  return sim_bridge_ecam(sim, address, &at);
}

/* A Xilinx root port answers at each device number of bus 0, and may show the drive at each one of the bus below. */
static uint32_t function_of(struct sim *sim, uint32_t bus, uint32_t function) {
  const struct sim_bridge_config *bridge = sim_bridge_config_of(sim);

  return bridge != NULL && (bus == 0 || bridge->echoes) ? function & 7u : function;
}

/* Type 1 requests go down the port that has their bus. Each bus below has one device, number 0. */
static bool find(struct sim *sim, uint64_t address, struct target *target) {
  uint64_t at;

  (void)sim_bridge_ecam(sim, address, &at);
  const uint32_t bus = (uint32_t)(at >> 20),
                 function = function_of(sim, (uint32_t)(at >> 20), (uint32_t)(at >> 12) & 0xffu);

  target->offset = (uint16_t)(at & 0xffcu);
  target->is_drive = bus != 0;
  target->index = function >> 3;
  if ((function & 7u) != 0) return false;
  if (bus == 0) return port_at(sim, target->index) != NULL;
  if (function != 0) return false;
  for (target->index = 0; target->index < SIM_DRIVES_MAX; target->index++) {
    const struct root_port *port = port_at(sim, target->index);
    if (port != NULL && (get(&port->port, BUS_NUMBERS) >> 8 & 0xffu) == bus) return true;
  }
  return false;
}

/* Does the drive answer? A request within the first 100 ms after its link came up is a violation (6.6.1). */
static bool answers(struct sim *sim, const struct root_port *port, unsigned index) {
  const uint64_t up_ps = sim_now_ps(sim) - port->up_ps;

  if (port->down) sim_bridge_config_lost(sim);
  if (port->down) return false;
  if (!port->came_up) return true;
  if (up_ps < SILENCE_PS)
    sim_violate(sim, "drive %u: a configuration request %u ms after its link came up or it was reset, before 100 ms",
                index, (unsigned)(up_ps / SIM_PS_PER_MS));
  return up_ps >= RETRY_PS;
}

struct sim_drive *sim_pcie_config_drive(struct sim *sim, uint64_t address) {
  struct target target;

  if (!sim_pcie_is_config(sim, address) || !find(sim, address, &target) || !target.is_drive) return NULL;
  return port_at(sim, target.index)->down ? NULL : sim_drive_at(sim, target.index);
}

bool sim_pcie_config_read(struct sim *sim, uint64_t address, uint32_t *value) {
  struct target target;

  *value = ALL_ONES;
  const bool found = find(sim, address, &target);
  if (sim_bridge_control_read(sim, found && !target.is_drive, target.offset, value) || !found) return true;
  const struct root_port *port = port_at(sim, target.index);
  if (target.is_drive && !answers(sim, port, target.index)) {
    const bool visible = sim_shows_retry(sim) && (get(&port->port, ROOT_CONTROL) & ROOT_RETRY_VISIBLE) != 0;
    if (port->down || !visible || target.offset != ID) return false;
    *value = RETRY;
    return true;
  }
  *value = target.offset < CONFIG_BYTES ? get(target.is_drive ? &port->drive : &port->port, target.offset) : 0;
  if (!target.is_drive && target.offset == ROOT_CONTROL && !sim_shows_retry(sim)) *value &= ~ROOT_RETRY_CAPABLE;
  if (!target.is_drive && target.offset == LINK_CONTROL) *value = sim_bridge_link_status(sim, *value);
  return true;
}

void sim_pcie_config_write(struct sim *sim, uint64_t address, uint32_t value) {
  struct target target;

  const bool found = find(sim, address, &target);
  if (sim_bridge_control_write(sim, found && !target.is_drive, target.offset, value) || !found) return;
  struct root_port *port = port_at(sim, target.index);
  if (target.is_drive && !answers(sim, port, target.index)) return;
  if (target.offset >= CONFIG_BYTES) return;
  struct config_space *space = target.is_drive ? &port->drive : &port->port;
  const uint32_t before = get(space, target.offset);
  const uint32_t writable = space->writable[target.offset / 4];
  space->value[target.offset / 4] = (get(space, target.offset) & ~writable) | (value & writable);
  if (!target.is_drive && target.offset == SLOT_CONTROL) space->value[SLOT_CONTROL / 4] &= ~(value & SLOT_LINK_CHANGED);
  if (target.offset == DEVICE_CONTROL) set_packet_sizes(sim, port, sim_drive_at(sim, target.index));
  if (target.is_drive && target.offset == DEVICE_CONTROL && (value & FUNCTION_RESET) != 0)
    sim_drive_function_reset(sim_drive_at(sim, target.index));
  if (!target.is_drive && target.offset == BRIDGE_CONTROL &&
      ((before ^ get(space, BRIDGE_CONTROL)) & SECONDARY_BUS_RESET))
    sim_drive_link_reset(sim_drive_at(sim, target.index), SIM_RESET_BUS, (value & SECONDARY_BUS_RESET) != 0);
}

/* ---- memory accesses ---- */

/* Base and limit of a window are in MiB. The window without upper halves has zeros there. */
static bool is_in(uint64_t address, uint32_t window, uint32_t base_upper, uint32_t limit_upper) {
  const uint64_t base = (uint64_t)base_upper << 32 | (uint64_t)(window & 0xfff0u) << 16;
  const uint64_t limit = (uint64_t)limit_upper << 32 | (window & 0xfff00000u) | 0xfffffu;

  return base <= address && address <= limit;
}

static bool forwards(const struct config_space *port, uint64_t address) {
  if ((get(port, COMMAND) & COMMAND_MEMORY) == 0) return false;
  return is_in(address, get(port, MEMORY_WINDOW), 0, 0) ||
         is_in(address, get(port, PREFETCH_WINDOW), get(port, PREFETCH_BASE_UPPER), get(port, PREFETCH_LIMIT_UPPER));
}

struct sim_drive *sim_pcie_route(struct sim *sim, uint64_t address, uint32_t *offset) {
  if (!sim_bridge_to_bus(sim, address, &address)) return NULL;
  for (unsigned i = 0; i < SIM_DRIVES_MAX; i++) {
    const struct root_port *port = port_at(sim, i);
    if (port == NULL) break;
    if (port->down || !forwards(&port->port, address) || (get(&port->drive, COMMAND) & COMMAND_MEMORY) == 0) continue;
    const uint64_t bar = (uint64_t)get(&port->drive, BAR0 + 4) << 32 | (get(&port->drive, BAR0) & ~UINT32_C(0xf));
    if (address - bar >= SIM_BAR_BYTES || sim_drive_is_silent(sim_drive_at(sim, i))) continue;
    *offset = (uint32_t)(address - bar);
    return sim_drive_at(sim, i);
  }
  return NULL;
}
