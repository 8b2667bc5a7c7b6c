/* SPDX-License-Identifier: Apache-2.0 */
/* Identify (5.15): the controller, its active namespaces, a namespace. Nothing in it is believed unchecked. */
#include "internal.h"

#define NAMESPACES_IN_LIST 1024u
#define VERSION_1_1        UINT32_C(0x00010100)
#define MDTS_BELIEVED_MAX  19u /* 2 GiB; beyond that it is no limit for us, and the shift would overflow */

static enum spate_error identify(struct spate_nvme *controller, enum nvme_identify what, uint32_t nsid) {
  const struct nvme_command command = {
      .opcode = NVME_IDENTIFY, .nsid = nsid, .data = controller->data, .dword10 = (uint32_t)what};

  return spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
}

/* ASCII, padded with spaces, not terminated. */
static void take_text(char *to, const uint8_t *from, unsigned bytes) {
  unsigned used = 0;

  for (unsigned i = 0; i < bytes; i++) {
    to[i] = (char)(from[i] >= 0x20 && from[i] < 0x7f ? from[i] : from[i] == 0 ? ' ' : '?');
    if (to[i] != ' ') used = i + 1u;
  }
  to[used] = '\0';
}

static bool same_text(const char *a, const char *b) {
  while (*a != '\0' && *a == *b) {
    a++;
    b++;
  }
  return *a == *b;
}

/* In 4 KiB units; saturated. */
static uint32_t pages_to_bytes(uint32_t pages) { return pages < 1u << 19 ? pages << SPATE_PAGE_SHIFT : 1u << 31; }

/* What a drive may ask of our patience, a hostile one included. */
#define RETRY_INTERVALS_MAX 100u /* 10 s */
#define SHUTDOWN_MS_MIN     10000u
#define SHUTDOWN_MS_MAX     60000u

/* One more than the drive says, as an interval may be under way. */
static uint16_t delay_intervals(uint32_t hundreds_ms) {
  if (hundreds_ms == 0) return 0;
  return (uint16_t)(hundreds_ms < RETRY_INTERVALS_MAX ? hundreds_ms + 1u : RETRY_INTERVALS_MAX);
}

static uint32_t within(uint32_t value, uint32_t least, uint32_t most) {
  if (value < least) return least;
  return value < most ? value : most;
}

void spate_nvme_identity_decode(struct spate_nvme_identity *identity, const void *page) {
  const uint8_t *data = page;
  const uint8_t mdts = data[77];

  take_text(identity->serial, data + 4, 20);
  take_text(identity->model, data + 24, 40);
  take_text(identity->firmware, data + 64, 8);
  identity->namespaces_max = spate_nvme_dword(data, 516);
  identity->transfer_bytes_max = mdts == 0 || mdts > MDTS_BELIEVED_MAX ? 0 : SPATE_PAGE_BYTES << mdts;
  identity->warning_temperature_k = spate_nvme_dword(data, 264) >> 16;
  identity->critical_temperature_k = spate_nvme_dword(data, 268) & 0xffffu;
  identity->host_buffer_wanted_bytes = pages_to_bytes(spate_nvme_dword(data, 272));
  identity->host_buffer_min_bytes = pages_to_bytes(spate_nvme_dword(data, 276));
  identity->atomic_blocks = (spate_nvme_dword(data, 528) & 0xffffu) + 1u;
  identity->volatile_cache = (data[525] & 1u) != 0;
  identity->can_trim = (data[520] & 4u) != 0;
  identity->can_zero = (data[520] & 8u) != 0;
  identity->can_format = (data[256] & 2u) != 0;
  identity->sanitize = data[328] & 7u;
  identity->several_controllers = (data[76] & 2u) != 0;
  identity->formats_all = (data[524] & 3u) != 0;
  identity->power_states = (uint8_t)(data[263] < 32u ? data[263] + 1u : 32u);
}

enum spate_error spate_nvme_identity_take(struct spate_nvme *controller) {
  const uint8_t *data = controller->data;
  const uint32_t shutdown_ms = spate_nvme_dword(data, 88) / 1000u; /* RTD3E, in microseconds */
  char serial[sizeof controller->identity.serial];

