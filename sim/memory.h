/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory as two parties see it. The processor loads and stores its own view directly; devices read and write another.
 * What passes between the two is decided by the calls that the port has for it, as on a board without coherency:
 *
 * - SIM_QUEUE: uncached, but stores are buffered: a device sees them after the next write barrier. What a device stores
 *   the processor may load late: after a completion entry's last quadword, which is seen at once, everything the device
 *   stored before it is certain only after the next read barrier.
 * - SIM_CACHED: a device sees stores when the lines are cleaned. The processor sees what a device stored when the lines
 *   are invalidated, and only what was stored before the last read barrier: a load may have gone ahead of the look at
 *   the completion. Lines that are dirty while a device writes them are evicted over its data.
 * - SIM_LOGIC: the processor never looks: programmable logic fills and drains it. Only the devices' view exists, which
 *   is what sim_memory_device() gives, and the CPU pointer is that view.
 *
 * With sim_config.coherent there is one view for everybody. Lines are 64 bytes (SPATE_DMA_ALIGN). Addresses on the bus
 * differ from the processor's, and between two pieces of memory there are addresses that belong to nobody.
 */
#ifndef SPATE_SIM_MEMORY_H
#define SPATE_SIM_MEMORY_H

#include "sim.h"

enum sim_memory_kind { SIM_QUEUE, SIM_CACHED, SIM_LOGIC };

/* `bytes` (rounded up to 4096) of zeroed, page aligned memory; lives as long as the machine. */
void *sim_memory_take(struct sim *sim, size_t bytes, enum sim_memory_kind kind);

/* The address at which devices see a byte that the processor has at `cpu`. Anything not taken from the machine is a
 * violation, and gives an address that belongs to nobody. */
uint64_t sim_memory_address(struct sim *sim, const volatile void *cpu);

/*
 * The devices' view of `bytes` at a bus address, all in one piece of memory, or NULL: the address belongs to nobody.
 * For reading, and for SIM_LOGIC memory, writing. What is in a window (logic.h) is read by this call, and good until
 * the next one.
 */
uint8_t *sim_memory_device(struct sim *sim, uint64_t address, uint64_t bytes);

/*
 * Could a device that was told at `sequence` (sim_next_sequence()) already see there what it sees now? Not if a barrier
 * or a clean brought it about only later: then it saw it by luck, and on another day reads what was there before.
 */
bool sim_memory_was_shown(struct sim *sim, uint64_t address, uint64_t bytes, uint64_t sequence);

/* A device stores. False: the address belongs to nobody, nothing is stored. */
bool sim_memory_store(struct sim *sim, uint64_t address, const void *data, uint64_t bytes);

/* A device stores a completion entry: 16 bytes, of which the processor sees the second half at once. */
bool sim_memory_store_completion(struct sim *sim, uint64_t address, const void *entry);

/* What the port's calls come to. */
void sim_memory_write_barrier(struct sim *sim);
void sim_memory_read_barrier(struct sim *sim);
void sim_memory_clean(struct sim *sim, const void *start, size_t bytes);
void sim_memory_invalidate(struct sim *sim, void *start, size_t bytes);

#endif
