/* SPDX-License-Identifier: Apache-2.0 */
/* What some drives need beyond the specification. The drives are in quirks.def. */
#ifndef SPATE_NVME_QUIRKS_H
#define SPATE_NVME_QUIRKS_H

#include <stdint.h>

enum nvme_need {
  /* 2.3 s between the write that clears CC.EN and the first read of CSTS. If CSTS is read too early, they do not become
   * ready again, or stop responding (seen after a firmware activation). The time is in nvme.h of Linux, and was found
   * by experiment on 1c58:0003. */
  NVME_PAUSE = 1 << 0,
  /* Write Zeroes hangs, or takes minutes. Ordinary writes take its place. */
  NVME_NO_WRITE_ZEROES = 1 << 1,
  /* TRIM hangs. No row: the driver finds out. */
  NVME_NO_TRIM = 1 << 2,
  /* EUI64 and NGUID are the same in all drives of a model, or change over a reset: a namespace is not recognised by
   * them. */
  NVME_NO_IDENTIFIERS = 1 << 3,
  /* Submission queues of medium priority, also without weighted arbitration. */
  NVME_MEDIUM_PRIORITY = 1 << 4,
  /* CAP.MQES of 0 means 64 entries. */
  NVME_DEEPER_QUEUES = 1 << 5,
  /* A function level reset while CC.EN is 1 takes the configuration space off the bus. */
  NVME_STOP_BEFORE_FLR = 1 << 6,
};
#define NVME_NEEDS 7u /* number of them */

/* A set of enum nvme_need. 0: this drive needs nothing. */
uint32_t spate_nvme_needs(uint16_t vendor_id, uint16_t device_id);

/* quirk_names.c: the drive's name. NULL: it has no row. */
const char *spate_nvme_known_as(uint16_t vendor_id, uint16_t device_id);

#endif
