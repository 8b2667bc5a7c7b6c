/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a host bridge to a device that is ready for DMA: link, bus numbers, BARs, bridge windows, payload sizes.
 *
 * Two kinds of bridge have one interface: generic ECAM (PCI Express base specification 4.0, 7.2.2) and the Xilinx
 * AXI-PCIe root ports (PG055 Zynq-7000, PG194 UltraScale/UltraScale+ XDMA in bridge mode). A drive may be on any bus:
 * it is found by its class code. Unless a function says that it never waits, it waits, with a deadline. The functions
 * run once at start-up, or after a link came back.
 */
#ifndef SPATE_PCIE_H
#define SPATE_PCIE_H

#include <spate/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_PCIE_CLASS_NVME UINT32_C(0x010802) /* base class, sub-class, programming interface */

/* The most bridges and devices that one enumeration handles. */
#define SPATE_PCIE_BRIDGES_MAX 8u
#define SPATE_PCIE_DEVICES_MAX 16u

/* A range of CPU addresses whose accesses a bridge forwards to the bus. bus_address and bytes are multiples of 4 KiB.
 * The processor must reach all of it, and two windows share no address. bytes 0: there is no such window. */
struct spate_pcie_window {
  uint64_t cpu_address;
  uint64_t bus_address;
  uint64_t bytes;
};

/* Speed as in the Link Status register: 1 = 2.5 GT/s, 2 = 5, 3 = 8, 4 = 16, 5 = 32, 6 = 64. width in lanes. 0: not
 * known. */
struct spate_pcie_link {
  uint8_t speed, width;         /* as negotiated */
  uint8_t speed_max, width_max; /* the most that both ends support */
  bool up;
};

/* What the physical layer of a bridge's own link reports. */
struct spate_pcie_phy {
  bool up;
  /* The six bits of the link training and status state machine, numbered as the bridge's integrated block does: PG054
   * (7 series: L0 is 0x16), PG156 and PG213 (UltraScale and UltraScale+: L0 is 0x10), PG343 (Versal; taken to be as
   * PG213). */
  uint8_t ltssm;
  uint8_t lane_reversal; /* two bits, 0: none. PG194 calls them reserved, so 0 proves nothing there */
  /* Speed and width are 0 while the link is down. The maxima are those of the root port alone, from its PCI Express
   * capability; 0: it has none. */
  struct spate_pcie_link link;
};

/* Where a function is on the bus. */
struct spate_pcie_address {
  uint8_t bus, device, function;
};

#define SPATE_PCIE_SAVED_REGISTERS 11u

/* Private: what enumeration set in a function, to restore it after a reset. */
struct spate_pcie_saved {
  struct spate_pcie_address at;
  uint8_t above;                         /* the bridge above: index in host->bridges + 1; 0: there is none */
  uint16_t device_control, link_control; /* offsets of these registers; 0: it has none */
  bool bridge, link_below;
  bool tells_changes; /* a port that records changes of its link (Slot Status) */
  uint32_t id;        /* 0: nothing was saved */
  uint32_t changes; /* resets of a bridge, or changes of its link, that were found while a device below was restored */
  uint64_t changed_ticks; /* when a change of the link below was last found; 0: never */
  uint32_t registers[SPATE_PCIE_SAVED_REGISTERS];
};

/* An endpoint, as enumeration found it. */
struct spate_pcie_device {
  struct spate_pcie_address address;
  uint16_t vendor_id, device_id;
  uint32_t class_code; /* 24 bits, as SPATE_PCIE_CLASS_NVME */
  uintptr_t bar0;      /* BAR 0 in the CPU's address space; 0: it did not fit, or there is none (bar0_bytes 0) */
  uint64_t bar0_bytes;
  struct spate_pcie_link link; /* at this device */
  uint16_t payload_bytes;      /* MPS set along the path */
  uint16_t read_request_bytes; /* MRRS set in the device */

