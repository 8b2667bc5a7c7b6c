/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a host bridge to a device ready for DMA: link, bus numbers, BARs, bridge windows, payload sizes.
 *
 * Two kinds of bridge behind one interface: generic ECAM (PCI Express base specification 4.0, 7.2.2) and the Xilinx
 * AXI-PCIe root ports (PG055 Zynq-7000, PG194 UltraScale/UltraScale+ XDMA in bridge mode). Nothing is assumed about
 * which bus a drive ends up on: it is found by its class code. All functions here wait, with deadlines, and run once
 * at start-up or after a link came back.
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

/* Bridges and devices that one enumeration handles. */
#define SPATE_PCIE_BRIDGES_MAX 8u
#define SPATE_PCIE_DEVICES_MAX 16u

/* A stretch of CPU address space that a bridge turns into memory accesses on the bus. bus_address and bytes are
 * multiples of 4 KiB. bytes 0: absent. */
struct spate_pcie_window {
  uint64_t cpu_address;
  uint64_t bus_address;
  uint64_t bytes;
};

/* Speed as in the Link Status register: 1 = 2.5 GT/s, 2 = 5, 3 = 8, 4 = 16, 5 = 32, 6 = 64. width in lanes. 0: not
 * known. */
struct spate_pcie_link {
  uint8_t speed, width;         /* as negotiated */
  uint8_t speed_max, width_max; /* what both ends can do */
  bool up;
};

struct spate_pcie_address {
  uint8_t bus, device, function;
};

/* Private: what enumeration set in a function, in case it forgets. */
#define SPATE_PCIE_SAVED_REGISTERS 11u
struct spate_pcie_saved {
  struct spate_pcie_address at;
  uint8_t above; /* one more than the place in host->bridges of the bridge above; 0: there is none */
  uint16_t device_control, link_control; /* offsets of these registers; 0: it has none */
  bool bridge, link_below;
  bool tells_changes; /* a port that remembers when its link changed (Slot Status) */
  uint32_t id;        /* 0: nothing was saved */
  uint32_t changes;   /* of a bridge or the link below it that one device's restoring saw: news for the others there */
  uint64_t changed_ticks; /* when it was last seen that the link below it had changed; 0: never */
  uint32_t registers[SPATE_PCIE_SAVED_REGISTERS];
};

struct spate_pcie_device {
  struct spate_pcie_address address;
  uint16_t vendor_id, device_id;
  uint32_t class_code; /* 24 bits as SPATE_PCIE_CLASS_NVME */
  uintptr_t bar0;      /* BAR 0 in the CPU's address space; 0: it did not fit, or there is none (bar0_bytes 0) */
  uint64_t bar0_bytes;
  struct spate_pcie_link link; /* at this device */
  uint16_t payload_bytes;      /* MPS set along the path */
  uint16_t read_request_bytes; /* MRRS set in the device */

  /* private */
  struct spate_pcie_saved saved;
  uint32_t changes_known; /* of all bridges on the way to it */
  uint8_t links_settled;  /* while it is restored: of the links on the way to it, from the first bus on */
  uint64_t link_up_ticks; /* since when the next of them is up; 0: it was down */
  uint64_t reset_ticks;   /* since when it is being reset */
  uint8_t reset_now;      /* one more than how; 0: it is not */
};

struct spate_pcie_host;

struct spate_pcie_host_ops {
  /* Configuration space, dword aligned. A read of an absent function gives all ones. */
  uint32_t (*config_read)(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset);
  void (*config_write)(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value);
  /* May the function at this address exist at all? (Some root ports alias device 0 onto every device number.) */
  bool (*may_exist)(struct spate_pcie_host *host, struct spate_pcie_address at);
  /* What the bridge's own PHY registers say; UNSUPPORTED where it has none. */
  enum spate_error (*link)(struct spate_pcie_host *host, struct spate_pcie_link *link);
  /* Forward memory requests: for a bridge that stops by itself when its link goes down. NULL: it does not. */
  void (*forward)(struct spate_pcie_host *host);
  /* Does it forward them still, so that its link was up all the time since? NULL: it cannot tell. */
  bool (*forwards)(struct spate_pcie_host *host);
};

