/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programmable logic as the drives' host, in the place of a processor: windows, which are addresses at which logic
 * answers instead of memory, and the logic's own accesses to registers and configuration space.
 *
 * The simulation of the logic has a clock of its own. A device's access to a window happens in an event of virtual
 * time. No virtual time passes until the window's function returns, however many cycles the logic took. An access by
 * the logic carries the time at which the logic makes it, also when the logic makes it from within such a function.
 */
#ifndef SPATE_SIM_LOGIC_H
#define SPATE_SIM_LOGIC_H

#include "sim.h"

/*
 * Logic computes what is read and takes what is written. The simulator stores nothing, so a window has no second view,
 * and no barrier can be missing: logic knows at once what it has done. The processor, too, can have registers in a
 * window: its 32-bit accesses arrive at once.
 */
struct sim_window {
  uint64_t address, bytes; /* on the bus, below all memory: SIM_WINDOWS_END */
  void (*read)(void *context, uint64_t address, uint8_t *data, uint64_t bytes);
  void (*write)(void *context, uint64_t address, const uint8_t *data, uint64_t bytes);
  void *context;
};

#define SIM_WINDOWS_END UINT64_C(0x0800000000)

/* The window exists as long as the machine. An access that is only partly in a window reaches nothing. */
void sim_window_add(struct sim *sim, const struct sim_window *window);

/* A posted write of a drive's register, which leaves at `at_ps`. If no drive is at the address, the write is
 * dropped. */
void sim_logic_post(struct sim *sim, uint64_t at_ps, uint64_t address, uint32_t value);

/* An access with an answer: a register read, or any access to configuration space. */
struct sim_logic_access {
  uint64_t address;
  bool write;
  uint32_t value; /* written, or read; all ones if nothing answered */
  bool nobody;    /* register accesses: no drive was at the address when the request arrived */
  void (*answered)(void *context, const struct sim_logic_access *access);
  void *context;
  struct sim *sim; /* for the simulator's use, until the answer */
  uint64_t back_ps;
};

/* `access` belongs to the caller, and must stay in place until it is answered. */
void sim_logic_ask(struct sim *sim, uint64_t at_ps, struct sim_logic_access *access);

#endif
