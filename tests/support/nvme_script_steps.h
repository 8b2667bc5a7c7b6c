/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the script: nvme_script.c tests the controller, nvme_script_data.c transfers data. */
#ifndef NVME_SCRIPT_STEPS_H
#define NVME_SCRIPT_STEPS_H

#include "nvme_script.h"
#include <spate/bytes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS      (NVME_SCRIPT_BYTES / 512)
#define LISTS       RAW_PAGES_USED /* pages for PRP lists */
#define LIST_PAGES  8u
#define OUT         64u   /* pages that are written to the drive */
#define BACK        2048u /* and pages that are read into */
#define BROADCAST   UINT32_C(0xffffffff)
#define SAVE        (UINT32_C(1) << 31)
#define QUEUE_OF(q) ((RAW_ENTRIES - 1u) << 16 | (q))

enum { DELETE_SQ, CREATE_SQ, GET_LOG, DELETE_CQ = 4, CREATE_CQ, IDENTIFY, ABORT = 8, SET_FEATURES, GET_FEATURES };
enum { EVENT = 0x0c, FORMAT = 0x80 };
enum { FLUSH, WRITE, READ, ZEROES = 8, DATASET };

struct script {
  struct raw_nvme *raw;
  struct nvme_record *records;
  unsigned count;
};

/* ---- steps ---- */

__attribute__((noreturn)) static inline void give_up(const char *name, const char *why) {
  (void)fprintf(stderr, "script: %s: %s\n", name, why);
  abort();
}

static inline struct nvme_record *record(struct script *s, const char *name) {
  if (s->count == NVME_SCRIPT_RECORDS) give_up(name, "no room for the record");
  struct nvme_record *r = &s->records[s->count++];
  *r = (struct nvme_record){.status = 0};
  (void)snprintf(r->name, sizeof r->name, "%s", name);
  return r;
}

static inline void value(struct script *s, const char *name, uint64_t value) { record(s, name)->value = value; }

static inline struct nvme_record *completion(struct script *s, const char *name, struct raw_completion c) {
  struct nvme_record *r = record(s, name);
  if (c.missing) give_up(name, "no completion");
  r->status = c.status;
  r->id = c.id;
  r->queue = c.queue;
  r->head = c.head;
  r->phase = c.phase;
  r->result = c.result;
  return r;
}

static inline struct nvme_record *step(struct script *s, const char *name, unsigned queue, struct raw_command command) {
  return completion(s, name, raw_do(s->raw, queue, &command));
}

/* A command whose completion has nothing in dword 0. */
static inline struct nvme_record *plain(struct script *s, const char *name, unsigned queue,
                                        struct raw_command command) {
  struct nvme_record *r = step(s, name, queue, command);
  r->result = 0;
  return r;
}

static inline uint64_t hash(const uint8_t *at, size_t bytes) {
  uint64_t h = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ at[i]) * UINT64_C(1099511628211);
  return h;
}

static inline void fill(uint8_t *at, size_t bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes; i++) {
    seed = seed * 1664525u + 1013904223u;
    at[i] = (uint8_t)(seed >> 24);
  }
}

static inline uint64_t bus(const struct script *s, unsigned page) { return raw_bus(s->raw, page); }
static inline uint8_t *at(const struct script *s, unsigned page) { return raw_at(s->raw, page); }

/* nvme_script_data.c */
void nvme_script_data(struct script *s);
void nvme_script_read_back(struct script *s, const char *name, uint32_t lba, uint32_t count);

#endif
