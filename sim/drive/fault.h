/* SPDX-License-Identifier: Apache-2.0 */
/* Injected faults. A fault waits for matching commands, lets `skip` of them pass, and then applies to `count` of them.
 */
#ifndef SPATE_SIM_FAULT_H
#define SPATE_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum sim_action {
  SIM_STATUS,      /* completes with the low half of `value` as status field (without phase), after as many ms as
                      the high half says; not carried out */
  SIM_LOSE,        /* carried out, never completed; Abort does not find it */
  SIM_STALL,       /* nothing happens until an Abort */
  SIM_DOUBLE,      /* completed twice, the second time `value` ms later and as a success */
  SIM_LATE,        /* completed `value` ms later */
  SIM_WRONG_ID,    /* a completion with identifier XOR `value` comes before the right one */
  SIM_WRONG_QUEUE, /* a completion with another submission queue's identifier comes before the right one */
  SIM_MISDIRECT,   /* completed with another submission queue's identifier, and not with its own */
  SIM_WRONG_PHASE, /* its completion is written with the previous lap's phase bit, and never again */
  SIM_FATAL,       /* CSTS.CFS, and no command completes any more */
  SIM_RESET,       /* the controller resets itself: CC.EN reads 0, commands in flight are dropped */
  SIM_POWER_CUT,   /* the drive loses power and comes back disabled, one power cycle older */
  SIM_LINK_DROP,   /* the link is down for `value` ms; the drive comes back unconfigured, as after PERST# */
  SIM_GONE,        /* the link goes down and stays down */
  SIM_SILENCE,     /* sim_drive_silence() */
  SIM_GARBAGE,     /* the data it returns (Identify, logs, reads) is random; completed with success */
  SIM_ZEROS,       /* the data it returns is zeros; completed with success */
  SIM_HOLD,        /* completes only after `value` later commands have completed */
  SIM_PHANTOM,     /* a Read, Write or Flush completes with success, and nothing of it happens: no data move to or from
                      the media, and a flush makes nothing durable */
  SIM_ELSEWHERE,   /* a Write, or another command that changes blocks, goes to those `value` further on; completed with
                      success */
};

struct sim_fault {
  enum sim_action action;
  bool admin;                   /* true: admin queue; false: I/O queues */
  int16_t opcode;               /* −1: any */
  uint64_t first_lba, last_lba; /* I/O: commands that touch this range; both 0: any */
  uint32_t skip;                /* how many pass first */
  uint32_t count;               /* how many are hit; UINT32_MAX: all */
  uint32_t value;
};

#endif
