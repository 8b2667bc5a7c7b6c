/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page tables (Arm ARM v7 B3.5, short descriptors). Everything is mapped at its own address: small pages for the
 * image, sections of 1 MiB for the rest. What is not listed is not mapped: address 0, the guard below the stack, other
 * RAM. ports/common/tables.c says why the ring is not cached.
 */
#include "machine.h"
#include <stddef.h>
#include <stdint.h>

#define KIB4 UINT32_C(0x1000)
#define MIB1 UINT32_C(0x100000)

#define SECTION UINT32_C(0x2)
#define TABLE   UINT32_C(0x1)
#define PAGE    UINT32_C(0x2)

/* Sections: TEX at 12, C 3, B 2, execute never 4, access 10 (privileged), shareable 16. */
#define SECTION_DATA       (SECTION | UINT32_C(1) << 4 | UINT32_C(1) << 10)
#define SECTION_DEVICE     SECTION_DATA
#define SECTION_CACHED     (SECTION_DATA | UINT32_C(1) << 12 | UINT32_C(3) << 2 | UINT32_C(1) << 16)
#define SECTION_NOT_CACHED (SECTION_DATA | UINT32_C(1) << 12 | UINT32_C(1) << 16)

/* Small pages, all cached: TEX at 6, C 3, B 2, execute never 0, access 4 (privileged), read only 9, shareable 10. */
#define PAGE_TEXT  (PAGE_CONST & ~UINT32_C(1))
#define PAGE_CONST (PAGE_DATA | UINT32_C(1) << 9)
#define PAGE_DATA  (PAGE | UINT32_C(1) | UINT32_C(3) << 2 | UINT32_C(1) << 4 | UINT32_C(1) << 6 | UINT32_C(1) << 10)

#define PAGES_OF_TABLE 256u
#define IMAGE_TABLES   2u

extern uint8_t __text_start[], __text_end[], __rodata_end[], __data_end[], __stack_start[], __image_end[];

uint32_t *mmu_build(void);

static uint32_t sections[4096] __attribute__((aligned(16384)));
static uint32_t image[IMAGE_TABLES * PAGES_OF_TABLE] __attribute__((aligned(1024)));

static void map_sections(uint32_t address, uint32_t bytes, uint32_t attributes) {
  for (uint32_t at = address; at < address + bytes; at += MIB1)
    sections[at / MIB1] = at | attributes;
}

static void map_pages(const uint8_t *start, const uint8_t *end, uint32_t attributes) {
  for (uint32_t at = (uintptr_t)start; at < (uintptr_t)end; at += KIB4)
    image[(at - MACHINE_IMAGE_ADDRESS) / KIB4] = at | attributes;
}

uint32_t *mmu_build(void) {
  map_sections(MACHINE_UART_ADDRESS, MIB1, SECTION_DEVICE);
  map_sections(MACHINE_PCIE_MEMORY_ADDRESS, MACHINE_PCIE_MEMORY_BYTES, SECTION_DEVICE);
  map_sections(MACHINE_ECAM_ADDRESS, (MACHINE_LAST_BUS + 1) * MIB1, SECTION_DEVICE);
  map_sections(MACHINE_QUEUE_ADDRESS, MACHINE_QUEUE_BYTES, SECTION_NOT_CACHED);
  map_sections(MACHINE_MEMORY_ADDRESS, MACHINE_MEMORY_BYTES, SECTION_CACHED);
  map_sections(MACHINE_RING_ADDRESS, MACHINE_RING_BYTES, SECTION_NOT_CACHED);

  for (uint32_t i = 0; i < IMAGE_TABLES; i++)
    sections[MACHINE_IMAGE_ADDRESS / MIB1 + i] = (uint32_t)(uintptr_t)&image[i * PAGES_OF_TABLE] | TABLE;
  map_pages(__text_start, __text_end, PAGE_TEXT);
  map_pages(__text_end, __rodata_end, PAGE_CONST);
  map_pages(__rodata_end, __data_end, PAGE_DATA);
  map_pages(__stack_start, __image_end, PAGE_DATA);
  return sections;
}
