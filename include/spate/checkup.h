/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The doctor for a board without an operating system: one call that brings a drive up step by step, as far as possible.
 * It reports facts, one line each, and findings (spate/doctor.h), each when it is made. If a board hangs, its console
 * shows the last step.
 *
 *   step        facts                                                  findings
 *   clock       rate                                                   stopped, runs backwards
 *   bridge      opened or why not, link states, receivers, windows     no bridge, no receiver, lanes, signals
 *   drive       the devices that were found                            no drive, empty slots, ports without a link
 *   path        speed, width, payloads, buses, windows, errors         those of `spate doctor`; interrupts
 *   registers   CAP, VS, CC, CSTS                                      not reached, a window that translates
 *   DMA         queue memory, data to and from memory, clock           wrong address, missing coherency; clock's rate
 *   driver      identity, namespace, temperature                       health, namespaces
 *   read        rate, temperature after it                             errors on the path and throttling meanwhile
 *   write       rate; only if asked for                                the same; data that differ
 *
 * A step that fails ends the checkup if the next ones need it. The drive is shut down at the end, and the memory
 * belongs to the caller again. Only the last step writes to the drive's media. Errors that the functions on the path
 * have recorded are cleared once they are judged.
 */
#ifndef SPATE_CHECKUP_H
#define SPATE_CHECKUP_H

#include <spate/doctor.h>
#include <spate/nvme_pcie.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A line about the board or the drive. */
struct spate_checkup_fact {
  const char *name;                    /* what the line is about, such as "link" */
  const struct spate_pcie_address *at; /* of a function; NULL: not about one */
  const char *text;                    /* one line. Valid during the call */
};
#define SPATE_CHECKUP_LINE_BYTES 200u

/* What to check. `host`, `queue_memory`, `buffer` and `fact` are required. */
struct spate_checkup_config {
  /* Opens the bridge and enumerates: spate_pcie_..._open(), then spate_pcie_enumerate(). An error of either is judged.
   * NULL: `host` is enumerated already. */
  enum spate_error (*open)(void *context, struct spate_pcie_host *host);
  void *open_context;
  struct spate_pcie_host *host;
  enum spate_doctor_ltssm ltssm; /* how the bridge numbers its link states */
  unsigned drive;                /* the n-th NVMe drive of `host` */

  /* As spate_nvme_config.queue_memory. SPATE_CHECKUP_QUEUE_MEMORY_BYTES are taken from the next page boundary on, and
   * given back at the end unless the drive did not stop. */
  struct spate_arena *queue_memory;
  /* Memory like that in which a program has its data: cached, if the board has caches. Page aligned, contiguous for
   * the drive, at least SPATE_CHECKUP_BUFFER_BYTES_MIN; 4 MiB are enough for the full rate. It is overwritten. */
  void *buffer;
  size_t buffer_bytes;

  /* Write to these blocks, which OVERWRITES them. write_blocks 0: write nothing. */
  uint64_t write_lba, write_blocks;

  void (*fact)(void *context, const struct spate_checkup_fact *fact);
  void *fact_context;
};

#define SPATE_CHECKUP_DEPTH 4u /* commands in flight while rates are measured: each needs a list page */
#define SPATE_CHECKUP_QUEUE_MEMORY_BYTES                                                                               \
  (SPATE_NVME_CONTROLLER_MEMORY_BYTES + SPATE_NVME_QUEUE_MEMORY_BYTES(SPATE_CHECKUP_DEPTH, SPATE_CHECKUP_DEPTH))
#define SPATE_CHECKUP_BUFFER_BYTES_MIN (SPATE_CHECKUP_DEPTH * SPATE_PAGE_BYTES)

/* Private, and of the caller so that it can be allocated: about 6 KB. Findings point into it. */
struct spate_checkup {
  const struct spate_checkup_config *config;
  struct spate_doctor *doctor;
  struct spate_pcie_device device;
  struct spate_doctor_function path[SPATE_DOCTOR_PATH_MAX], path_after[SPATE_DOCTOR_PATH_MAX];
  unsigned path_count;
  size_t arena_used_bytes; /* of queue memory, before the checkup */
  struct spate_nvme_pcie pcie_bus;
  struct spate_nvme controller;
  struct spate_nvme_queue queue;
  struct spate_nvme_slot slots[SPATE_NVME_SLOTS(SPATE_CHECKUP_DEPTH)];
  struct spate_nvme_throttling throttling; /* of the drive, before the next transfer */
  struct spate_io ios[SPATE_CHECKUP_DEPTH];
  bool opened;  /* the driver has the controller */
  bool may_run; /* the controller was started and did not stop: it may write to queue memory */
};

/*
 * Run the checkup. Waits: at most some 30 s while nothing is wrong, and as long as spate_nvme_open() if the drive does
 * not start. `doctor` gets the findings; doctor->worst is the worst severity. Returns OK whatever was found. Errors:
 * INVALID (the buffer, or something required is NULL), MEMORY (queue memory has too little room); then nothing was
 * done.
 */
SPATE_MUST_CHECK enum spate_error spate_checkup(struct spate_checkup *checkup,
                                                const struct spate_checkup_config *config, struct spate_doctor *doctor);

#ifdef __cplusplus
}
#endif
#endif
