/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder: the tree that one enumeration builds on its stack. */
#ifndef SPATE_PCIE_INTERNAL_H
#define SPATE_PCIE_INTERNAL_H

#include "../core/ticks.h"
#include "registers.h"

#include <spate/pcie.h>
#include <spate/port.h>

#define PCIE_FUNCTIONS_MAX (SPATE_PCIE_BRIDGES_MAX + SPATE_PCIE_DEVICES_MAX)
#define PCIE_RESOURCES_MAX (6u * SPATE_PCIE_DEVICES_MAX + 4u * SPATE_PCIE_BRIDGES_MAX) /* BARs and windows: all */
#define PCIE_MIB           UINT64_C(0x100000)

struct pcie_function {
  struct spate_pcie_host *host;
  struct pcie_function *parent; /* the bridge above, listed before it; NULL on the first bus */
  struct spate_pcie_address at;
  bool bridge;
  bool opened;              /* a bridge whose secondary bus was scanned, or that has nothing below it */
  bool wide_prefetch;       /* it and all bridges above forward 64-bit prefetchable addresses */
  bool was_reset;           /* a bridge that enumeration has woken, or whose secondary bus reset it has ended */
  bool link_is_up;          /* a port whose link is known to be up: the device below it responds, perhaps late */
  bool memory_off;          /* a BAR without a place overlaps a host window: memory decoding stays off */
  bool left_out;            /* a bridge that cannot be used, with everything below it */
  uint8_t secondary;        /* bus below a bridge; 0: none */
  uint8_t express_type;     /* enum express_type */
  uint8_t payload_code;     /* 128 << code bytes: first Max_Payload_Size Supported, then the size that is set */
  uint8_t payload_least;    /* on the first bus: the smallest payload_code of this function and all below it */
  uint16_t express;         /* offset of the PCI Express capability; 0: none */
  uint8_t saved;            /* a bridge: index in host->bridges + 1 */
  uint64_t link_seen_ticks; /* a port: when its link was first seen up; 0: never */
};

enum pcie_window { PCIE_MEMORY, PCIE_PREFETCH, PCIE_NO_PLACE };

/* A range of bus addresses of one function: a BAR, or a bridge's window over everything below the bridge. */
struct pcie_resource {
  uint64_t bytes;
  uint64_t align;
  uint64_t address; /* on the bus; during layout, an offset in the window above */
  struct pcie_function *function;
  uint8_t bar;    /* offset of the register; 0: a bridge's window */
  uint8_t window; /* enum pcie_window */
  bool wide;      /* a 64-bit BAR */
};

struct pcie_tree {
  struct spate_pcie_host *host;
  uint64_t link_by_ticks;  /* the deadline for links to come up */
  uint64_t ready_by_ticks; /* for the devices of the bus that is scanned to be ready, ready_ticks after it was opened */
  uint64_t ready_ticks;
  struct pcie_function functions[PCIE_FUNCTIONS_MAX];
  struct pcie_resource resources[PCIE_RESOURCES_MAX];
  uint8_t function_count, resource_count, endpoint_count, bridge_count;
  uint8_t last_bus;             /* highest bus number in use */
  uint64_t reset_ticks;         /* when PERST# was released: links may be up only since then; 0: long ago */
  enum spate_error first_error; /* why the first function that was left out was left out */
  bool host_link_is_up;         /* the host bridge reports that its link is up */
  bool link_is_down;            /* the port at `down_at` has no link, and nothing was found below it */
  struct spate_pcie_address down_at;
};

/* config.c: configuration space. Out of line to save code, because there are many calls. */
uint32_t spate_pcie_read(const struct pcie_function *function, unsigned offset);
void spate_pcie_write(const struct pcie_function *function, unsigned offset, uint32_t value);
/* Changes bits of a register whose upper half is status. Status bits are cleared by a 1, so they are written as 0. */
void spate_pcie_change(const struct pcie_function *function, unsigned offset, uint32_t clear, uint32_t set);
#define PCIE_LINK_MS   1000u /* how long a link may take to come up */
#define PCIE_SETTLE_MS 100u  /* no request within this time after a reset or after a link came up (6.6.1) */
/* scan.c: waits until 100 ms after `since_ticks`, when a reset ended or a link came up. */
void spate_pcie_settle(uint64_t since_ticks);
/* scan.c: counts this function as left out. Enumeration continues without it. */
void spate_pcie_leave_out(struct pcie_tree *tree, const struct pcie_function *function, enum spate_error error);
/* ecam.c: the operations of every bridge whose configuration space is mapped as ECAM. */
uint32_t spate_pcie_ecam_read(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset);
void spate_pcie_ecam_write(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value);
/* scan.c: offset of the PCI Express capability, 0 if there is none. */
uint16_t spate_pcie_find_express(const struct pcie_function *function);

/* scan.c: whether the function is a port with a link below it, which has one device at its other end. */
bool spate_pcie_has_link_below(const struct pcie_function *function);
/* scan.c: whether the port records changes of its link. It needs a slot and Data Link Layer Link Active Reporting. */
bool spate_pcie_tells_changes(const struct pcie_function *function);

/* scan.c: numbers the buses and lists the functions. */
void spate_pcie_scan(struct pcie_tree *tree);
/* resources.c: sizes BARs, places them in the host's windows, and programs BARs and bridge windows. */
void spate_pcie_place(struct pcie_tree *tree);
/* The host's window of this kind. */
const struct spate_pcie_window *spate_pcie_host_window(const struct spate_pcie_host *host, unsigned window);
/* spate_pcie_enumerate() sets Max_Read_Request_Size to this: every supported bridge accepts reads of 512 bytes. */
#define PCIE_READ_REQUEST_BYTES 512u

/* link.c: sets payload and read request sizes, and turns power management of links off. */
void spate_pcie_match_payload(struct pcie_tree *tree);
void spate_pcie_read_link(const struct pcie_function *function, struct spate_pcie_link *link);
/* Speed and width from Link Status and Link Capabilities. */
void spate_pcie_read_speed(const struct pcie_function *function, struct spate_pcie_link *link);
/* restore.c: saves the registers that enumeration set in a function. */
void spate_pcie_save(const struct pcie_function *function, struct spate_pcie_saved *saved);
/* upstream.c: the bridges above a device, the nearest first, as index in host->bridges + 1. Returns their number. */
unsigned spate_pcie_path(const struct spate_pcie_host *host, const struct spate_pcie_device *device,
                         uint8_t path[SPATE_PCIE_BRIDGES_MAX]);
/* upstream.c: whether the link below this bridge is up. True for a bridge that does not report its link. */
bool spate_pcie_port_link_is_up(const struct pcie_function *function, const struct spate_pcie_saved *bridge);
/* upstream.c: as spate_pcie_link_is_up(), but without the host bridge's own forwarding. */
bool spate_pcie_links_stayed_up(struct spate_pcie_host *host, const struct spate_pcie_device *device);
/* upstream.c: clears the recorded change of this bridge's link, and counts it for the other devices below. */
void spate_pcie_forget_change(const struct pcie_function *function, struct spate_pcie_saved *bridge);
/* upstream.c: the number of changes of the host and of the bridges above this device. */
uint32_t spate_pcie_changes(const struct spate_pcie_host *host, const struct spate_pcie_device *device);
/* pcie.c: whether the library can use these windows on a processor whose last address is `cpu_last` (UINTPTR_MAX; a
 * parameter so that 32-bit processors can be tested). */
bool spate_pcie_windows_valid(const struct spate_pcie_window *memory, const struct spate_pcie_window *prefetchable,
                              uint64_t cpu_last);

#endif
