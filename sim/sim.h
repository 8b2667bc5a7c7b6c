/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine in virtual time: a clock, one queue of events, memory that the processor and devices see differently, and
 * up to eight NVMe drives behind root ports. The library runs on it unchanged: sim/port.c is the hosted port, and every
 * register access, barrier and look at the clock comes here.
 *
 * There are no threads and there is no wall clock. Whatever is random comes from one seed, so the same seed and the
 * same calls give the same run to the byte.
 *
 *   struct sim *sim = sim_new(&(struct sim_config){.seed = 42});
 *   struct sim_drive *drive = sim_drive_add(sim, sim_profile_find("ideal"), NULL);
 *   sim_use(sim);                             // from here on the port is this machine
 *   ... spate_pcie_ecam_open() on SIM_ECAM, spate_pcie_enumerate(), spate_nvme_open() ...
 *   sim_free(sim);
 *
 * Time passes when the processor does something that costs time (struct sim_host), and when it looks at the clock. A
 * processor that polls and finds nothing, for some turns, is carried to the next event: to poll faster could not change
 * anything. So whatever is to be found at some time, a source's data too, has an event at that time (sim_at()).
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

/* Where the machine's host bridge is: generic ECAM, as on QEMU's virt board. Root port n is device n of bus 0. */
#define SIM_ECAM         UINT64_C(0x4010000000)
#define SIM_ECAM_BUSES   16u
#define SIM_WINDOW       UINT64_C(0x10000000) /* for BARs; CPU address = bus address */
#define SIM_WINDOW_BYTES UINT64_C(0x10000000)

/*
 * What the processor's work costs. Instructions are those of `make bench-instructions`; a board's clock and how many
 * instructions it retires each cycle make time of them. Register accesses are posted writes and round trips, whose time
 * on the link comes on top.
 */
struct sim_host {
  uint32_t clock_mhz;                   /* 0: work costs nothing */
  uint32_t instructions_per_100_cycles; /* 100 = one each cycle */
  uint32_t submit_instructions;         /* for each command, its part of the doorbell included */
  uint32_t complete_instructions;       /* for each completion */
  uint32_t poll_instructions;           /* for a poll that finds nothing, and each look at the clock */
  uint32_t write_ns;                    /* a posted register write holds the processor up so long */
  uint32_t read_ns;                     /* the processor's part of a register read */
};

/* 1.2 GHz, one instruction a cycle, and the library's own figures: an application processor of a Zynq UltraScale+. */
extern const struct sim_host sim_host_a53;

struct sim_config {
  uint64_t seed;
  struct sim_host host;
  /* All memory is as if coherent, stores visible at once: for speed, where barriers are not what is tested. */
  bool coherent;
};

struct sim;
struct sim_drive;

struct sim *sim_new(const struct sim_config *config); /* ends the program when there is no memory */
void sim_free(struct sim *sim);

/* Make this machine the port's. One at a time. */
void sim_use(struct sim *sim);

/* ---- time and chance ---- */

uint64_t sim_now_ps(const struct sim *sim);
uint64_t sim_random(struct sim *sim); /* 64 bits from the seed */
uint64_t sim_seed(const struct sim *sim);

/* `act` is called at `at_ps` (not before now). Events of the same instant happen in the order they were asked for. */
void sim_at(struct sim *sim, uint64_t at_ps, void (*act)(void *context, uint64_t number), void *context,
            uint64_t number);

/* The processor does something else for so long; events happen meanwhile. */
void sim_spend(struct sim *sim, uint64_t ps);

/* The processor has nothing to do: on to the next event, but at most `most_ps`. */
void sim_idle(struct sim *sim, uint64_t most_ps);

/* How much of the time since sim_new() the processor worked, rather than polled in vain or idled. */
uint64_t sim_busy_ps(const struct sim *sim);

/* ---- what happens ---- */

enum sim_access_kind {
  SIM_ACCESS_READ,  /* of a register by the processor; configuration space included */
  SIM_ACCESS_WRITE, /* as it leaves the processor */
  SIM_ACCESS_STORE, /* to memory by a device */
  /* What the processor does so that it and the devices see the same: at a bus address, or (barriers) at none. */
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

/* `seen` is called with each access, in order, until it is NULL. It only looks. */
void sim_trace(struct sim *sim, void (*seen)(void *context, const struct sim_access *access), void *context);

/* ---- what was forbidden ---- */

/* A drive saw something that the specification forbids a host, or a device touched memory it was not given. Counted;
 * the first is kept as a sentence. A test that forgets to look is helped by sim_free(), which ends the program if there
 * were any that nobody took. */
void sim_violate(struct sim *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number of violations so far, and the first one (NULL: none); forgets them. */
unsigned sim_take_violations(struct sim *sim, const char **first);

#endif