  /* private */
  struct spate_pcie_saved saved;
  uint32_t changes_known; /* the sum of `changes` of all bridges on the path when it was enumerated or restored */
  uint8_t links_settled;  /* during a restore: how many links on the path have settled, from the first bus on */
  uint64_t link_up_ticks; /* since when the next link is up; 0: it was down */
  uint64_t reset_ticks;   /* when the reset in progress began */
  uint8_t reset_now;      /* the reset in progress: enum spate_pcie_reset + 1; 0: none */
};

struct spate_pcie_host;

/* What a kind of bridge implements. The functions below call these. */
struct spate_pcie_host_ops {
  /* Configuration space, dword aligned. A read of an absent function gives all ones. */
  uint32_t (*config_read)(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset);
  void (*config_write)(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value);
  /* Whether a function can exist at this address. (Some root ports show device 0 at every device number.) */
  bool (*may_exist)(struct spate_pcie_host *host, struct spate_pcie_address at);
  /* Reads the link from the bridge's own PHY registers. UNSUPPORTED: it has none. */
  enum spate_error (*link)(struct spate_pcie_host *host, struct spate_pcie_link *link);
  /* Starts to forward memory requests. For a bridge that stops by itself when its link goes down. NULL: not needed. */
  void (*forward)(struct spate_pcie_host *host);
  /* Whether it still forwards them, so that its link was up since forward(). NULL: not known. */
  bool (*forwards)(struct spate_pcie_host *host);
  /* As spate_pcie_phy(). NULL: it has no such registers. */
  enum spate_error (*phy)(struct spate_pcie_host *host, struct spate_pcie_phy *phy);
};

/* A host bridge. The first group is set by an open function; the rest by spate_pcie_enumerate(). */
struct spate_pcie_host {
  const struct spate_pcie_host_ops *ops;
  uintptr_t config_base;
  uintptr_t bridge_base; /* where the bridge's own register of offset 0 would be; 0: it has none */
  uint8_t first_bus, last_bus;
  struct spate_pcie_window memory;       /* 32-bit bus addresses, not prefetchable; required */
  struct spate_pcie_window prefetchable; /* may be above 4 GiB; bytes 0 if there is none */
  uint32_t ready_timeout_ms;

  struct spate_pcie_device devices[SPATE_PCIE_DEVICES_MAX]; /* endpoints found */
  struct spate_pcie_saved bridges[SPATE_PCIE_BRIDGES_MAX];
  uint8_t device_count;
  uint8_t bridge_count;
  uint8_t left_out; /* number of bridges and functions that enumeration left out; the first is failed_at */
  struct spate_pcie_address failed_at; /* where enumeration failed, or what it left out first, for a message */

  /* private */
  uint64_t link_seen_ticks; /* when the bridge's own link was first seen up; 0: not known */
  uint32_t changes;         /* as that of a bridge: how often a restore found that it no longer forwarded */
};

/* A bridge with ECAM. */
struct spate_pcie_ecam_config {
  uintptr_t config_base; /* of bus `first_bus`, a multiple of 1 MiB; each bus has 1 MiB */
  uint8_t first_bus, last_bus;
  struct spate_pcie_window memory, prefetchable;
  uint32_t ready_timeout_ms; /* how long a device may not be ready when its link is up; 0 = 3000 */
};

/* Open a bridge with ECAM. Errors: INVALID (config_base, last_bus, or a window), NO_BRIDGE (nothing responds on the
 * first bus). */
SPATE_MUST_CHECK enum spate_error spate_pcie_ecam_open(struct spate_pcie_host *host,
                                                       const struct spate_pcie_ecam_config *config);

/* On Versal the bridge's registers are this much further on: PHY Status/Control at 0xe1c instead of 0x144. */
#define SPATE_PCIE_XILINX_VERSAL UINT32_C(0xcd8)

