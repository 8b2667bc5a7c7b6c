/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Misbehaviour on request. A fault waits for the commands it names, lets some pass, and then happens to one or many.
 */
#ifndef SPATE_SIM_FAULT_H
#define SPATE_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum sim_action {
  SIM_STATUS,      /* completes with the low half of `value` as status field (without phase), as many ms later as the
                      high half says; not carried out */
  SIM_LOSE,        /* carried out, never completed; an Abort does not find it */
  SIM_STALL,       /* nothing happens until an Abort takes it */
  SIM_DOUBLE,      /* completed twice, the second time `value` ms later and as a success */
  SIM_LATE,        /* completed `value` ms later */
  SIM_WRONG_ID,    /* a completion with identifier XOR `value` comes before the right one */
  SIM_WRONG_QUEUE, /* a completion with another submission queue's identifier comes before the right one */
  SIM_MISDIRECT,   /* completed with another submission queue's identifier, and not with its own */
  SIM_WRONG_PHASE, /* its completion is written with the phase bit of the lap before, then nothing */
  SIM_FATAL,       /* CSTS.CFS, and nothing completes any more */
  SIM_RESET,       /* the controller resets itself: CC.EN reads 0, what was in flight is forgotten */
  SIM_POWER_CUT,   /* the drive loses power and comes back disabled, one power cycle older */
  SIM_LINK_DROP,   /* the link is down for `value` ms; the drive comes back unconfigured, as after PERST# */
  SIM_GONE,        /* the link is down for good */
  SIM_SILENCE,     /* sim_drive_silence() */
  SIM_GARBAGE,     /* the data it returns (Identify, logs, reads) is random; completed as if all were well */
  SIM_HOLD,        /* held until `value` later commands have completed: out of order by that much */
};

struct sim_fault {
  enum sim_action action;
  bool admin;                   /* of the admin queue, else of I/O queues */
  int16_t opcode;               /* −1: any */
  uint64_t first_lba, last_lba; /* I/O: touching these; both 0: any */
  uint32_t skip;                /* so many pass first */
  uint32_t count;               /* so many are hit; UINT32_MAX: all from then on */
  uint32_t value;
};

#endif
