/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PERST# of a slot, by a pin of the processing system (MIO, or EMIO into the logic) or by AXI GPIO. The level is kept
 * for at least 100 us (PCI Express Card Electromechanical specification, T_PERST and T_PERST-CLK), so the reference
 * clock must run before. The functions write the level before they make the pin an output, so that no glitch
 * ends the drive's reset early.
 */
#ifndef SPATE_PORTS_PERST_H
#define SPATE_PORTS_PERST_H

#include <spate/error.h>
#include <stdbool.h>
#include <stdint.h>

#define PERST_US 100u

enum perst_kind {
  PERST_BY_NOTHING, /* something else releases it, such as a reset of the logic or a circuit on the board */
  PERST_BY_MIO,
  PERST_BY_EMIO,
  PERST_BY_AXI_GPIO,
};

/* The GPIO controller of a processing system: how many MIO pins a bank has, and which bank EMIO begins with. EMIO has
 * 32 pins a bank. Zynq-7000: 32 and 2 (UG585, chapter 14); Zynq UltraScale+: 26 and 3 (UG1085, chapter 27); Versal's
 * PMC_GPIO: 26 and 3 (AM011, "GPIO Controller"). */
struct perst_banks {
  uintptr_t base;
  uint8_t mio_pins, first_emio;
};

struct perst {
  enum perst_kind kind;
  uint8_t pin;      /* of MIO or EMIO; of AXI GPIO: 0–31 in the first channel, 32–63 in the second */
  bool active_high; /* an inverter is between the pin and PERST#: a high level resets the drive */
  struct perst_banks banks;
  /* AXI GPIO, whose outputs cannot be read back (PG144, GPIO_DATA): base address, and the levels of the channel's other
   * outputs, which each write sets, too. */
  uintptr_t axi_gpio;
  uint32_t other_outputs;

  /* private */
  bool resetting;
  uint64_t since_ticks;
};

/* Resets the drive, and waits. Returns spate_port_ticks() of the release; 0 if nothing is to be done
 * (PERST_BY_NOTHING). */
uint64_t perst_cycle(struct perst *perst);

/* The same in steps, as spate_nvme_pcie.perst wants it: never waits, returns BUSY until PERST# is released. Errors:
 * UNSUPPORTED (PERST_BY_NOTHING). */
SPATE_MUST_CHECK enum spate_error perst_step(struct perst *perst);

#endif
