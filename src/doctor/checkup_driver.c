/* SPDX-License-Identifier: Apache-2.0 */
/* The library's driver on the drive: identity, namespaces, health. */
#include "checkup.h"

static void tell_identity(const struct spate_checkup *checkup) {
  const struct spate_nvme_identity *identity = spate_nvme_identity(&checkup->controller);
  const struct spate_pcie_address *at = &checkup->device.address;

  spate_checkup_fact(checkup, "drive", at, "model {n}", (struct checkup_values){.name = identity->model});
  spate_checkup_fact(checkup, "drive", at, "serial {n}", (struct checkup_values){.name = identity->serial});
  spate_checkup_fact(checkup, "drive", at, "firmware {n}, transfers up to {0b} (0: any)",
                     (struct checkup_values){.numbers = {identity->transfer_bytes_max}, .name = identity->firmware});
}

static void judge_namespaces(struct spate_checkup *checkup) {
  struct spate_nvme_namespace namespace;
  uint32_t nsid = 0;
  unsigned count = 0;

  const enum spate_error error = spate_nvme_namespaces(&checkup->controller, &nsid, 1, &count);
  if (error != SPATE_OK && error != SPATE_E_NO_NAMESPACE) return; /* opening a queue fails as well */
  if (count != 0 && spate_nvme_namespace(&checkup->controller, nsid, &namespace) != SPATE_OK) return;
  spate_doctor_judge_namespaces(checkup->doctor, &namespace, count == 0 ? 0 : 1);
  if (count != 0)
    spate_checkup_fact(checkup, "drive", &checkup->device.address, "namespace {0}: {1} blocks of {2b}",
                       (struct checkup_values){.numbers = {nsid, namespace.blocks, namespace.block_bytes}});
}

/* The log, in checkup->controller. */
static bool read_health(struct spate_checkup *checkup, const char *positive, const char *negative) {
  if (spate_nvme_health_read(&checkup->controller) != SPATE_OK) return false;
  const struct spate_nvme_health *health = spate_nvme_health(&checkup->controller);
  const int16_t celsius = health->temperature_c;
  spate_checkup_fact(
      checkup, "drive", &checkup->device.address, celsius < 0 ? negative : positive,
      (struct checkup_values){.numbers = {(uint64_t)(celsius < 0 ? -celsius : celsius), health->used_percent}});
  return true;
}

static void judge_health(struct spate_checkup *checkup) {
  if (!read_health(checkup, "temperature {0} C, used {1} %", "temperature -{0} C, used {1} %")) {
    spate_checkup_found(checkup, SPATE_DOCTOR_COMMAND_REFUSED, (struct checkup_values){.name = "the health log"});
    return;
  }
  spate_nvme_throttling_decode(&checkup->throttling, checkup->controller.data);
  spate_doctor_judge_drive(checkup->doctor,
                           &(struct spate_doctor_drive){.identity = spate_nvme_identity(&checkup->controller),
                                                        .health = spate_nvme_health(&checkup->controller),
                                                        .throttling = &checkup->throttling});
}

void spate_checkup_heat(struct spate_checkup *checkup) {
  struct spate_nvme_throttling after;

  if (!read_health(checkup, "temperature {0} C after the transfer", "temperature -{0} C after the transfer")) return;
  spate_nvme_throttling_decode(&after, checkup->controller.data);
  (void)spate_doctor_judge_throttled(checkup->doctor, &checkup->throttling, &after);
  checkup->throttling = after;
}

bool spate_checkup_driver(struct spate_checkup *checkup) {
  checkup->pcie_bus = (struct spate_nvme_pcie){.host = checkup->config->host, .device = &checkup->device};
  const struct spate_nvme_config config = {.registers = checkup->device.bar0,
                                           .registers_bytes = checkup->device.bar0_bytes,
                                           .queue_memory = checkup->config->queue_memory,
                                           .bus = spate_nvme_pcie_bus(&checkup->pcie_bus)};
  enum spate_error error = spate_nvme_open(&checkup->controller, &config);

  checkup->opened = error == SPATE_OK;
  checkup->may_run = error == SPATE_E_NOT_STOPPED;
  if (error == SPATE_OK) {
    tell_identity(checkup);
    judge_namespaces(checkup);
    judge_health(checkup);
    const struct spate_nvme_queue_config queue_config = {.depth = SPATE_CHECKUP_DEPTH,
                                                         .list_pages = SPATE_CHECKUP_DEPTH,
                                                         .slots = checkup->slots,
                                                         .slot_count = SPATE_NVME_SLOTS(SPATE_CHECKUP_DEPTH)};
    error = spate_nvme_queue_open(&checkup->controller, &checkup->queue, &queue_config);
  }
  if (error == SPATE_OK) return true;
  spate_checkup_found(checkup, SPATE_DOCTOR_NOT_STARTED, (struct checkup_values){.numbers = {error}});
  return false;
}
