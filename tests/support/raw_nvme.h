/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw commands to an NVMe controller, without a driver: for tests that send a drive what no driver would send. The
 * controller is anything that has registers and memory: the virtual drive, or QEMU's.
 */
#ifndef RAW_NVME_H
#define RAW_NVME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAW_PAGE    4096u
#define RAW_ENTRIES 64u /* of every queue: as many submission queue entries as a page holds */
#define RAW_QUEUES  4u
/* The queues take pages at the start of the memory, two each; the rest belongs to the test. */
#define RAW_PAGES_USED (2u * RAW_QUEUES)

struct raw_target {
  void *context;
  uint32_t (*read32)(void *context, uint32_t offset); /* registers, by their offset in BAR 0 */
  void (*write32)(void *context, uint32_t offset, uint32_t value);
  void (*wait)(void *context); /* some time passes */
  uint8_t *memory;             /* as devices see it */
  uint64_t bus;                /* its address for devices */
  unsigned patience;           /* calls of wait() before a missing completion is given up */
};

struct raw_completion {
  uint32_t result;
  uint16_t head, queue, id, status; /* status without the phase bit */
  bool phase;
  bool missing; /* no completion came */
};

struct raw_nvme {
  struct raw_target target;
  uint16_t next_id;
  struct {
    uint32_t tail, head;
    bool phase;
  } queues[RAW_QUEUES];
};

void raw_init(struct raw_nvme *raw, const struct raw_target *target);

uint32_t raw_csts(const struct raw_nvme *raw);
/* Wait until CSTS & mask is `value`. False: that did not happen. */
bool raw_wait_csts(struct raw_nvme *raw, uint32_t mask, uint32_t value);
/* Set up admin queues of RAW_ENTRIES, set CC.EN, and wait for CSTS.RDY. */
bool raw_enable(struct raw_nvme *raw);
bool raw_disable(struct raw_nvme *raw);

/* A page of the memory: its bus address, and its pointer. */
uint64_t raw_bus(const struct raw_nvme *raw, unsigned page);
uint8_t *raw_at(const struct raw_nvme *raw, unsigned page);

/* A command with these fields; PRPs as addresses. Its identifier is filled in when it is put into a queue. */
struct raw_command {
  uint32_t opcode, nsid;
  uint64_t prp1, prp2;
  uint32_t dword10, dword11, dword12, dword13, dword14, dword15;
  uint32_t flags; /* bits 8 to 15 of dword 0 */
  uint32_t dword2, dword3;
};

/* Put a command into the submission queue, without the doorbell. Returns its identifier. */
uint16_t raw_put(struct raw_nvme *raw, unsigned queue, const struct raw_command *command);
void raw_ring(struct raw_nvme *raw, unsigned queue);
/* The next completion; its entry is given back to the drive. */
struct raw_completion raw_take(struct raw_nvme *raw, unsigned queue);
/* Put, ring, and take the completion. */
struct raw_completion raw_do(struct raw_nvme *raw, unsigned queue, const struct raw_command *command);

/* Create I/O queue pair `queue` (1 … RAW_QUEUES - 1). Returns the status of the first command that is refused. */
uint16_t raw_queue(struct raw_nvme *raw, unsigned queue);
/* Forget the state of a queue that was deleted, or lost in a reset. */
void raw_queue_forget(struct raw_nvme *raw, unsigned queue);

#endif
