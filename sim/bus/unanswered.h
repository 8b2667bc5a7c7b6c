/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the processor gets for a read that no drive answers, because the drive's link is down, the read misses its BAR,
 * or it is not ready for configuration requests. Host bridges differ here, and a driver has to work with each of them.
 *
 * Product guides (AMD), by section. PG194 is the bridge for UltraScale and UltraScale+, PG055 the one for 7 series:
 * - PG194, "Abnormal Configuration Transaction Termination Responses": a configuration request whose completion does
 *   not come is returned with OKAY and data of zeros. One for a bus that is not there: SLVERR.
 * - PG194, "Completion Timeout": a memory read whose completion does not come ends in SLVERR (AXI Bridge), or in OKAY
 *   with zeros (DMA/Bridge Subsystem in bridge mode). "Unsupported Request": an error response with arbitrary data.
 * - PG194, on the loss of the link: reads in progress end in SLVERR with arbitrary data.
 * - PG055, table 3-6: SLVERR with arbitrary data for unsupported requests, completion timeouts and completer aborts.
 * Some interconnects turn SLVERR into an exception of the processor. Others ignore it, and the processor gets the data.
 * An access without a link may also get no answer at all.
 */
#ifndef SPATE_SIM_UNANSWERED_H
#define SPATE_SIM_UNANSWERED_H

#include "../machine/sim.h"

enum sim_unanswered {
  SIM_UNANSWERED_ONES,      /* all ones, as on a PC: the default */
  SIM_UNANSWERED_ZEROS,     /* zeros */
  SIM_UNANSWERED_ABORT,     /* the access traps, and the port's handler yields all ones */
  SIM_UNANSWERED_ARBITRARY, /* arbitrary data (seeded) */
  SIM_UNANSWERED_NEVER,     /* the bus hangs until the port's firewall answers instead of the bridge, with all ones */
  SIM_UNANSWERED_PG194,     /* registers: as ABORT. Configuration: zeros, after a completion timeout */
  SIM_UNANSWERED_MODES
};

/*
 * Sets what unanswered reads return from now on. The root complex itself always answers all ones for ports and buses
 * that do not exist. Only in the modes ONES and ARBITRARY can a bridge report "configuration request retry". In the
 * others, hardware repeats the request until it counts as unanswered.
 */
void sim_set_unanswered(struct sim *sim, enum sim_unanswered mode);

/* How many reads were not answered. */
uint64_t sim_unanswered_reads(struct sim *sim);

#endif
