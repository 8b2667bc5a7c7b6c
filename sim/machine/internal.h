/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the parts of the simulator call each other. clock.c has the clock and the events, parts.c finds the parts, and
 * sim.c creates them. memory.c has the two views of memory. port.c is the port that the library calls, and unanswered.c
 * says what a read returns that no drive answers. bridge.c is a Xilinx bridge in the place of the generic one, and
 * bridge_link.c its link. logic.c makes accesses for programmable logic in the place of a processor. pcie.c is
 * configuration space. The drive is drive/ (drive_internal.h). What a drive tells the bus goes through struct sim_bus.
 *
 *        library
 *           |  port.c: spends the processor's time, then
 *        pcie.c ------ configuration accesses, and which drive an address belongs to
 *           |
 *      controller.c -- registers and doorbells of one drive, after the link's time
 *        /     \
 *    admin.c   io.c -- commands
 *                |
 *     link.c  media.c  store.c     timing, and contents
 */
#ifndef SPATE_SIM_INTERNAL_H
#define SPATE_SIM_INTERNAL_H

#include "../bus/bridge.h"
#include "../bus/bridge_link.h"
#include "../bus/unanswered.h"
#include "../drive/drive.h"
#include "memory.h"

struct sim_bridge;
struct sim_bus;
struct sim_memory;
struct sim_msi_page;
struct sim_pcie;
struct sim_port;

/* ---- parts.c ---- */
struct sim_memory *sim_memory_of(struct sim *sim);
struct sim_pcie *sim_pcie_of(struct sim *sim);
struct sim_port *sim_port_of(struct sim *sim);
struct sim_unanswered_state *sim_unanswered_of(struct sim *sim);
struct sim_bridge *sim_bridge_of(struct sim *sim); /* NULL: the machine has the generic bridge */
struct sim_msi_page *sim_msi_of(struct sim *sim);  /* the bridge's; NULL: it has none */
const struct sim_bus *sim_bus_of(struct sim *sim);
void sim_set_bridge(struct sim *sim, struct sim_bridge *bridge, struct sim_msi_page *msi);
void sim_set_bus(struct sim *sim, const struct sim_bus *bus);
/* Adds a new drive (sim_drive_add()): the machine keeps it (sim_drive_at()) and frees it. Returns its number. Ends the
 * program if there are SIM_DRIVES_MAX already. */
unsigned sim_attach(struct sim *sim, struct sim_drive *drive);

/* ---- clock.c ---- */
const struct sim_config *sim_config_of(const struct sim *sim);
uint64_t sim_next_sequence(struct sim *sim); /* rises over all drives: orders any two things */
/* How long this many instructions take. */
uint64_t sim_instructions_ps(const struct sim *sim, uint64_t instructions);
/* Something happened that the processor may find at its next look, so it does not idle then. Events and register writes
 * call this by themselves. Register reads do not: reading one register repeatedly is polling, too. */
void sim_active(struct sim *sim);
/* A completion entry is visible now: the processor's next look at the clock is work. */
void sim_completion_seen(struct sim *sim);
/* The processor reads the clock, or relaxes. */
void sim_look(struct sim *sim);
/* Calls the function given to sim_trace(). */
void sim_tell(struct sim *sim, enum sim_access_kind kind, uint64_t address, const void *data, uint64_t bytes);

/* ---- memory.c ---- */
struct sim_memory *sim_memory_new(struct sim *sim);
void sim_memory_free(struct sim_memory *memory);
/* Is the address in a window of logic (logic.h)? Its contents cannot be inspected. */
bool sim_memory_is_window(struct sim *sim, uint64_t address);
/* The processor's accesses to registers of logic in such a window. False: the address is in no window. */
bool sim_window_load32(struct sim *sim, uint64_t address, uint32_t *value);
bool sim_window_store32(struct sim *sim, uint64_t address, uint32_t value);

/* ---- unanswered.c ---- */
struct sim_unanswered_state {
  enum sim_unanswered unanswered;
  uint64_t unanswered_reads;
};
/* What such a read returns. Spends the time that it takes. */
uint32_t sim_unanswered_register(struct sim *sim);
uint32_t sim_unanswered_config(struct sim *sim);
/* Can a root port hand "configuration request retry" to the processor? */
bool sim_shows_retry(struct sim *sim);

/* ---- bridge.c: addresses and registers of a Xilinx bridge, or of the generic one ---- */
void sim_bridge_free(struct sim_bridge *bridge);
const struct sim_bridge_config *sim_bridge_config_of(struct sim *sim); /* NULL: the generic bridge */
/* Whether a CPU address is in configuration space; `*at` is the offset from bus 0. */
bool sim_bridge_ecam(struct sim *sim, uint64_t address, uint64_t *at);
/* Accesses to configuration space, of the root port or of others, that the bridge answers by itself: its own registers
 * in the root port, and everything where the interface is absent. False: it does not. */
