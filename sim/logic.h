/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programmable logic as the drives' host, in the place of a processor: windows, addresses at which logic answers
 * instead of memory, and the logic's own accesses to registers and configuration space.
 *
 * Whoever simulates the logic has a clock of its own. Device accesses to a window happen in the events of virtual time,
 * and the functions return when they are over, however many cycles of the logic that took: meanwhile no time passes
 * here. What the logic does at its time `at_ps` is asked for with that time, from within such a function too.
 */
#ifndef SPATE_SIM_LOGIC_H
#define SPATE_SIM_LOGIC_H

#include "sim.h"

/* Logic composes what is read and takes what is written; nothing is kept here. So there are no two views of it, and no
 * barrier that could be missing: when a drive is told of something, then logic knows it. The processor, too, can have
 * registers in a window: its 32-bit accesses arrive at once. */
struct sim_window {
  uint64_t address, bytes; /* on the bus, below all memory: SIM_WINDOWS_END */
  void (*read)(void *context, uint64_t address, uint8_t *data, uint64_t bytes);
  void (*write)(void *context, uint64_t address, const uint8_t *data, uint64_t bytes);
  void *context;
};

#define SIM_WINDOWS_END UINT64_C(0x0800000000)

/* It stays as long as the machine. An access that is only partly in a window belongs to nobody. */
void sim_window_add(struct sim *sim, const struct sim_window *window);

/* A posted write of a drive's register, which leaves at `at_ps`. What no drive is at is dropped. */
void sim_logic_post(struct sim *sim, uint64_t at_ps, uint64_t address, uint32_t value);

/* An access that is answered: a read of a register, any access to configuration space. */
struct sim_logic_access {
  uint64_t address;
  bool write;
  uint32_t value; /* written, or read; all ones where nobody answered */
  bool nobody;    /* of a register: no drive was there when the request arrived */
  void (*answered)(void *context, const struct sim_logic_access *access);
  void *context;
  struct sim *sim; /* the simulator's, until it is answered */
  uint64_t back_ps;
};

/* `access` is the caller's, and stays where it is until it is answered. */
void sim_logic_ask(struct sim *sim, uint64_t at_ps, struct sim_logic_access *access);

#endif