/* A host bridge. The first group is set by an open function; the rest by spate_pcie_enumerate(). */
struct spate_pcie_host {
  const struct spate_pcie_host_ops *ops;
  uintptr_t config_base;
  uint8_t first_bus, last_bus;
  struct spate_pcie_window memory;       /* 32-bit bus addresses, not prefetchable; always there */
  struct spate_pcie_window prefetchable; /* may lie above 4 GiB; bytes 0 if there is none */

  struct spate_pcie_device devices[SPATE_PCIE_DEVICES_MAX]; /* endpoints found */
  struct spate_pcie_saved bridges[SPATE_PCIE_BRIDGES_MAX];
  uint8_t device_count;
  uint8_t bridge_count;
  uint8_t left_out; /* bridges and functions that enumeration did without: see failed_at for the first */
  struct spate_pcie_address failed_at; /* where enumeration gave up, or what it left out first, for the message */

  /* private */
  uint64_t link_seen_ticks; /* when the bridge's own link was first seen up; 0: not known */
  uint32_t changes;         /* as of the bridges below: how often restoring made it forward again */
};

struct spate_pcie_ecam_config {
  uintptr_t config_base; /* of bus `first_bus`; a bus takes 1 MiB */
  uint8_t first_bus, last_bus;
  struct spate_pcie_window memory, prefetchable;
};

/* Errors: INVALID; NO_BRIDGE when nothing answers on the first bus. */
SPATE_MUST_CHECK enum spate_error spate_pcie_ecam_open(struct spate_pcie_host *host,
                                                       const struct spate_pcie_ecam_config *config);

struct spate_pcie_xilinx_config {
  uintptr_t control_base; /* AXI-Lite control interface: configuration space with the bridge registers at 0x130–0x17c */
  uint8_t last_bus;       /* as sized in the IP */
  struct spate_pcie_window memory, prefetchable;
  uint32_t link_timeout_ms; /* how long the link may take to train after reset; 0 = 1000 */
};

/*
 * Checks the bridge's identity before anything else is touched, waits for the link (PHY Status/Control 0x144 bit 11;
 * 100 ms more if it was down at first), sets Bridge Enable (Root Port Status/Control 0x148 bit 0), drains the error and
 * interrupt FIFOs. Errors: NO_BRIDGE (not a root port there), LINK_DOWN.
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_xilinx_open(struct spate_pcie_host *host,
                                                         const struct spate_pcie_xilinx_config *config);

/*
 * Give every bus its number, every memory BAR its place, open the bridges' windows, set bus master, match MPS and MRRS
 * along each path, and list the endpoints. The caller released PERST# at `perst_released_ticks` (spate_port_ticks();
 * 0: long ago): 100 ms after that the first access is made, and 100 ms after the end of training of a link that can do
 * more than 5 GT/s (base specification 6.6.1), which is when it was first seen up. A device that answers "configuration
 * request retry", or nothing although its link is up, is asked again for up to 1 s.
 *
 * A BAR that does not fit the host's windows is left out, the largest first, and an endpoint's BAR 0 last of all. It is
 * put at the end of the 32- or 64-bit address space; where a window reaches there too, its function decodes no memory.
 *
 * What cannot be enumerated does not hide the rest: a device that is never ready, what there is more than
 * SPATE_PCIE_BRIDGES_MAX, SPATE_PCIE_DEVICES_MAX or the bridge's buses allow, and what is below a bridge whose own BAR
 * can be put nowhere is switched off and counted in left_out. Errors, each only when no endpoint is left: NO_DEVICE
 * (nothing anywhere; also an empty slot), LINK_DOWN (nothing anywhere, and a port without a link), NOT_READY, WINDOW (a
 * bridge's own BAR), TOPOLOGY; failed_at says where.
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_enumerate(struct spate_pcie_host *host, uint64_t perst_released_ticks);

/* The n-th (from 0) endpoint of a class. Errors: NO_DEVICE (no endpoint at all), WRONG_CLASS (none of this class, or
 * fewer), WINDOW (`device` is the one, but its BAR 0 did not fit). */
