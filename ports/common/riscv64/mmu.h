/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SPATE_PORTS_RISCV64_MMU_H
#define SPATE_PORTS_RISCV64_MMU_H

#include <stdbool.h>
#include <stdint.h>

/* Do the page tables map this address? */
bool mmu_is_mapped(uint64_t address);

#endif
