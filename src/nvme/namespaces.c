/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the drive for its active namespaces, and for one of them (Identify, 5.15). */
#include "internal.h"

#define NAMESPACES_IN_LIST 1024u
#define VERSION_1_1        UINT32_C(0x00010100)

static enum spate_error identify(struct spate_nvme *controller, enum nvme_identify what, uint32_t nsid) {
  const struct nvme_command command = {
      .opcode = NVME_IDENTIFY, .nsid = nsid, .data = controller->data, .dword10 = (uint32_t)what};

  return spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
}

enum spate_error spate_nvme_namespace(struct spate_nvme *controller, uint32_t nsid, struct spate_nvme_namespace *out) {
  *out = (struct spate_nvme_namespace){.nsid = nsid};
  if (nsid == 0 || nsid >= NVME_ALL_NAMESPACES) return SPATE_E_NO_NAMESPACE;
  const enum spate_error error = identify(controller, NVME_IDENTIFY_NAMESPACE, nsid);
  if (error == SPATE_E_COMMAND && NVME_STATUS_CODE(controller->status) == NVME_STATUS_NAMESPACE)
    return SPATE_E_NO_NAMESPACE;
  if (error != SPATE_OK) return error;
  return spate_nvme_namespace_decode(out, nsid, controller->data) ? SPATE_OK : SPATE_E_NO_NAMESPACE;
}

struct nsid_list {
  uint32_t *nsids; /* room for `max` */
  unsigned max, count;
};

static void add(struct nsid_list *list, uint32_t nsid) {
  if (list->count < list->max) list->nsids[list->count] = nsid;
  list->count++;
}

static void take_active(const struct spate_nvme *controller, struct nsid_list *list) {
  uint32_t previous = 0;

  for (unsigned i = 0; i < NAMESPACES_IN_LIST; i++) {
    const uint32_t nsid = spate_nvme_dword(controller->data, 4u * i);
    if (nsid <= previous) break; /* 0 ends the list. Some drives list identifiers above NN */
    add(list, nsid);
    previous = nsid;
  }
}

/* For a drive without a list: asks for each namespace from 1 to NN, up to the length of a list. */
static enum spate_error try_each(struct spate_nvme *controller, struct nsid_list *list) {
  struct spate_nvme_namespace namespace;

  for (uint32_t nsid = 1; nsid <= controller->identity.namespaces_max && nsid <= NAMESPACES_IN_LIST; nsid++) {
    const enum spate_error error = spate_nvme_namespace(controller, nsid, &namespace);
    if (error == SPATE_OK)
      add(list, nsid);
    else if (error != SPATE_E_NO_NAMESPACE && error != SPATE_E_COMMAND)
      return error;
  }
  return SPATE_OK;
}

/* NVMe 1.0 has no list (CNS has one bit there), and some later drives refuse it (Linux: NVME_QUIRK_IDENTIFY_CNS). */
enum spate_error spate_nvme_namespaces(struct spate_nvme *controller, uint32_t *nsids, unsigned max, unsigned *count) {
  struct nsid_list list = {.nsids = nsids, .max = max};
  enum spate_error error = SPATE_E_COMMAND;

  *count = 0;
  if (controller->identity.version >= VERSION_1_1) error = identify(controller, NVME_IDENTIFY_ACTIVE, 0);
  if (error == SPATE_OK)
    take_active(controller, &list);
  else if (error == SPATE_E_COMMAND)
    error = try_each(controller, &list);
  if (error != SPATE_OK) return error;
  *count = list.count;
  return list.count == 0 ? SPATE_E_NO_NAMESPACE : SPATE_OK;
}
