/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Xilinx bridges as the machine's root port: register models for what no emulator has. Without such a bridge the
 * machine has the generic one of sim.h.
 *
 * Each model follows the product guide that its family names, and where a guide does not say, the Linux driver of the
 * bridge (pcie-xilinx.c, pcie-xilinx-dma-pl.c, pcie-xilinx-cpm.c) or AMD's bare-metal one (embeddedsw, xdmapcie_hw.h).
 * The register list is in bridge.c. The bridge has one root port, whose link leads to the machine's only drive.
 *
 * What a request without an answer gives is set by sim_set_unanswered() (unanswered.h), as with the generic bridge. A
 * memory request that the bridge itself refuses counts as unanswered.
 *
 * Violations, in addition to those of the machine:
 * - a configuration request below the bridge when its link has been down for 10 us (Linux pcie-xilinx-dma-pl.c,
 *   valid_device(): the whole bridge needs a reset after it);
 * - a write to an interface that is absent or in reset;
 * - a write to a register that PG055 calls reserved.
 */
#ifndef SPATE_SIM_BRIDGE_H
#define SPATE_SIM_BRIDGE_H

#include "../machine/sim.h"

enum sim_bridge_family {
  SIM_BRIDGE_NONE,  /* the generic bridge */
  SIM_BRIDGE_PG055, /* AXI Memory Mapped to PCI Express: Zynq-7000 */
  SIM_BRIDGE_PG194, /* DMA/Bridge Subsystem (XDMA) in bridge mode: Zynq UltraScale+ */
  SIM_BRIDGE_QDMA,  /* PG302, PG344: QDMA in logic, Versal */
  SIM_BRIDGE_CPM4,  /* PG347: Versal */
  SIM_BRIDGE_CPM5,  /* PG347, AM012: Versal */
  SIM_BRIDGE_FAMILIES
};

/* What answers at an interface of the bridge. */
enum sim_bridge_presence {
  SIM_BRIDGE_PRESENT,
  SIM_BRIDGE_READS_ZEROS, /* an interconnect without the bridge, as QEMU's xlnx-zcu102 */
  SIM_BRIDGE_READS_ONES,  /* logic in reset whose interconnect answers */
  SIM_BRIDGE_ABORTS,      /* as QEMU's xlnx-versal-virt. The port yields all ones */
};

/* How far the link gets. */
enum sim_bridge_training {
  SIM_BRIDGE_TRAINS,
  SIM_BRIDGE_STUCK_IN_DETECT,        /* no receiver: no drive, no power, or lanes not connected */
  SIM_BRIDGE_STUCK_IN_POLLING,       /* receivers, but no training sequence is understood: clock, polarity, PERST# */
  SIM_BRIDGE_STUCK_IN_CONFIGURATION, /* lane numbers do not agree */
};

struct sim_bridge_config {
  enum sim_bridge_family family;
  enum sim_bridge_presence presence, registers; /* of ECAM; of the second region (QDMA, CPM5) */
  enum sim_bridge_training training;
  uint32_t training_ms;     /* until the link is up, from sim_bridge_fit() on; 0: it is up already */
  uint32_t speed_change_ms; /* for how long the link stays at 2.5 GT/s after that; 0: no time */
  uint8_t lane_reversal;    /* PG055 alone reports it */
  uint32_t port_id;         /* device and vendor; 0: Xilinx */
  bool translates;          /* the AXI BARs: CPU and bus addresses differ (not on Versal) */
  bool high_bar;            /* the drive's BAR 0 is prefetchable, and the window for it above 4 GiB */
  bool reports_link;        /* Data Link Layer Link Active and its changes, in a slot */
  bool echoes;              /* the drive answers at each device number of its bus, instead of only at 0 */
  uint16_t errors;          /* entries in the root port error FIFO, from training */
  uint16_t interrupts;      /* entries in the interrupt FIFO (PG055) */
  /* What earlier firmware left. */
  bool interrupts_on;  /* all masks set, and INTA and an MSI pending */
  uint64_t msi_base;   /* bus address, a multiple of 4 KiB; 0 is also the value after reset */
  bool endless_errors; /* the error FIFO never empties */
};

/* Where the processor finds it. A window of 0 bytes does not exist. */
struct sim_bridge_map {
  uint64_t control, region; /* ECAM from bus 0; the second region, 0: there is none */
  uint8_t last_bus;
  struct {
    uint64_t cpu, bus, bytes;
  } memory, high;
};

/* Puts the bridge above the machine's only drive, before the first access. Its link goes down to train. */
void sim_bridge_fit(struct sim *sim, const struct sim_bridge_config *config);
struct sim_bridge_map sim_bridge_map_of(const struct sim_bridge_config *config);

/* The offset of the bridge's register 0x130 and its neighbours, against PG194's: 0, or 0xcd8 on Versal. */
uint32_t sim_bridge_shift(enum sim_bridge_family family);

/* The logic is reset (anything but PRESENT), or comes out of reset: its registers have their reset values. */
void sim_bridge_set_presence(struct sim *sim, enum sim_bridge_presence presence);

/* ---- what it did ---- */

struct sim_bridge_counters {
  uint64_t slave_errors; /* memory requests while Bridge Enable was not set */
  uint64_t msi_writes;   /* writes of the drive that were taken for MSIs */
  uint64_t enables;      /* times that Bridge Enable was set */
};
struct sim_bridge_counters sim_bridge_counters(struct sim *sim);
/* Whether an interrupt line to the processor is asserted. */
bool sim_bridge_interrupts(struct sim *sim);
/* Entries that are left in the FIFOs. */
uint32_t sim_bridge_fifo_entries(struct sim *sim);

#endif
