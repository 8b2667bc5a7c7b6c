/* SPDX-License-Identifier: Apache-2.0 */
/* Sanitize (5.24) and its log page (5.14.1.16.2). The command completes first; then the drive sanitizes by itself. */
#include "internal.h"

#define LOG_SANITIZE 0x81u
#define ALLOW_EXIT   (UINT32_C(1) << 3) /* AUSE: a failed sanitize can be left */
#define ONE_PASS     (UINT32_C(1) << 4) /* OWPASS: 0 would be sixteen */
#define STATE_MASK   7u
#define PASSES_SHIFT 3u
#define PASSES_MASK  0x1fu
#define ALL_ERASED   (UINT32_C(1) << 8)
#define STATE_BITS   16u /* SSTAT is the upper half of dword 0 */

/* The bits of SANICAP, one of which the drive needs for this action. Every drive with Sanitize has EXIT. */
static uint8_t capability_of(enum spate_nvme_sanitize_action action) {
  switch (action) {
  case SPATE_NVME_SANITIZE_CRYPTO: return SPATE_NVME_CAN_SANITIZE_CRYPTO;
  case SPATE_NVME_SANITIZE_BLOCK: return SPATE_NVME_CAN_SANITIZE_BLOCK;
  case SPATE_NVME_SANITIZE_OVERWRITE: return SPATE_NVME_CAN_SANITIZE_OVERWRITE;
  case SPATE_NVME_SANITIZE_EXIT:
    return SPATE_NVME_CAN_SANITIZE_CRYPTO | SPATE_NVME_CAN_SANITIZE_BLOCK | SPATE_NVME_CAN_SANITIZE_OVERWRITE;
  }
  return 0;
}

bool spate_nvme_can_sanitize(const struct spate_nvme_identity *identity, enum spate_nvme_sanitize_action action) {
  return (identity->sanitize & capability_of(action)) != 0;
}

uint32_t spate_nvme_sanitize_dword10(enum spate_nvme_sanitize_action action) {
  if (action == SPATE_NVME_SANITIZE_EXIT) return (uint32_t)action;
  return (uint32_t)action | ALLOW_EXIT | (action == SPATE_NVME_SANITIZE_OVERWRITE ? ONE_PASS : 0);
}

enum spate_error spate_nvme_sanitize(struct spate_nvme *controller, enum spate_nvme_sanitize_action action) {
  if (controller->queues != NULL) return SPATE_E_BUSY;
  if (!spate_nvme_can_sanitize(&controller->identity, action)) return SPATE_E_UNSUPPORTED;
  return spate_nvme_call_dwords(controller, NVME_SANITIZE, spate_nvme_sanitize_dword10(action), 0);
}

void spate_nvme_sanitize_decode(struct spate_nvme_sanitize_status *status, const void *log) {
  const uint32_t first = spate_nvme_dword(log, 0);
  const uint32_t state = first >> STATE_BITS;

  *status = (struct spate_nvme_sanitize_status){.progress = (uint16_t)first,
                                                .state = (uint8_t)(state & STATE_MASK),
                                                .passes = (uint8_t)(state >> PASSES_SHIFT & PASSES_MASK),
                                                .nothing_written = (state & ALL_ERASED) != 0,
                                                .action = (uint8_t)(spate_nvme_dword(log, 4) & STATE_MASK),
                                                .overwrite_s = spate_nvme_dword(log, 8),
                                                .block_s = spate_nvme_dword(log, 12),
                                                .crypto_s = spate_nvme_dword(log, 16)};
}

enum spate_error spate_nvme_sanitize_status(struct spate_nvme *controller, struct spate_nvme_sanitize_status *status) {
  struct nvme_command command;

  spate_nvme_log_command(&command, LOG_SANITIZE, controller->data);
  const enum spate_error error = spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
  if (error == SPATE_OK) spate_nvme_sanitize_decode(status, controller->data);
  return error;
}
