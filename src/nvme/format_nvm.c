/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define ERASE_SHIFT    9u /* SES in dword 10 (5.23) */
#define FORMATS_CHOSEN 16 /* the field has four bits; the others belong to hosts that enabled them (2.0, LBAFEE) */

/* Of the formats without metadata and with the block size asked for, the one that performs best: 0 is best. `data` is
 * what Identify Namespace said just now. */
static int choose_format(const struct spate_nvme_namespace *namespace, const uint8_t *data, uint32_t block_bytes) {
  int best = -1;
  uint32_t best_rating = 4;

  for (int i = 0; i < namespace->formats && i < FORMATS_CHOSEN; i++) {
    const uint32_t rating = data[131 + 4 * i] & 3u; /* figure 246: LBA format, relative performance */
    if (namespace->format_block_bytes[i] != block_bytes || rating >= best_rating) continue;
    best = i;
    best_rating = rating;
  }
  return best;
}

enum spate_error spate_nvme_format(struct spate_nvme *controller, uint32_t nsid, uint32_t block_bytes,
                                   enum spate_nvme_erase erase, uint32_t timeout_ms) {
  struct spate_nvme_namespace namespace;

  if ((block_bytes != 512 && block_bytes != 4096) || timeout_ms == 0) return SPATE_E_INVALID;
  if (controller->queues != NULL) return SPATE_E_BUSY;
  if (!controller->identity.can_format) return SPATE_E_UNSUPPORTED;
  const enum spate_error error = spate_nvme_namespace(controller, nsid, &namespace);
  if (error != SPATE_OK) return error;
  const int format = choose_format(&namespace, controller->data, block_bytes);
  if (format < 0) return SPATE_E_UNSUPPORTED;
  const struct nvme_command command = {
      .opcode = NVME_FORMAT, .nsid = nsid, .dword10 = (uint32_t)format | (uint32_t)erase << ERASE_SHIFT};
  return spate_nvme_call(controller, &command, timeout_ms);
}