SPATE_MUST_CHECK enum spate_error spate_pcie_find(const struct spate_pcie_host *host, uint32_t class_code, unsigned n,
                                                  const struct spate_pcie_device **device);

/* Read the device's link again. OK (also for a device without a link of its own), LINK_DOWN, or LINK_DEGRADED when it
 * is slower or narrower than both ends can do. */
SPATE_MUST_CHECK enum spate_error spate_pcie_link_check(struct spate_pcie_host *host, struct spate_pcie_device *device);

/*
 * A device lost its configuration, because its link went down and came back, or because it was reset: one step towards
 * what spate_pcie_enumerate() had set, for it and for the bridges above it: bus numbers, windows, BARs, command
 * registers, payload sizes. What still is as it was is not written, so that nobody else's traffic is disturbed. Never
 * waits: call it again while it gives BUSY (a link is down or in training, less than 100 ms up as far as these calls
 * have seen, or the device asks to be tried again). `device` may be a copy, as long as it is the same in each of these
 * calls. Errors: NO_DEVICE (something else answers there, or this device was never enumerated).
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_restore(struct spate_pcie_host *host, struct spate_pcie_device *device);

/*
 * Is each link on the way to the device up, and was it so all the time since the device was enumerated or restored?
 * Asks ports only, never what is below them, so that the answer comes whatever became of the link. A port that cannot
 * report its link counts as up. One that reports its link, but not changes of it (no slot, and no bridge that stops by
 * itself), does not show a link that dropped and came back. Devices that share ports, as below a switch, are each told
 * of a change, also when another of them was restored meanwhile.
 */
bool spate_pcie_link_is_up(struct spate_pcie_host *host, const struct spate_pcie_device *device);

/*
 * Take bus mastering away from the device, or where it does not answer, from the port above it, with all that is below.
 * When this gives OK, it writes no more, until spate_pcie_restore() or spate_pcie_enumerate(). What the device wrote
 * before is in memory, as its answer came behind it; where it was the port that answered, what had passed that port may
 * still be on its way for a moment. Errors: NO_DEVICE (neither took it).
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_isolate(struct spate_pcie_host *host,
                                                     const struct spate_pcie_device *device);

enum spate_pcie_reset {
  SPATE_PCIE_RESET_FUNCTION, /* function level reset (6.6.2): this function alone */
  SPATE_PCIE_RESET_BUS,      /* secondary bus reset by the port right above: refused where others are below that port */
};

/*
 * One step of a reset. Never waits: call it again while it gives BUSY. After OK the device has lost its configuration:
 * spate_pcie_restore() brings it back. Errors: UNSUPPORTED (the function has no such reset; there is no port above; or
 * another device of host->devices would be reset, too, such as another function), NO_DEVICE (it does not answer).
 */
SPATE_MUST_CHECK enum spate_error spate_pcie_reset(struct spate_pcie_host *host, struct spate_pcie_device *device,
                                                   enum spate_pcie_reset how);

/* The device was reset in some other way (PERST#): its link is waited for anew, from the next spate_pcie_restore() on.
 */
void spate_pcie_was_reset(struct spate_pcie_device *device);

/* Speed in MT/s for a Link Status code (2500, 5000, 8000, 16000, 32000, 64000), 0 if not known. */
uint32_t spate_pcie_speed_mts(uint8_t speed);

#ifdef __cplusplus
}
#endif
#endif