bool sim_bridge_control_read(struct sim *sim, bool port, unsigned offset, uint32_t *value);
bool sim_bridge_control_write(struct sim *sim, bool port, unsigned offset, uint32_t value);
/* The second region. False: the address is not in it. */
bool sim_bridge_region_read(struct sim *sim, uint64_t address, uint32_t *value);
bool sim_bridge_region_write(struct sim *sim, uint64_t address, uint32_t value);
/* Whether a CPU address is in an aperture for memory requests, and the address on the bus. False from to_bus(): the
 * bridge does not forward the request. */
bool sim_bridge_is_memory(struct sim *sim, uint64_t address);
bool sim_bridge_to_bus(struct sim *sim, uint64_t address, uint64_t *bus);
/* A memory request was not forwarded, or a configuration request found the link down. */
void sim_bridge_refused(struct sim *sim);
void sim_bridge_config_lost(struct sim *sim);
void sim_bridge_link_changed(struct sim *sim, bool up);
void sim_bridge_link_due(struct sim *sim, uint64_t at_ps); /* when a link that is down will be up */
/* Link Control and Status of the root port, as the bridge shows it. */
uint32_t sim_bridge_link_status(struct sim *sim, uint32_t value);

/* ---- msi.c: the page whose writes a Xilinx bridge takes for MSIs ---- */
struct sim_msi_page {
  uint64_t base; /* bus address, a multiple of 4 KiB */
  uint32_t decode[2];
  uint64_t writes;
};
#define SIM_MSI_PAGE_BYTES UINT64_C(4096)
/* A write of the drive that begins with this byte: true if the bridge takes it for an MSI. */
bool sim_msi_takes(struct sim *sim, uint64_t address, uint8_t data);
/* How many of these bytes are before the page of MSIs begins or ends. */
uint64_t sim_msi_up_to(struct sim *sim, uint64_t address, uint64_t bytes);

/* ---- port.c ---- */
struct sim_port *sim_port_new(void);
void sim_port_free(struct sim_port *way);
/* Posts a register write of programmable logic (logic.c) now. It costs no processor time. */
void sim_port_post(struct sim *sim, uint64_t address, uint32_t value);

/* ---- pcie.c: a host bridge with a root port for each drive ---- */
struct sim_pcie *sim_pcie_new(struct sim *sim);
void sim_pcie_free(struct sim_pcie *pcie);
bool sim_pcie_is_config(struct sim *sim, uint64_t address);
/* The drive that a configuration address selects, if its link is up: the access crosses that link. Otherwise NULL. */
struct sim_drive *sim_pcie_config_drive(struct sim *sim, uint64_t address);
/* False: the drive does not answer. `*value` is all ones. */
bool sim_pcie_config_read(struct sim *sim, uint64_t address, uint32_t *value);
void sim_pcie_config_write(struct sim *sim, uint64_t address, uint32_t value);
/* The drive whose BAR 0 a CPU address reaches, through the root port's window and the command registers of both, while
 * the link is up. NULL: none; such a read is unanswered and a write is dropped. */
struct sim_drive *sim_pcie_route(struct sim *sim, uint64_t address, uint32_t *offset);
/* What a drive tells the bus, and asks it. */
struct sim_bus {
  /* After a link change: resets the drive's configuration space and sets the port's link status. */
  void (*link_changed)(struct sim *sim, unsigned drive_index, bool up);
  void (*link_due)(struct sim *sim, uint64_t at_ps); /* when a link that is down will be up */
  /* Function level reset: resets the drive's configuration space. */
  void (*function_reset)(struct sim *sim, unsigned drive_index);
  /* May this drive access memory? (Bus master enable of the drive and of its port.) */
  bool (*may_master)(struct sim *sim, unsigned drive_index);
};

/* ---- drive/ ---- */
/* Resets from the bus. A function level reset happens at once. A secondary bus reset or PERST# keeps the link down
 * while `on`. */
void sim_drive_function_reset(struct sim_drive *drive);
void sim_drive_link_reset(struct sim_drive *drive, enum sim_reset_kind kind, bool on);
#define SIM_BAR_BYTES UINT64_C(0x4000)
void sim_drive_free(struct sim_drive *drive);
/* Register accesses at the drive, after the link's time. A write left the processor at `sequence`. */
uint32_t sim_drive_register_read(struct sim_drive *drive, uint32_t offset);
void sim_drive_register_write(struct sim_drive *drive, uint32_t offset, uint32_t value, uint64_t sequence);
/* For port.c, which charges the processor's work: how many entries a doorbell write would hand over if it arrived now
 * (new submission entries, or completions given back). 0 for other registers. Changes nothing. */
uint32_t sim_drive_doorbell_entries(const struct sim_drive *drive, uint32_t offset, uint32_t value, bool *completion);

#endif
