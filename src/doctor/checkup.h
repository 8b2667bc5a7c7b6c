/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a checkup, one file each, and what they share. */
#ifndef SPATE_DOCTOR_CHECKUP_H
#define SPATE_DOCTOR_CHECKUP_H

#include "../nvme/shared.h"
#include "internal.h"

#include <spate/checkup.h>
#include <spate/port.h>

/* checkup_report.c: reports a fact, from a text with placeholders (internal.h). `at` may be NULL. */
struct checkup_values {
  uint64_t numbers[SPATE_DOCTOR_NUMBERS];
  const char *name;
};
void spate_checkup_fact(const struct spate_checkup *checkup, const char *name, const struct spate_pcie_address *at,
                        const char *text, struct checkup_values values);
void spate_checkup_found(const struct spate_checkup *checkup, enum spate_doctor_code code,
                         struct checkup_values values);

/* The steps. False: the steps after it cannot be made. */
bool spate_checkup_clock(struct spate_checkup *checkup);
bool spate_checkup_bridge(struct spate_checkup *checkup);
bool spate_checkup_find(struct spate_checkup *checkup);
bool spate_checkup_path(struct spate_checkup *checkup);
bool spate_checkup_registers(struct spate_checkup *checkup);
bool spate_checkup_dma(struct spate_checkup *checkup);
bool spate_checkup_driver(struct spate_checkup *checkup);
bool spate_checkup_read(struct spate_checkup *checkup);
bool spate_checkup_write(struct spate_checkup *checkup);

/* checkup_path.c: clears the errors that were recorded, after they were judged. What stays recorded is not judged
 * again. */
void spate_checkup_forget_errors(struct spate_checkup *checkup);

/* checkup_driver.c: the temperature after a transfer, and whether the drive throttled itself meanwhile. */
void spate_checkup_heat(struct spate_checkup *checkup);

/* checkup_ports.c: judges the ports below which nothing was found, also those of switches. */
void spate_checkup_ports(struct spate_checkup *checkup);

/*
 * checkup_queue.c: a queue pair with one command at a time, no recovery, and no cache maintenance.
 */
struct checkup_queue {
  uint64_t *sq;
  volatile uint32_t *cq;
  uintptr_t sq_doorbell, cq_doorbell;
  uint16_t entries, tail, head, id;
  uint32_t phase;
};

struct checkup_completion {
  bool seen;       /* there is a completion */
  bool is_to_this; /* it names the command that was sent */
  uint16_t status;
};

#define CHECKUP_IO_ENTRIES 8u

/* `id` 0: the admin queue, as large as the driver's. Otherwise an I/O queue of CHECKUP_IO_ENTRIES. */
void spate_checkup_queue_init(struct checkup_queue *queue, const struct spate_nvme *controller, unsigned id,
                              void *sq_page, void *cq_page);
/* Stops the controller. False: it does not stop, or its registers are silent. */
bool spate_checkup_stop(struct spate_checkup *checkup);
/* Starts it with this admin queue. False: it does not become ready. */
bool spate_checkup_start(struct spate_checkup *checkup, const struct checkup_queue *admin);
/* Without cache maintenance of the entry. */
void spate_checkup_send(struct checkup_queue *queue, const struct nvme_command *command);
struct checkup_completion spate_checkup_look(const struct checkup_queue *queue);
/* Waits for a completion, and takes it. */
struct checkup_completion spate_checkup_wait(struct checkup_queue *queue);

/* checkup_data.c: what the DMA step has: a controller that completes commands, and pages of queue memory. */
struct checkup_dma {
  struct spate_checkup *checkup;
  struct checkup_queue admin, io;
  uint64_t *identity, *page; /* Identify Controller; a page for everything else */
  uint32_t nsid;             /* the first active namespace; 0: none */
  bool io_ready;             /* the I/O queue exists */
};
void spate_checkup_data(struct checkup_dma *dma);
/* checkup_compare.c: whether the drive reads what the processor stored in the buffer. */
void spate_checkup_compare(struct checkup_dma *dma);
/* Whether the drive reads from the buffer what it wrote there itself. `why`: why it cannot be known; NULL: it is known.
 */
bool spate_checkup_reads_back(struct checkup_dma *dma, const char **why);
/* checkup_timestamp.c: compares the port's clock with the drive's. */
void spate_checkup_timestamp(struct checkup_dma *dma);

#endif
