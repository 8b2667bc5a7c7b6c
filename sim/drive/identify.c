/* SPDX-License-Identifier: Apache-2.0 */
/* Identify (5.15): what the drive reports about itself. The pages are composed once; a test may change them. */
#include "drive_internal.h"
#include <stdio.h>
#include <string.h>

#define KELVIN    273.0
#define VENDOR    0x1b36u /* as in its configuration space */
#define BROADCAST UINT32_C(0xffffffff)

#define VERSION_1_1 UINT32_C(0x00010100) /* Identify has lists of namespaces */
#define VERSION_1_2 UINT32_C(0x00010200) /* Identify has VER */

#define ONCS_DATASET      4u
#define ONCS_WRITE_ZEROES 8u
#define OACS_FORMAT       2u
#define SANICAP_ALL       7u /* crypto erase, block erase, overwrite */
#define FORMAT_512        0u /* numbers of the LBA formats */
#define FORMAT_4096       1u

static void put_text(uint8_t *at, const char *text, size_t bytes) {
  const size_t length = strlen(text);

  memset(at, ' ', bytes);
  memcpy(at, text, length < bytes ? length : bytes);
}

static uint8_t log2_of(uint32_t value) {
  uint8_t shift = 0;

  while (value >> shift > 1)
    shift++;
  return shift;
}

/* Figure 247. */
static void make_controller(struct sim_drive *drive) {
  const struct sim_profile *profile = &drive->profile;
  uint8_t *page = drive->identify_controller;
  char serial[21];

  (void)snprintf(serial, sizeof serial, "SPATE%04u", drive->index + 1u);
  spate_put16(page, VENDOR);
  spate_put16(page + 2, VENDOR);
  put_text(page + 4, drive->options.serial[0] != 0 ? drive->options.serial : serial, 20);
  put_text(page + 24, profile->model, 40);
  put_text(page + 64, "1.0", 8);
  page[72] = 3;                                          /* RAB: eight commands in a burst */
  page[77] = log2_of(profile->mdts_pages);               /* MDTS */
  spate_put16(page + 78, (uint16_t)(drive->index + 1u)); /* CNTLID */
  if (drive->options.version >= VERSION_1_2) spate_put32(page + 80, drive->options.version); /* VER */
  spate_put32(page + 84, 1000000); /* RTD3R, RTD3E: a second each */
  spate_put32(page + 88, 1000000);
  page[111] = 1; /* CNTRLTYPE: an I/O controller */
  spate_put16(page + 256, OACS_FORMAT);
  page[258] = 3;                     /* ACL: four aborts at once */
  page[259] = DRIVE_EVENTS_MAX - 1u; /* AERL */
  page[260] = 3;                     /* FRMW: one slot, read only */
  page[261] = 1;                     /* LPA: SMART for a namespace, too */
  page[262] = DRIVE_ERRORS_MAX - 1u; /* ELPE */
  page[263] = 0;                     /* NPSS: one power state */
  page[264] = 1;                     /* AVSCC */
  spate_put16(page + 266, (uint16_t)(profile->warning_c + KELVIN));
  spate_put16(page + 268, (uint16_t)(profile->critical_c + KELVIN));
  spate_put32(page + 328, SANICAP_ALL);
  page[512] = 0x66; /* SQES, CQES */
  page[513] = 0x44;
  spate_put32(page + 516, 1); /* NN */
  spate_put16(page + 520, ONCS_DATASET | ONCS_WRITE_ZEROES);
  page[524] = 1;                               /* FNA: a format applies to all namespaces */
  page[525] = profile->volatile_cache ? 7 : 6; /* VWC; Flush takes FFFFFFFFh */
  spate_put16(page + 2048, 2500);              /* power state 0: 25 W */
}

/* Figure 245. Format 0 has blocks of 512 bytes, format 1 of 4096 bytes. The drive reports better performance for format
 * 1. */
