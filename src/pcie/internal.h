/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the tree that one enumeration builds on its stack. */
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
  bool opened;              /* a bridge whose bus was given a number and was scanned, or that has nothing below */
  bool wide_prefetch;       /* it and all bridges above forward 64-bit prefetchable addresses */
  bool link_is_up;          /* a port whose link is known to be up: what is below it answers, if late */
  bool in_the_way;          /* a BAR without a place lies across a host window: memory decoding stays off */
  bool left_out;            /* a bridge that cannot be used, with all that is below it */
  uint8_t secondary;        /* bus below a bridge; 0: none */
  uint8_t express_type;     /* enum express_type */
  uint8_t payload_code;     /* Max_Payload_Size Supported: 128 << code bytes; then what is set */
  uint8_t payload_least;    /* on the first bus: the least that any function from there down supports */
  uint16_t express;         /* offset of the PCI Express capability; 0: none */
  uint8_t saved;            /* a bridge: one more than its place in host->bridges */
  uint64_t link_seen_ticks; /* a port: when its link was first seen up; 0: it was not */
};

enum pcie_window { PCIE_MEMORY, PCIE_PREFETCH, PCIE_NO_PLACE };

/* A stretch of bus addresses that one function claims: a BAR, or a bridge's window over all that is below it. */
struct pcie_resource {
  uint64_t bytes;
  uint64_t align;
  uint64_t address; /* on the bus; while the bus is laid out: from the start of the window above it */
  struct pcie_function *function;
  uint8_t bar;    /* its register; 0: a bridge's window */
  uint8_t window; /* enum pcie_window */
  bool wide;      /* a 64-bit BAR */
};

struct pcie_tree {
  struct spate_pcie_host *host;
  uint64_t deadline_ticks; /* for links to come up and devices to be ready */
  struct pcie_function functions[PCIE_FUNCTIONS_MAX];
  struct pcie_resource resources[PCIE_RESOURCES_MAX];
  uint8_t function_count, resource_count, endpoint_count, bridge_count;
  uint8_t last_bus;                  /* highest number given so far */
  uint64_t reset_ticks;              /* when PERST# was released: links may have come up only now; 0: long ago */
  enum spate_error first_error;      /* why something was left out, for the first that was */
  bool host_link_is_up;              /* the host says so of the link below its bridge */
  bool link_is_down;                 /* a port below which nothing was found has no link ... */
  struct spate_pcie_address down_at; /* ... this one */
};

/* config.c: configuration space, out of line and by pointer, as there are many calls of it. */
uint32_t spate_pcie_read(const struct pcie_function *function, unsigned offset);
void spate_pcie_write(const struct pcie_function *function, unsigned offset, uint32_t value);
/* Change bits of a register whose upper half is status: those bits clear when written 1, so they are written 0. */
void spate_pcie_change(const struct pcie_function *function, unsigned offset, uint32_t clear, uint32_t set);
#define PCIE_SETTLE_MS 100u /* no request within this time of a reset, or of a link that came up (6.6.1) */
/* scan.c: wait until 100 ms after `since_ticks`, a reset or a link that came up. */
void spate_pcie_settle(uint64_t since_ticks);
/* scan.c: enumeration does without this function, and goes on. */
void spate_pcie_leave_out(struct pcie_tree *tree, const struct pcie_function *function, enum spate_error error);
/* ecam.c: the operations of every bridge whose configuration space is mapped as ECAM. */
uint32_t spate_pcie_ecam_read(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset);
void spate_pcie_ecam_write(struct spate_pcie_host *host, struct spate_pcie_address at, uint16_t offset, uint32_t value);
/* scan.c: offset of the PCI Express capability, 0 if there is none. */
uint16_t spate_pcie_find_express(const struct pcie_function *function);

/* scan.c: is there a link below it, with one device at its other end? */
bool spate_pcie_has_link_below(const struct pcie_function *function);
/* scan.c: does this port remember that its link changed? It takes a slot, and a port that reports its link at all. */
bool spate_pcie_tells_changes(const struct pcie_function *function);

/* scan.c: number the buses and list the functions. */
void spate_pcie_scan(struct pcie_tree *tree);
/* resources.c: size what the functions claim, place it in the host's windows, program BARs and bridge windows. */
void spate_pcie_place(struct pcie_tree *tree);
/* The host's window of this kind. */
const struct spate_pcie_window *spate_pcie_host_window(const struct spate_pcie_host *host, unsigned window);
/* What spate_pcie_enumerate() sets Max_Read_Request_Size to: every bridge here takes reads of 512 bytes. */
#define PCIE_READ_REQUEST_BYTES 512u

/* link.c: payload and read request sizes, power management off; then what a device's link came to. */
void spate_pcie_match_payload(struct pcie_tree *tree);
void spate_pcie_read_link(const struct pcie_function *function, struct spate_pcie_link *link);
/* restore.c: keep what enumeration set in a function. */
void spate_pcie_save(const struct pcie_function *function, struct spate_pcie_saved *saved);
/* upstream.c: the bridges above a device, the nearest first, as one more than their places in host->bridges. Their
 * number.
 */
unsigned spate_pcie_path(const struct spate_pcie_host *host, const struct spate_pcie_device *device,
                         uint8_t path[SPATE_PCIE_BRIDGES_MAX]);
/* upstream.c: is the link below this bridge up? One that cannot tell: it may be. */
bool spate_pcie_port_link_is_up(const struct pcie_function *function, const struct spate_pcie_saved *bridge);
/* upstream.c: as spate_pcie_link_is_up(), but for the host bridge's own forwarding. */
bool spate_pcie_links_stayed_up(struct spate_pcie_host *host, const struct spate_pcie_device *device);
/* upstream.c: from now on a change of this bridge's link is a new one. It is counted for the other devices below. */
void spate_pcie_forget_change(const struct pcie_function *function, struct spate_pcie_saved *bridge);
/* upstream.c: of the host and the bridges above this device. */
uint32_t spate_pcie_changes(const struct spate_pcie_host *host, const struct spate_pcie_device *device);
/* Nobody answered: all ones on most bridges, zeros where a configuration completion time-out reads as OKAY (PG194). */
static inline bool spate_pcie_is_silence(uint32_t id) { return id == PCI_ID_ABSENT || id == 0; }
/* pcie.c: are these windows such as the library can use? */
bool spate_pcie_windows_valid(const struct spate_pcie_window *memory, const struct spate_pcie_window *prefetchable);

#endif
