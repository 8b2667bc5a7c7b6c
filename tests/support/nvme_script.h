/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script of raw commands that uses nearly every command of an NVMe controller, correctly and incorrectly, and records
 * the answers. Two controllers with the same properties give the same record.
 * It requires 64 MiB of 512-byte blocks, 8 I/O queue pairs, MDTS 2 MiB, four asynchronous event requests, a volatile
 * write cache, an LBA format 0 of 512 bytes, and trimmed blocks that read as zeros.
 */
#ifndef NVME_SCRIPT_H
#define NVME_SCRIPT_H

#include "raw_nvme.h"

#define NVME_SCRIPT_BYTES   (UINT64_C(64) << 20) /* of the drive */
#define NVME_SCRIPT_RECORDS 256u                 /* more than the script makes */

/* The result of a step. */
struct nvme_record {
  char name[64];
  uint32_t status, id, queue, head, phase, result;
  uint64_t value; /* of data or registers */
};

/* Returns the number of records. Ends the program with a message if a completion does not come. */
unsigned nvme_script(struct raw_nvme *raw, struct nvme_record records[NVME_SCRIPT_RECORDS]);

#endif