static void make_namespace(struct sim_drive *drive) {
  static const uint8_t dlfeat[] = {1, 2, 0, 0};
  uint8_t *page = drive->identify_namespace;

  page[24] = 4; /* NSFEAT: a read of deallocated blocks is no error */
  page[25] = 1; /* NLBAF: two formats */
  page[33] = dlfeat[drive->options.deallocated & 3u];
  spate_put32(page + 128 + 4 * FORMAT_512, UINT32_C(9) << 16 | UINT32_C(2) << 24);
  spate_put32(page + 128 + 4 * FORMAT_4096, UINT32_C(12) << 16 | UINT32_C(1) << 24);
}

void drive_geometry(struct sim_drive *drive, uint8_t block_shift) {
  uint8_t *page = drive->identify_namespace;
  const uint16_t atomic = drive->profile.atomic_bytes;
  const uint16_t units = (uint16_t)(atomic >> block_shift > 0 ? (atomic >> block_shift) - 1 : 0);

  drive->block_shift = block_shift;
  drive->blocks = drive->options.bytes >> block_shift;
  spate_put64(page, drive->blocks); /* NSZE, NCAP, NUSE */
  spate_put64(page + 8, drive->blocks);
  spate_put64(page + 16, drive->blocks);
  page[26] = block_shift == 12 ? FORMAT_4096 : FORMAT_512;
  spate_put16(drive->identify_controller + 526, units); /* AWUN, AWUPF */
  spate_put16(drive->identify_controller + 528, units);
}

/* Figure 194: health values of a drive that has been used. */
static void make_smart(struct sim_drive *drive) {
  uint8_t *log = drive->smart;

  log[3] = 100; /* available spare in percent, and its warning threshold */
  log[4] = 10;
  spate_put64(log + 112, 17); /* power cycles, power on hours, unsafe shutdowns */
  spate_put64(log + 128, 1000);
  spate_put64(log + 144, 3);
}

void drive_identify_init(struct sim_drive *drive) {
  drive->namespaces[0] = 1;
  make_controller(drive);
  make_namespace(drive);
  make_smart(drive);
  drive_geometry(drive, drive->options.block_shift);
}

/* Figure 249: the namespace's EUI-64, composed of the vendor ID and the drive's number. */
static void describe(const struct sim_drive *drive, uint8_t *page) {
  page[0] = 1;
  page[1] = 8;
  spate_put32(page + 4, VENDOR);
  spate_put32(page + 8, drive->index + 1u);
}

static bool is_active(const struct sim_drive *drive, uint32_t nsid) {
  for (unsigned i = 0; drive->namespaces[i] != 0; i++)
    if (drive->namespaces[i] == nsid) return true;
  return false;
}

/* Figure 250: the active namespaces above `nsid`. */
static void list_active(const struct sim_drive *drive, uint32_t nsid, uint8_t *page) {
  for (unsigned i = 0; drive->namespaces[i] != 0; i++) {
    if (drive->namespaces[i] <= nsid) continue;
    spate_put32(page, drive->namespaces[i]);
    page += 4;
  }
}

uint16_t drive_identify(struct sim_drive *drive, struct drive_command *command) {
  const uint32_t nsid = command->dwords[1];
  const bool active = is_active(drive, nsid);
  const uint8_t cns = (uint8_t)command->dwords[10];
  uint8_t *page = drive_page(command);

  if ((command->dwords[10] & 0xff00u) != 0) sim_violate(drive->sim, "reserved bits in dword 10 of Identify");
  if (cns > 1 && drive->options.version < VERSION_1_1) {
    sim_violate(drive->sim, "Identify with CNS %u: before NVMe 1.1 CNS has one bit", cns);
    return STATUS_FIELD;
  }
  if ((cns == 0 || cns == 3) && !active && (nsid == 0 || nsid > spate_get32(drive->identify_controller + 516)))
    return STATUS_NAMESPACE;
  switch (cns) {
  case 0:
    if (active) memcpy(page, drive->identify_namespace, SIM_PAGE);
    break;
  case 1: memcpy(page, drive->identify_controller, SIM_PAGE); break;
  case 2:
    if (nsid >= BROADCAST - 1u) return STATUS_NAMESPACE;
    list_active(drive, nsid, page);
    break;
  case 3:
    if (active) describe(drive, page);
    break;
  default: return STATUS_FIELD;
  }
  drive_send_page(drive, command, SIM_PAGE);
  return STATUS_PENDING;
}
