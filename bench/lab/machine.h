/* SPDX-License-Identifier: Apache-2.0 */
/* The machine of an experiment: drives of one profile, the library opened on them, and a ring that logic fills. */
#ifndef SPATE_LAB_MACHINE_H
#define SPATE_LAB_MACHINE_H

#include "measure.h"
#include "options.h"
#include "tap.h"
#include <machine/stack.h>

struct lab_machine {
  const struct lab_options *options;
  const struct sim_profile *profile;
  struct sim_profile surrounded; /* with the ambient temperature of the options */
  struct sim_stack *stack;
  struct sim *sim;
  struct spate_region *ring;
  struct lab_tap tap;
  uint64_t busy_start_ps, start_ps;
};

/* `ring_bytes` of memory that the stream goes through. Ends the program if the library reports an error. */
void lab_machine_open(struct lab_machine *machine, const struct lab_options *options, uint64_t ring_bytes);
void lab_machine_close(
    struct lab_machine *machine); /* shuts the drives down, and ends the program if there were violations */

/* Starts measuring time and the processor's work. */
void lab_machine_start(struct lab_machine *machine);
uint64_t lab_machine_elapsed_ps(const struct lab_machine *machine);

/* The source writes its stamps into `bytes` of the ring: from offset `at` of the clip on. */
void lab_ring_stamp(struct lab_machine *machine, uint64_t ring_offset, uint64_t at, uint64_t bytes);
/* The number of pages in the ring that do not have the stamps from offset `at` of the clip on. */
uint64_t lab_ring_wrong(struct lab_machine *machine, uint64_t ring_offset, uint64_t at, uint64_t bytes);

/* The stamp that the drives hold at byte `at` of the block device, a multiple of 4096. */
bool lab_machine_stamp(struct lab_machine *machine, uint64_t at, struct sim_stamp *stamp);

/* The temperature of the hottest drive, the worst state of the media, and the longest time of throttling. */
double lab_machine_celsius(const struct lab_machine *machine);
unsigned lab_machine_medium(const struct lab_machine *machine);
double lab_machine_throttled_s(const struct lab_machine *machine);

/* Writes what the experiment runs on: model, link and its highest rate, processor. */
void lab_machine_write(const struct lab_machine *machine, struct json *json);
/* Writes rate, time, processor load and commands since lab_machine_start(). */
void lab_machine_write_work(const struct lab_machine *machine, uint64_t bytes, uint64_t elapsed_ps, struct json *json);

/* Unless `error` is OK, ends the program and says what failed. */
void lab_expect(enum spate_error error, const char *what);

#endif
