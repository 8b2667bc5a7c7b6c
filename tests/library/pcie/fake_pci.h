/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI Express configuration space without hardware: functions in a tree, which ECAM reaches through the bus numbers
 * that the code under test assigned, with virtual time. It defines the host_* functions of the hosted port.
 *
 * A test builds the tree, runs the library, and then asks which function a memory access reaches: the destination of
 * requests counts, not the contents of registers.
 */
#ifndef FAKE_PCI_H
#define FAKE_PCI_H

#include <spate/pcie.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_ECAM_BASE     UINT64_C(0x7000000000)
#define FAKE_FUNCTIONS_MAX 64u
#define FAKE_MS            UINT64_C(1000000) /* ticks */
#define FAKE_NEVER         UINT64_MAX
#define FAKE_POWER         0x40u /* offset of the power management capability */
#define FAKE_EXPRESS       0x70u /* offset of the PCI Express capability */
#define FAKE_BOUNCE_MS     20u
#define FAKE_LINK_CHANGED  0x01000000u /* Slot Status: data link layer state changed */

enum fake_type {
  FAKE_ENDPOINT = 0x0,
  FAKE_ROOT_PORT = 0x4,
  FAKE_UPSTREAM = 0x5,
  FAKE_DOWNSTREAM = 0x6,
  FAKE_INTEGRATED = 0x9
};

struct fake_function {
  struct fake_function *parent; /* the bridge above; NULL on the first bus */
  uint8_t device, function;
  uint32_t config[1024];
  uint32_t writable[1024]; /* bits that keep what is written */
  uint32_t status[1024];   /* bits that clear when written 1: writing 1 is counted as an offence */
  uint32_t clears[1024];   /* bits that clear when written 1, and may be written */
  uint64_t bar_bytes[6];
  uint64_t ready_ticks;  /* until then it answers "configuration request retry" */
  uint64_t silent_ticks; /* until then it does not answer, as where a bridge turns "retry" into all ones */
  uint64_t link_ticks;   /* of a port: when its link comes up */
  uint64_t wake_ms;      /* how long it asks for retries after it was woken */
  uint64_t train_ms;     /* of a bridge: how long its link trains after a reset of its secondary bus */
  uint64_t drop_ticks;   /* when its link goes down for good; 0: never */
  uint64_t bounce_ticks; /* when its link goes down for FAKE_BOUNCE_MS and comes up again; 0: never */
  bool was_up;           /* the link's state at the last access */
  bool removed;          /* answers no request any more */
  bool answers_all;      /* a port that answers with device 0 for every device number */
  unsigned writes;       /* to its configuration space */
  uint64_t awake_ticks;  /* when ASPM was last turned off; 0: never */
  unsigned fifo_left[2]; /* entries in the Xilinx bridge's FIFOs at 0x154 and 0x158 */
  uint32_t decoded;      /* what happens, and its interrupt decode (0x138) shows, as soon as it forwards */
};

struct fake_pci {
  struct fake_function functions[FAKE_FUNCTIONS_MAX];
  unsigned count;
  uint64_t now_ticks;
  uint64_t first_access_ticks; /* 0: none yet */
  uint64_t first_below_ticks;  /* the same, for a bus below a bridge, whether the access arrived or not */
  unsigned accesses;
  unsigned status_offences;      /* writes that cleared status bits */
  unsigned decoding_offences;    /* writes to BARs that were being decoded */
  bool first_bus_answers_all;    /* as answers_all, for the first bus */
  uint64_t phy_ticks;            /* until then the Xilinx bridge's PHY status shows the link down */
  uint64_t phy_drop_ticks;       /* from then on the PHY status shows it down again; 0: never */
  uint32_t background;           /* the value of reads that no function answers */
  unsigned stop_access;          /* before this access the processor stops for a while; 0: never */
  struct fake_function *bounces; /* the link of this port bounces meanwhile, and is up again */
};

extern struct fake_pci fake;

/* Reset the model. Time starts at 1 s, because 0 means "long ago" to the library. */
void fake_reset(void);

struct fake_function *fake_endpoint(struct fake_function *parent, unsigned device, unsigned function,
                                    uint32_t class_code);
struct fake_function *fake_bridge(struct fake_function *parent, unsigned device, enum fake_type type);

/* flags: the low bits of the BAR: 0 32-bit, 4 64-bit, 8 prefetchable, 1 I/O. */
void fake_bar(struct fake_function *function, unsigned index, uint64_t bytes, uint32_t flags);

/* Max payload as a code (128 << code), the link's capabilities and its trained state. */
void fake_express(struct fake_function *function, unsigned payload_code, unsigned speed_max, unsigned width_max,
                  unsigned speed, unsigned width);

/* The dword at an offset of the PCI Express capability. */
uint32_t *fake_express_register(struct fake_function *function, unsigned offset);

/* The BAR that a memory access at this bus address reaches; NULL: none. Two such BARs fail the test. */
struct fake_function *fake_decode(uint64_t bus_address, unsigned *bar);

/* The link below a port goes down until `up_ticks`. Everything below it is reset: writes are forgotten, and some
 * registers come up in a state that the library has to change. */
void fake_link_drop(struct fake_function *port, uint64_t up_ticks);

/* The address of a function's BAR; 0: not placed. */
uint64_t fake_bar_address(const struct fake_function *function, unsigned index);

/* True if a memory request of this function reaches the CPU's memory: bus mastering is on in every function on the
 * path. */
bool fake_can_dma(const struct fake_function *function);

#endif
