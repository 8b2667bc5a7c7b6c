/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of an experiment: drives of a profile, the library brought up on them, and a ring that logic fills. */
#ifndef SPATE_LAB_MACHINE_H
#define SPATE_LAB_MACHINE_H

#include "measure.h"
#include "options.h"
#include "tap.h"
#include <stack.h>

struct lab_machine {
  const struct lab_options *options;
  const struct sim_profile *profile;
  struct sim_profile surrounded; /* the same in other air */
  struct sim_stack *stack;
  struct sim *sim;
  struct spate_region *ring;
  struct lab_tap tap;
  uint64_t busy_start_ps, start_ps;
};

/* `ring_bytes` of memory that the stream goes through. Ends the program when the library refuses. */
void lab_machine_open(struct lab_machine *machine, const struct lab_options *options, uint64_t ring_bytes);
void lab_machine_close(struct lab_machine *machine); /* shuts the drives down, and looks for violations */

/* Time and the processor's work count from here. */
void lab_machine_start(struct lab_machine *machine);
uint64_t lab_machine_elapsed_ps(const struct lab_machine *machine);

/* The source writes its stamps into `bytes` of the ring: pages `at` and on of the one clip there is. */
void lab_ring_stamp(struct lab_machine *machine, uint64_t ring_offset, uint64_t at, uint64_t bytes);
/* The number of pages in the ring that are not what lies at `at` of the clip. */
uint64_t lab_ring_wrong(struct lab_machine *machine, uint64_t ring_offset, uint64_t at, uint64_t bytes);

/* The stamp that the drives hold for byte `at` of the block device, a multiple of 4096. */
bool lab_machine_stamp(struct lab_machine *machine, uint64_t at, struct sim_stamp *stamp);

/* Of the hottest drive, and of the one in the worst state. */
double lab_machine_celsius(const struct lab_machine *machine);
unsigned lab_machine_medium(const struct lab_machine *machine);
double lab_machine_throttled_s(const struct lab_machine *machine);

/* What everything ran on: model, link and its bound, processor. */
void lab_machine_write(const struct lab_machine *machine, struct json *json);
/* Rate, time, processor, commands of what was done since lab_machine_start(). */
void lab_machine_write_work(const struct lab_machine *machine, uint64_t bytes, uint64_t elapsed_ps, struct json *json);

/* `error` is OK, or the program ends and says what failed. */
void lab_expect(enum spate_error error, const char *what);

#endif
