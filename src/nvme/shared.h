/* SPDX-License-Identifier: Apache-2.0 */
/* What the doctor uses of the driver. Of a controller that is not open these functions need its config, needs,
 * ticks_per_ms and doorbell_shift. */
#ifndef SPATE_NVME_SHARED_H
#define SPATE_NVME_SHARED_H

#include "entries.h"
#include "pages.h"
#include "quirks.h"
#include "registers.h"

#include <spate/nvme.h>

/* The fields of an admin command that may be other than zero. */
struct nvme_command {
  void (*completed)(struct spate_nvme *controller); /* takes the completion from its slot; NULL: the sender polls it */
  uint32_t opcode, nsid;
  const volatile void *data; /* NULL: none */
  uint64_t second_prp;       /* 0: the data are within one page, or are a queue */
  uint32_t dword10, dword11;
  uint64_t dwords_12_13, dwords_14_15;
};

/* 0: not in BAR 0. `index`: 2 * queue identifier for the submission queue, 1 more for the completion queue. */
uintptr_t spate_nvme_doorbell(const struct spate_nvme *controller, unsigned index);

/* Delays the next register read after CC.EN was cleared, where this drive needs it, and extends the deadline of the
 * state by the same time. */
void spate_nvme_pause(struct spate_nvme *controller);

/* Get Log Page: the first NVME_LOG_BYTES of this page. */
void spate_nvme_log_command(struct nvme_command *command, uint8_t page, void *to);

#endif
