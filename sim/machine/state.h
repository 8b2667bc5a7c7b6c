/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a machine, for clock.c, parts.c and sim.c. */
#ifndef SPATE_SIM_STATE_H
#define SPATE_SIM_STATE_H

#include "internal.h"

struct event {
  uint64_t at_ps, order;
  void (*act)(void *context, uint64_t number);
  void *context;
  uint64_t number;
};

struct sim {
  struct sim_config config;
  uint64_t now_ps, busy_ps;
  uint64_t random;
  uint64_t sequence;
  struct event *heap; /* the earliest is the first; children of i are 2i + 1 and 2i + 2 */
  size_t events, room;
  uint64_t order; /* events so far, for their order */
  bool acting;    /* true while an event runs */
  unsigned looks; /* left before the processor counts as idle */
  bool found;     /* its next look finds a completion */
  struct sim_drive *drives[SIM_DRIVES_MAX];
  unsigned drive_count;
  struct sim_memory *memory;
  struct sim_pcie *pcie;
  struct sim_port *port;
  struct sim_bridge *bridge;
  struct sim_msi_page *msi;
  const struct sim_bus *bus;
  struct sim_unanswered_state unanswered;
  void (*seen)(void *context, const struct sim_access *access);
  void *seen_context;
  unsigned violations;
  char first[256]; /* the message of the first violation */
};

/* Prints the seed, the time and `why`, and ends the program. */
__attribute__((noreturn)) void sim_fail(const struct sim *sim, const char *why);

#endif
