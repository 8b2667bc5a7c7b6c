/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine in virtual time: a clock, one queue of events, memory that the processor and devices see differently, and
 * up to eight NVMe drives behind root ports. The library runs on it unchanged: sim/machine/port.c is the hosted port,
 * and forwards every register access, barrier and clock read to the machine.
 *
 * There are no threads, and nothing reads a wall clock. All randomness comes from one seed, so the same seed and the
 * same calls give the same run to the byte.
 *
 *   struct sim *sim = sim_new(&(struct sim_config){.seed = 42});
 *   struct sim_drive *drive = sim_drive_add(sim, sim_profile_find("ideal"), NULL);
 *   sim_use(sim);                             // from here on the port is this machine
 *   ... spate_pcie_ecam_open() on SIM_ECAM, spate_pcie_enumerate(), spate_nvme_open() ...
 *   sim_free(sim);
 *
 * Time passes when the processor does something that costs time (struct sim_host), and when it reads the clock. When a
 * processor has polled several times and found nothing, time advances to the next event: faster polling could not
 * change the result. Therefore everything that the processor may find at some time needs an event at that time
 * (sim_at()), the data of a source included.
 */
#ifndef SPATE_SIM_H
#define SPATE_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_PS_PER_NS  UINT64_C(1000)
#define SIM_PS_PER_US  UINT64_C(1000000)
#define SIM_PS_PER_MS  UINT64_C(1000000000)
#define SIM_PS_PER_S   UINT64_C(1000000000000)
#define SIM_DRIVES_MAX 8u

/* The machine's host bridge: generic ECAM, as on QEMU's virt board. Root port n is device n of bus 0. bridge.h has
 * others. */
#define SIM_ECAM         UINT64_C(0x4010000000)
#define SIM_ECAM_BUSES   16u
#define SIM_WINDOW       UINT64_C(0x10000000) /* for BARs; CPU address = bus address */
#define SIM_WINDOW_BYTES UINT64_C(0x10000000)

/*
 * What the processor's work costs. The instruction counts are those of `make bench-instructions`. The clock and the
 * instructions per cycle turn them into time. For register accesses, the time on the link comes on top.
 */
struct sim_host {
  uint32_t clock_mhz;                   /* 0: work costs nothing */
  uint32_t instructions_per_100_cycles; /* 100 = one each cycle */
  uint32_t submit_instructions;         /* for each command, with its share of the doorbell */
  uint32_t complete_instructions;       /* for each completion */
  uint32_t poll_instructions;           /* for a poll that finds nothing, and each clock read */
  uint32_t write_ns;                    /* how long a posted register write holds up the processor */
  uint32_t read_ns;                     /* the processor's part of a register read */
};

/* 1.2 GHz, one instruction a cycle, and the library's own figures: an application processor of a Zynq UltraScale+. */
extern const struct sim_host sim_host_a53;

struct sim_config {
  uint64_t seed;
  struct sim_host host;
  /* One view of all memory, stores visible at once. Faster; for runs that do not test barriers. */
  bool coherent;
};

struct sim;
struct sim_drive;

struct sim *sim_new(const struct sim_config *config); /* ends the program when there is no memory */
void sim_free(struct sim *sim);

/* Makes this machine the port's. Only one machine at a time can be the port's. */
void sim_use(struct sim *sim);

/* ---- time and chance ---- */

uint64_t sim_now_ps(const struct sim *sim);
uint64_t sim_random(struct sim *sim); /* 64 bits from the seed */
uint64_t sim_seed(const struct sim *sim);

/* Calls `act` at `at_ps` (at the earliest now). Events at the same instant happen in the order of the calls of
 * sim_at(). */
void sim_at(struct sim *sim, uint64_t at_ps, void (*act)(void *context, uint64_t number), void *context,
            uint64_t number);

/* The processor does something else for this long. Events happen meanwhile. */
void sim_spend(struct sim *sim, uint64_t ps);

/* The same, and counted as busy: the work of a program above the port, for which no call of the port stands. */
void sim_work(struct sim *sim, uint64_t ps);

/* The processor has nothing to do: time advances to the next event, but at most by `most_ps`. */
void sim_idle(struct sim *sim, uint64_t most_ps);

/* How much of the time since sim_new() the processor worked, rather than polled without result or idled. */
uint64_t sim_busy_ps(const struct sim *sim);

/* ---- trace ---- */

enum sim_access_kind {
  SIM_ACCESS_READ,  /* by the processor, of a register or configuration space */
  SIM_ACCESS_WRITE, /* by the processor, when it leaves the processor */
  SIM_ACCESS_STORE, /* by a device, to memory */
  /* What makes memory consistent between the processor and devices. Barriers have address 0. */
  SIM_ACCESS_WRITE_BARRIER,
  SIM_ACCESS_READ_BARRIER,
  SIM_ACCESS_CLEAN,
  SIM_ACCESS_INVALIDATE,
};

struct sim_access {
  enum sim_access_kind kind;
  uint64_t at_ps, address, bytes;
  const void *data;
};

/* `seen` is called with each access, in order, until sim_trace() is called with NULL. It may schedule
 * events (sim_at()), and must not change the machine otherwise. */
void sim_trace(struct sim *sim, void (*seen)(void *context, const struct sim_access *access), void *context);

/* ---- violations ---- */

/*
 * A drive saw something that the specification forbids a host, or a device accessed memory that was not handed out. The
 * machine counts violations and keeps the first one as a sentence. If a test does not take them, sim_free() prints the
 * first one and ends the program.
 */
void sim_violate(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the number of violations and the first one (NULL: none), and resets both. */
unsigned sim_take_violations(struct sim *sim, const char **first);

#endif
