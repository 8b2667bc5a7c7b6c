/* SPDX-License-Identifier: Apache-2.0 */
/* Byte offsets of the fields in pages that a drive fills in, and how to read them. */
#ifndef SPATE_NVME_PAGES_H
#define SPATE_NVME_PAGES_H

#include <stdint.h>

/* Identify Controller (5.15.2.2, figure 247). */
enum nvme_identify_controller {
  NVME_ID_SN = 4,  /* 20 characters */
  NVME_ID_MN = 24, /* 40 */
  NVME_ID_FR = 64, /* 8 */
  NVME_ID_CMIC = 76,
  NVME_ID_MDTS = 77,
  NVME_ID_RTD3E = 88,
  NVME_ID_CRDT1 = 128, /* CRDT2 and CRDT3 follow */
  NVME_ID_OACS = 256,
  NVME_ID_NPSS = 263,
  NVME_ID_APSTA = 265,
  NVME_ID_WCTEMP = 266,
  NVME_ID_CCTEMP = 268,
  NVME_ID_HMPRE = 272,
  NVME_ID_HMMIN = 276,
  NVME_ID_SANICAP = 328,
  NVME_ID_NN = 516,
  NVME_ID_ONCS = 520,
  NVME_ID_FNA = 524,
  NVME_ID_VWC = 525,
  NVME_ID_AWUPF = 528,
  NVME_ID_PSD0 = 2048, /* power states, 32 bytes each */
};

enum {
  NVME_CMIC_CONTROLLERS = 2,
  NVME_OACS_FORMAT = 2,
  NVME_SANICAP_METHODS = 7,
  NVME_ONCS_DATASET = 4,
  NVME_ONCS_WRITE_ZEROES = 8,
  NVME_FNA_ALL = 3, /* format or erase applies to all namespaces */
  NVME_VWC_PRESENT = 1,
};

/* Identify Namespace (5.15.2.1, figure 245). */
enum nvme_identify_namespace {
  NVME_NS_NSZE = 0,
  NVME_NS_NLBAF = 25,
  NVME_NS_FLBAS = 26,
  NVME_NS_DPS = 29,
  NVME_NS_NGUID = 104,
  NVME_NS_LBAF0 = 128, /* 4 bytes each */
  NVME_NS_LBAF16 = 192,
};

/* LBA format (figure 246): a dword. */
enum { NVME_LBAF_RP_BYTE = 3, NVME_LBAF_RP_MASK = 3 }; /* relative performance */
#define NVME_LBAF_MS(format)    ((format)&0xffffu)
#define NVME_LBAF_LBADS(format) ((format) >> 16 & 0xffu)

/* SMART / Health Information (5.14.1.2, figure 194). Counters have 128 bits. */
enum nvme_health_log {
  NVME_HEALTH_WARNING = 0,   /* critical warning; then temperature in bits 23:8, available spare in bits 31:24 */
  NVME_HEALTH_THRESHOLD = 4, /* available spare threshold; then percentage used in bits 15:8 */
  NVME_HEALTH_READ_UNITS = 32,
  NVME_HEALTH_WRITTEN_UNITS = 48,
  NVME_HEALTH_POWER_CYCLES = 112,
  NVME_HEALTH_POWER_ON_HOURS = 128,
  NVME_HEALTH_UNSAFE_SHUTDOWNS = 144,
  NVME_HEALTH_MEDIA_ERRORS = 160,
  NVME_HEALTH_WARNING_MINUTES = 192,  /* above WCTEMP */
  NVME_HEALTH_CRITICAL_MINUTES = 196, /* above CCTEMP */
  NVME_HEALTH_TMT1_TRANSITIONS = 216,
  NVME_HEALTH_TMT2_TRANSITIONS = 220,
  NVME_HEALTH_TMT1_SECONDS = 224,
  NVME_HEALTH_TMT2_SECONDS = 228,
};

/* Each is one load at the natural alignment: both sides are little endian. */
static inline uint32_t spate_nvme_dword(const void *page, unsigned offset_bytes) {
  return ((const uint32_t *)page)[offset_bytes / sizeof(uint32_t)];
}

static inline uint64_t spate_nvme_qword(const void *page, unsigned offset_bytes) {
  return ((const uint64_t *)page)[offset_bytes / sizeof(uint64_t)];
}

static inline uint32_t spate_nvme_word(const void *page, unsigned offset_bytes) {
  return spate_nvme_dword(page, offset_bytes & ~3u) >> (offset_bytes & 2u) * 8u & 0xffffu;
}

#endif
