/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory as the processor and the devices see it. The processor loads and stores its own view directly; devices read
 * and write another. Only the port's barriers and cache calls pass data between the two, as on a board without
 * coherency:
 *
 * - SIM_QUEUE: uncached, with buffered stores. A device sees stores after the next write barrier. The processor sees
 *   the last quadword of a completion entry at once. It sees everything else that a device stored before that entry
 *   for certain only after the next read barrier, because it may load late.
 * - SIM_CACHED: a device sees stores when their lines are cleaned. When lines are invalidated, the processor sees what
 * a device had stored before the last read barrier; without the barrier, a load may run ahead of the read of the
 *   completion. A line that is dirty when a device writes it is evicted over the device's data.
 * - SIM_LOGIC: programmable logic fills and drains it, the processor never accesses it. Only the devices' view exists.
 *   sim_memory_device() returns it, and the CPU pointer points to it.
 *
 * With sim_config.coherent there is a single view. Lines are 64 bytes (SPATE_DMA_ALIGN). Addresses on the bus differ
 * from the processor's, and between two ranges of memory there are unused addresses.
 */
#ifndef SPATE_SIM_MEMORY_H
#define SPATE_SIM_MEMORY_H

#include "sim.h"

enum sim_memory_kind { SIM_QUEUE, SIM_CACHED, SIM_LOGIC };

/* `bytes` (rounded up to 4096) of zeroed, page aligned memory. It exists as long as the machine. */
void *sim_memory_take(struct sim *sim, size_t bytes, enum sim_memory_kind kind);

/* The same of memory that the program has, such as a static array, with what is in it. `start` is a multiple of a line,
 * `bytes` of 4096. It must stay in place as long as the machine exists. */
void sim_memory_give(struct sim *sim, void *start, size_t bytes, enum sim_memory_kind kind);

/* The address at which devices see the byte that the processor has at `cpu`. For memory that was not taken from the
 * machine it reports a violation and returns an unused address. */
uint64_t sim_memory_address(struct sim *sim, const volatile void *cpu);

/*
 * The devices' view of `bytes` at a bus address, if they are all in one range of memory; otherwise NULL. For reading,
 * and, in SIM_LOGIC memory, for writing. For a window (logic.h) this call reads the data, which stays valid until the
 * next call.
 */
uint8_t *sim_memory_device(struct sim *sim, uint64_t address, uint64_t bytes);

/*
 * Did a device that was notified at `sequence` (sim_next_sequence()) already see then what it sees now at `address`? It
 * did not if a barrier or a clean made the data visible only later: then it reads the right data only by chance.
 */
bool sim_memory_was_shown(struct sim *sim, uint64_t address, uint64_t bytes, uint64_t sequence);

/* A device stores. False: the address is unused, and nothing is stored. */
bool sim_memory_store(struct sim *sim, uint64_t address, const void *data, uint64_t bytes);

/* A device stores a completion entry: 16 bytes, of which the processor sees the second half at once. */
bool sim_memory_store_completion(struct sim *sim, uint64_t address, const void *entry);

/* What the port's barriers and cache calls do. */
void sim_memory_write_barrier(struct sim *sim);
void sim_memory_read_barrier(struct sim *sim);
void sim_memory_clean(struct sim *sim, const void *start, size_t bytes);
void sim_memory_invalidate(struct sim *sim, void *start, size_t bytes);

#endif
