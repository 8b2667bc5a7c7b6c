/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages of Identify (5.15) say of a controller and of a namespace. Every field is checked before it is used.
 */
#include "internal.h"

#define MDTS_USED_MAX    19u /* 2 GiB. A larger value limits nothing here, and the shift would overflow */
#define POWER_STATES_MAX 32u

/* `from` is ASCII, padded with spaces, not terminated. */
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

/* Saturates. A page has 4 KiB. */
static uint32_t pages_to_bytes(uint32_t pages) { return pages < 1u << 19 ? pages << SPATE_PAGE_SHIFT : 1u << 31; }

/* Limits of the times that a drive may ask for. They also hold for a drive that is hostile. */
#define RETRY_INTERVALS_MAX 100u /* 10 s */
#define SHUTDOWN_MS_MIN     10000u
#define SHUTDOWN_MS_MAX     60000u

/* One more than the drive asks for, because the present interval has partly passed. */
static uint16_t delay_intervals(uint32_t hundreds_ms) {
  if (hundreds_ms == 0) return 0;
  return (uint16_t)(hundreds_ms < RETRY_INTERVALS_MAX ? hundreds_ms + 1u : RETRY_INTERVALS_MAX);
}

static uint32_t within(uint32_t value, uint32_t least, uint32_t most) {
  if (value < least) return least;
  return value < most ? value : most;
}

/* A limit that is stated in kelvins. */
static int16_t celsius_of(uint32_t kelvin) {
  return (int16_t)(within(kelvin, NVME_ZERO_CELSIUS_K, INT16_MAX) - NVME_ZERO_CELSIUS_K);
}

void spate_nvme_identity_decode(struct spate_nvme_identity *identity, const void *page) {
  const uint8_t *data = page;
  const uint8_t mdts = data[NVME_ID_MDTS];

  take_text(identity->serial, data + NVME_ID_SN, 20);
  take_text(identity->model, data + NVME_ID_MN, 40);
  take_text(identity->firmware, data + NVME_ID_FR, 8);
  identity->namespaces_max = spate_nvme_dword(data, NVME_ID_NN);
  identity->transfer_bytes_max = mdts == 0 || mdts > MDTS_USED_MAX ? 0 : SPATE_PAGE_BYTES << mdts;
  identity->warning_temperature_c = celsius_of(spate_nvme_word(data, NVME_ID_WCTEMP));
  identity->critical_temperature_c = celsius_of(spate_nvme_word(data, NVME_ID_CCTEMP));
  identity->host_buffer_wanted_bytes = pages_to_bytes(spate_nvme_dword(data, NVME_ID_HMPRE));
  identity->host_buffer_min_bytes = pages_to_bytes(spate_nvme_dword(data, NVME_ID_HMMIN));
  identity->atomic_blocks = spate_nvme_word(data, NVME_ID_AWUPF) + 1u;
  identity->volatile_cache = (data[NVME_ID_VWC] & NVME_VWC_PRESENT) != 0;
  identity->can_trim = (data[NVME_ID_ONCS] & NVME_ONCS_DATASET) != 0;
  identity->can_zero = (data[NVME_ID_ONCS] & NVME_ONCS_WRITE_ZEROES) != 0;
  identity->can_format = (data[NVME_ID_OACS] & NVME_OACS_FORMAT) != 0;
  identity->sanitize = data[NVME_ID_SANICAP] & NVME_SANICAP_METHODS;
  identity->several_controllers = (data[NVME_ID_CMIC] & NVME_CMIC_CONTROLLERS) != 0;
  identity->formats_all = (data[NVME_ID_FNA] & NVME_FNA_ALL) != 0;
  identity->power_states =
      (uint8_t)(data[NVME_ID_NPSS] < POWER_STATES_MAX ? data[NVME_ID_NPSS] + 1u : POWER_STATES_MAX);
}

enum spate_error spate_nvme_identity_take(struct spate_nvme *controller) {
  const uint8_t *data = controller->data;
  const uint32_t shutdown_ms = spate_nvme_dword(data, NVME_ID_RTD3E) / 1000u; /* from microseconds */
  char serial[sizeof controller->identity.serial];