/* A Xilinx AXI-PCIe root port. */
struct spate_pcie_xilinx_config {
  uintptr_t control_base; /* configuration space (ECAM) from bus 0 on. A multiple of 1 MiB */
  /*
   * Where the bridge's own register of offset 0 would be, a multiple of 4. PHY Status/Control is read at bridge_base +
   * 0x144. 0: in the configuration space of the root port, at control_base.
   *
   *   Zynq-7000 (PG055), UltraScale(+) (PG194)  0
   *   Versal, QDMA in logic (PG302, PG344)      SPATE_PCIE_XILINX_VERSAL + base of S_AXI_LITE_CSR
   *   Versal, CPM4 (PG347)                      SPATE_PCIE_XILINX_VERSAL + control_base, which is 0x600000000
   *   Versal, CPM5 (AM012, CPM5_DMA_CSR)        SPATE_PCIE_XILINX_VERSAL + 0xfce20000 (controller 0), 0xfcea0000 (1)
   */
  uintptr_t bridge_base;
  uint8_t last_bus; /* as configured in the IP */
  struct spate_pcie_window memory, prefetchable;
  uint32_t link_timeout_ms;  /* how long the link may take to train after reset; 0 = 1000 */
  uint32_t ready_timeout_ms; /* how long a device may not be ready when its link is up; 0 = 3000 */
};

/*
 * Check the bridge's identity before any other access, wait for the link (PHY Status/Control 0x144 bit 11; 100 ms more
 * if it was down at first), mask the bridge's interrupts, drain its error and interrupt FIFOs, move the page whose
 * writes it takes for MSIs to where no memory is, and set Bridge Enable (Root Port Status/Control 0x148 bit 0). The
 * vendor id is not checked, because a design may set any. Errors: INVALID (control_base, bridge_base, last_bus 0, or a
 * window), NO_BRIDGE (there is no root port, or its own registers do not respond), LINK_DOWN. After each of them except
 * INVALID, `host` can be used for spate_pcie_phy().
 *
 * After LINK_DOWN it may be called again. A link that came up in between looks as if it had been up for long: then give
 * spate_pcie_enumerate() the time at which PERST# was released, so that it waits.
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_xilinx_open(struct spate_pcie_host *host,
                                                         const struct spate_pcie_xilinx_config *config);

/*
 * Number the buses, assign addresses to memory BARs and bridge windows, set bus master, match MPS and MRRS along each
 * path, and list the endpoints. The caller released PERST# at `perst_released_ticks` (spate_port_ticks(); 0: long ago).
 * The first access is made 100 ms after that. A link above 5 GT/s is used 100 ms after the end of its training (base
 * specification 6.6.1), counted from when it was first seen up. A device that returns "configuration request retry", or
 * does not respond although its link is up, is asked again for up to ready_timeout_ms of the bridge's configuration.
 * This time is counted from when the port above was found to have a link.
 *
 * What earlier firmware left on is turned off: decoding, bus mastering, an expansion ROM, a secondary bus reset, a
 * power state other than D0, relaxed ordering and No Snoop. A device that shows at several numbers of a bus is listed
 * once. Where a port ignores the payload size that is written, all below it get what it has, if that is smaller.
 *
 * BARs that do not fit the host's windows are left out, the largest first, and an endpoint's BAR 0 last. Such a BAR is
 * placed at the end of the 32- or 64-bit address space. If a window reaches there too, the function decodes no memory.
 *
 * Functions that cannot be enumerated are switched off and counted in left_out, and do not hide the others: a device
 * that is never ready, functions beyond SPATE_PCIE_BRIDGES_MAX, SPATE_PCIE_DEVICES_MAX or the bridge's buses, and
 * everything below a bridge whose own BAR fits nowhere. Errors, each only if no endpoint is left: NO_DEVICE (there is
 * none, or the slot is empty), LINK_DOWN (there is none, and a port has no link), NOT_READY, WINDOW (a bridge's own
 * BAR), TOPOLOGY. failed_at says where.
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_enumerate(struct spate_pcie_host *host, uint64_t perst_released_ticks);

/* Find the n-th (from 0) endpoint of a class. Errors: NO_DEVICE (no endpoint at all), WRONG_CLASS (not so many of this
 * class), WINDOW (`device` is set, but its BAR 0 did not fit). */