  take_text(serial, data + 4, 20);
  /* Replaying writes onto a drive that was put in place of ours would destroy it. */
  if (controller->queues != NULL && !same_text(serial, controller->identity.serial)) return SPATE_E_GONE;
  spate_nvme_identity_decode(&controller->identity, data);
  for (unsigned i = 0; i < 3; i++)
    controller->retry_delay[i] = delay_intervals(data[128 + 2u * i] | (uint32_t)data[129 + 2u * i] << 8);
  controller->shutdown_ms = within(shutdown_ms, SHUTDOWN_MS_MIN, SHUTDOWN_MS_MAX);
  return SPATE_OK;
}

const struct spate_nvme_identity *spate_nvme_identity(const struct spate_nvme *controller) {
  return &controller->identity;
}

/* What a list is made of. */
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
    if (nsid <= previous || nsid > controller->identity.namespaces_max) break;
    add(list, nsid);
    previous = nsid;
  }
}

/* Where the drive has no list: each number from 1 to NN is asked for, as far as a list would go. */
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

/* NVMe 1.0 has no list (CNS is one bit there), and some later drives refuse it (Linux: NVME_QUIRK_IDENTIFY_CNS). */
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

/* The data size of an LBA format (figure 246) in bytes; 0 if it has metadata or a size beyond reason. */
static uint16_t format_bytes(uint32_t format) {
  const uint32_t shift = (format >> 16) & 0xffu;
  return (uint16_t)((format & 0xffffu) != 0 || shift < 9u || shift > 15u ? 0 : 1u << shift);
}

bool spate_nvme_namespace_decode(struct spate_nvme_namespace *out, uint32_t nsid, const void *page) {
  const uint8_t *data = page;

  *out = (struct spate_nvme_namespace){.nsid = nsid, .blocks = spate_nvme_qword(data, 0)};
  if (out->blocks == 0) return false; /* inactive: all zeros */
  out->formats = (uint8_t)(data[25] < SPATE_NVME_FORMATS_MAX ? data[25] + 1u : SPATE_NVME_FORMATS_MAX);
  out->format = data[26] & 0xfu;
  /* FLBAS bits 6:5 are the upper bits of the index where there are more than 16 formats (2.0, figure 97). */
  if (out->formats > 16u) out->format |= (uint8_t)((data[26] >> 5 & 3u) << 4);
  for (unsigned i = 0; i < out->formats; i++) {
    out->format_block_bytes[i] = format_bytes(spate_nvme_dword(data, 128 + 4u * i));
  }
  if (out->format >= out->formats) return true; /* block_bytes 0: no format anyone knows */
  const uint32_t format = spate_nvme_dword(data, 128 + 4u * out->format);
  out->metadata = (format & 0xffffu) != 0 || (data[29] & 7u) != 0; /* bytes beside each block, or protection */
  if (!out->metadata) out->block_bytes = out->format_block_bytes[out->format];
  return true;
}

enum spate_error spate_nvme_namespace(struct spate_nvme *controller, uint32_t nsid, struct spate_nvme_namespace *out) {
  *out = (struct spate_nvme_namespace){.nsid = nsid};
  if (nsid == 0 || nsid > controller->identity.namespaces_max) return SPATE_E_NO_NAMESPACE;
  const enum spate_error error = identify(controller, NVME_IDENTIFY_NAMESPACE, nsid);
  if (error != SPATE_OK) return error;
  return spate_nvme_namespace_decode(out, nsid, controller->data) ? SPATE_OK : SPATE_E_NO_NAMESPACE;
}

static uint64_t folded(uint64_t mark, uint64_t more) { return (mark << 7 | mark >> 57) ^ more; }

/* Folded: size, what is in use of the formats (FLBAS and its neighbours), NGUID, EUI64 (both zero if not stated) and
 * the formats. Nothing of it changes in a namespace that has queues. */
uint64_t spate_nvme_namespace_mark(const struct spate_nvme *controller) {
  const uint8_t *data = controller->data;
  uint64_t mark = spate_nvme_qword(data, 0);

  mark = folded(mark, spate_nvme_qword(data, 24));
  for (unsigned offset = 104; offset < 192; offset += 8)
    mark = folded(mark, spate_nvme_qword(data, offset));
  return mark;
}