  take_text(serial, data + NVME_ID_SN, 20);
  /* Another drive in the same slot: writes must not be replayed to it. */
  if (controller->queues != NULL && !same_text(serial, controller->identity.serial)) return SPATE_E_GONE;
  spate_nvme_identity_decode(&controller->identity, data);
  spate_nvme_needs_apply(controller);
  for (unsigned i = 0; i < 3; i++)
    controller->retry_delay[i] =
        delay_intervals(data[NVME_ID_CRDT1 + 2u * i] | (uint32_t)data[NVME_ID_CRDT1 + 1u + 2u * i] << 8);
  controller->chooses_power = (data[NVME_ID_APSTA] & 1u) != 0;
  controller->power_sleeps = 0;
  for (unsigned i = 0; i < controller->identity.power_states; i++)
    controller->power_sleeps |= (uint32_t)(data[NVME_ID_PSD0 + 32u * i + 3u] >> 1 & 1u) << i; /* NOPS */
  controller->shutdown_ms = within(shutdown_ms, SHUTDOWN_MS_MIN, SHUTDOWN_MS_MAX);
  return SPATE_OK;
}

const struct spate_nvme_identity *spate_nvme_identity(const struct spate_nvme *controller) {
  return &controller->identity;
}

/* The block size of an LBA format; 0 if it has metadata or a size that is not from 512 bytes to 32 KiB. */
static uint16_t format_bytes(uint32_t format) {
  const uint32_t shift = NVME_LBAF_LBADS(format);
  return (uint16_t)(NVME_LBAF_MS(format) != 0 || shift < 9u || shift > 15u ? 0 : 1u << shift);
}

bool spate_nvme_namespace_decode(struct spate_nvme_namespace *out, uint32_t nsid, const void *page) {
  const uint8_t *data = page;

  const uint8_t nlbaf = data[NVME_NS_NLBAF], flbas = data[NVME_NS_FLBAS], dps = data[NVME_NS_DPS];

  *out = (struct spate_nvme_namespace){.nsid = nsid, .blocks = spate_nvme_qword(data, NVME_NS_NSZE)};
  if (out->blocks == 0) return false; /* the page of an inactive namespace is all zeros */
  out->formats = (uint8_t)(nlbaf < SPATE_NVME_FORMATS_MAX ? nlbaf + 1u : SPATE_NVME_FORMATS_MAX);
  out->format = flbas & 0xfu;
  /* With more than 16 formats, FLBAS bits 6:5 are the upper bits of the index (2.0, figure 97). */
  if (out->formats > 16u) out->format |= (uint8_t)((flbas >> 5 & 3u) << 4);
  for (unsigned i = 0; i < out->formats; i++) {
    out->format_block_bytes[i] = format_bytes(spate_nvme_dword(data, NVME_NS_LBAF0 + 4u * i));
  }
  if (out->format >= out->formats) return true; /* with block_bytes 0: the format is not in the list */
  const uint32_t format = spate_nvme_dword(data, NVME_NS_LBAF0 + 4u * out->format);
  out->metadata = NVME_LBAF_MS(format) != 0 || (dps & 7u) != 0; /* metadata, or protection information */
  if (!out->metadata) out->block_bytes = out->format_block_bytes[out->format];
  return true;
}

static uint64_t folded(uint64_t mark, uint64_t more) { return (mark << 7 | mark >> 57) ^ more; }

/* A hash of the size, the 8 bytes with the format in use (FLBAS), NGUID, EUI64 (both zero if not stated; left out for
 * drives with NVME_NO_IDENTIFIERS) and the formats. None of them changes in a namespace that has queues. */
uint64_t spate_nvme_namespace_mark(const struct spate_nvme *controller) {
  const uint8_t *data = controller->data;
  uint64_t mark = spate_nvme_qword(data, NVME_NS_NSZE);

  mark = folded(mark, spate_nvme_qword(data, NVME_NS_FLBAS & ~7u));
  const unsigned from = (controller->needs & NVME_NO_IDENTIFIERS) != 0 ? NVME_NS_LBAF0 : NVME_NS_NGUID;
  for (unsigned offset = from; offset < NVME_NS_LBAF16; offset += 8)
    mark = folded(mark, spate_nvme_qword(data, offset));
  return mark;
}