SPATE_MUST_CHECK enum spate_error spate_pcie_find(struct spate_pcie_host *host, uint32_t class_code, unsigned n,
                                                  struct spate_pcie_device **device);

/* Read the device's link again. OK (also for a device without a link of its own), LINK_DOWN, or LINK_DEGRADED if it is
 * slower or narrower than both ends support. */
SPATE_MUST_CHECK enum spate_error spate_pcie_link_check(struct spate_pcie_host *host, struct spate_pcie_device *device);

/*
 * For a device that lost its configuration because its link dropped or because it was reset: restore, step by step,
 * what spate_pcie_enumerate() had set in the device and in the bridges above it: bus numbers, windows, BARs, command
 * registers, payload sizes. A register that still has its value is not written, so that the traffic of others is not
 * disturbed.
 *
 * Never waits. Call it again while it returns BUSY: a link is down or in training, or these calls have seen it up for
 * less than 100 ms, or the device asks for a retry. `device` may be a copy, but must be the same one in each call.
 * Errors: BUSY, NO_DEVICE (another device responds, or this device was never enumerated).
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_restore(struct spate_pcie_host *host, struct spate_pcie_device *device);

/*
 * Whether all links on the path to the device are up, and stayed up since the device was enumerated or restored. Reads
 * registers of ports only, never of what is below them, so that it works whatever happened to the link. The link of a
 * port that does not report it counts as up. A port that reports its link, but not changes of it (no slot, and no
 * bridge that stops by itself), does not show a link that dropped and came back. After a change the function returns
 * false once for each device that shares the port, as below a switch, even if another device was restored first.
 */
bool spate_pcie_link_is_up(struct spate_pcie_host *host, const struct spate_pcie_device *device);

/*
 * Turn off bus mastering of the device. If the device does not respond, turn it off in the port above it, which affects
 * everything below that port. After OK the device does not write to memory until spate_pcie_restore() or
 * spate_pcie_enumerate(). If the device responded, its earlier writes are in memory: its completion did not pass them.
 * If the port responded, writes that had passed the port may arrive a moment later. Errors: NO_DEVICE (neither
 * responded).
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_isolate(struct spate_pcie_host *host,
                                                     const struct spate_pcie_device *device);

/* Resets of a function, by what they reset. */
enum spate_pcie_reset {
  SPATE_PCIE_RESET_FUNCTION, /* function level reset (6.6.2): this function alone */
  SPATE_PCIE_RESET_BUS,      /* secondary bus reset by the port above: refused if other devices are below that port */
};

/*
 * One step of a reset. Never waits: call it again while it returns BUSY. After OK the device has lost its
 * configuration, and spate_pcie_restore() restores it. Errors: BUSY, UNSUPPORTED (the function has no such reset; there
 * is no port above; or another device of host->devices, such as another function, would be reset, too), NO_DEVICE (it
 * does not respond).
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_reset(struct spate_pcie_host *host, struct spate_pcie_device *device,
                                                   enum spate_pcie_reset how);

/* Tell the library that the device was reset in another way (PERST#). The next spate_pcie_restore() waits for its links
 * to settle again. */
void spate_pcie_was_reset(struct spate_pcie_device *device);

/*
 * Read the state of the bridge's own link. Never waits, and accesses the root port only. `host` may be one whose open
 * function found no link or no bridge: a link that does not come up can be watched. Errors: UNSUPPORTED (ECAM, or
 * a host that was never opened), NO_BRIDGE (there is no root port now; `phy` is zero).
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_phy(struct spate_pcie_host *host, struct spate_pcie_phy *phy);

/* The speed in MT/s of a Link Status code (2500, 5000, 8000, 16000, 32000, 64000), 0 if not known. */
uint32_t spate_pcie_speed_mts(uint8_t speed);

#ifdef __cplusplus
}
#endif
#endif
