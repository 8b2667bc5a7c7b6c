/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processor gets for a read that no drive answers: its link is down, its BAR is not where the read goes, or it
 * is not ready for configuration requests. Host bridges differ in this, and a driver has to live with each of them.
 *
 * Product guides (AMD), by section. PG194 is the bridge for UltraScale and UltraScale+, PG055 the one for 7 series:
 * - PG194, "Abnormal Configuration Transaction Termination Responses": a configuration request whose completion does
 *   not come is answered with OKAY and data of zeros. One for a bus that is not there: SLVERR.
 * - PG194, "Completion Timeout": a memory read whose completion does not come ends in SLVERR (AXI Bridge), or in OKAY
 *   with zeros (DMA/Bridge Subsystem in bridge mode). "Unsupported Request": an error response with arbitrary data.
 * - PG194, on the loss of the link: reads in progress end in SLVERR with arbitrary data.
 * - PG055, table 3-6: SLVERR with arbitrary data for unsupported requests, completion time-outs and completer aborts.
 * SLVERR becomes an exception where the interconnect hands it to the processor, and is ignored, so that the data count,
 * where it does not. An access without a link may also get no answer at all.
 */
#ifndef SPATE_SIM_UNANSWERED_H
#define SPATE_SIM_UNANSWERED_H

#include "sim.h"

enum sim_unanswered {
  SIM_UNANSWERED_ONES,      /* all ones, as on a PC: what a machine does until told otherwise */
  SIM_UNANSWERED_ZEROS,     /* zeros */
  SIM_UNANSWERED_ABORT,     /* the access traps, and the port's handler yields all ones */
  SIM_UNANSWERED_ARBITRARY, /* whatever was on the wires: by the seed */
  SIM_UNANSWERED_NEVER,     /* the bus hangs, until the port's firewall answers in the bridge's place, with all ones */
  SIM_UNANSWERED_PG194,     /* registers: as ABORT. Configuration: zeros, after a completion time-out */
  SIM_UNANSWERED_MODES
};

/*
 * Sets what unanswered reads give from now on. The root complex itself always answers all ones for what it has not got
 * (ports, buses without a number). A bridge in a mode other than ONES and ARBITRARY cannot show "configuration request
 * retry" either: the request is repeated in hardware until it counts as unanswered.
 */
void sim_set_unanswered(struct sim *sim, enum sim_unanswered mode);

/* How many reads ended so. */
uint64_t sim_unanswered_reads(struct sim *sim);

#endif
