/* SPDX-License-Identifier: Apache-2.0 */
#include "internal.h"

#define SES_SHIFT 9u /* in dword 10 (5.23) */
#define LBAF_MAX  16 /* LBAF in dword 10 has four bits; higher formats need a host that enabled them (2.0, LBAFEE) */

/* The best of the formats without metadata that have this block size, by the drive's own rating (RP, figure 246), where
 * 0 is best. `data` is the Identify Namespace page. -1: there is none. */
static int choose_format(const struct spate_nvme_namespace *namespace, const uint8_t *data, uint32_t block_bytes) {
  int best = -1;
  uint32_t best_rating = NVME_LBAF_RP_MASK + 1u;

  for (int i = 0; i < namespace->formats && i < LBAF_MAX; i++) {
    const uint32_t rating = data[NVME_NS_LBAF0 + 4 * i + NVME_LBAF_RP_BYTE] & NVME_LBAF_RP_MASK;
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
      .opcode = NVME_FORMAT, .nsid = nsid, .dword10 = (uint32_t)format | (uint32_t)erase << SES_SHIFT};
  return spate_nvme_call(controller, &command, timeout_ms);
}
