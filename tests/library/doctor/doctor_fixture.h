/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a root port and a drive below it, and the findings that the doctor reports. Included by one test
 * program each. */
#ifndef DOCTOR_FIXTURE_H
#define DOCTOR_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <spate/doctor.h>

enum { PORT, DRIVE, FUNCTIONS };
enum { POWER = 0x40, EXPRESS = 0x70, AER = 0x100 };

struct facts {
  uint32_t config[FUNCTIONS][1024], config_after[FUNCTIONS][1024];
  uint64_t bar0_bytes, counted_after;
  bool in_use, bar0_fixed;
  struct spate_doctor_registers registers;
  struct spate_nvme_identity identity;
  struct spate_nvme_health health;
  struct spate_nvme_throttling throttling, throttling_after;
  struct spate_nvme_namespace namespace;
  unsigned namespaces;
};

static inline uint32_t *at(struct facts *facts, unsigned function, unsigned offset) {
  return &facts->config[function][offset / 4u];
}

static inline void set(struct facts *facts, unsigned function, unsigned offset, uint32_t clear, uint32_t bits) {
  *at(facts, function, offset) = (*at(facts, function, offset) & ~clear) | bits;
}

/* A link of 16 GT/s x4, payloads of 256 bytes, read requests of 512 bytes. */
static inline void fill_function(struct facts *facts, unsigned function, uint32_t express_type) {
  set(facts, function, 0x00, 0, 0x00101b36);
  set(facts, function, 0x04, 0, 0x00100406);
  set(facts, function, 0x34, 0, POWER);
  set(facts, function, POWER, 0, 0x00037001);
  set(facts, function, EXPRESS, 0, 0x00020010 | express_type << 20);
  set(facts, function, EXPRESS + 0x04, 0, 1);
  set(facts, function, EXPRESS + 0x08, 0, 1u << 5 | 2u << 12);
  set(facts, function, EXPRESS + 0x0c, 0, 0x00100000 | 4u << 4 | 4u);
  set(facts, function, EXPRESS + 0x10, 0, (0x2000u | 4u << 4 | 4u) << 16);
  set(facts, function, EXPRESS + 0x30, 0, 4);
  set(facts, function, AER, 0, 0x00020001);
}

static inline void fill(struct facts *facts) {
  *facts = (struct facts){
      .bar0_bytes = 0x4000,
      .in_use = true,
      .registers = {.capabilities = UINT64_C(1) << 37, .configuration = 0x00460001, .status = 1},
      .identity = {.warning_temperature_c = 70, .critical_temperature_c = 100},
      .health = {.temperature_c = 50, .spare_percent = 100, .spare_threshold_percent = 10},
      .namespace = {.nsid = 1, .blocks = 1000, .block_bytes = 512},
      .namespaces = 1,
  };
  fill_function(facts, PORT, 0x4);
  fill_function(facts, DRIVE, 0x0);
  set(facts, PORT, 0x08, 0, 0x06040000);
  set(facts, PORT, 0x0c, 0, 0x00010000);
  set(facts, PORT, 0x18, 0, 0x00010100);
  set(facts, PORT, 0x20, 0, 0xe010e000);
  set(facts, PORT, EXPRESS, 0, 0x01000000);        /* Slot Implemented */
  set(facts, PORT, EXPRESS + 0x18, 0, 0x00400000); /* Presence Detect State */
  set(facts, DRIVE, 0x08, 0, 0x01080200);
  set(facts, DRIVE, 0x10, 0, 0xe0000004);
}

/* ---- the findings reported ---- */

struct report {
  struct spate_doctor_finding findings[64];
  unsigned count;
};

static inline void add_finding(void *context, const struct spate_doctor_finding *finding) {
  struct report *report = context;
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  assert_true(report->count < 64);
  report->findings[report->count++] = *finding;
  (void)spate_doctor_problem(text, sizeof text, finding->code, finding);
  assert_null(strpbrk(text, "{}"));
  (void)spate_doctor_advice(text, sizeof text, finding->code, finding);
  assert_null(strpbrk(text, "{}"));
}

static inline uint32_t read_config(const void *context, unsigned offset) {
  assert_true(offset % 4 == 0 && offset < 4096);
  return ((const uint32_t *)context)[offset / 4u];
}

static inline struct spate_doctor_space space_of(const uint32_t *config, unsigned bytes) {
  return (struct spate_doctor_space){.read = read_config, .context = config, .bytes = bytes};
}

static inline void read_path(const struct facts *facts, const uint32_t config[FUNCTIONS][1024],
                             struct spate_doctor_function path[FUNCTIONS]) {
  for (unsigned i = 0; i < FUNCTIONS; i++) {
    const struct spate_doctor_space space = space_of(config[i], 4096);
    spate_doctor_function_read(&path[i], (struct spate_pcie_address){.bus = (uint8_t)i}, &space);
  }
  path[DRIVE].bar0_bytes = facts->bar0_bytes;
  path[DRIVE].bar0_fixed = facts->bar0_fixed;
}

/* Calls all judgements of the library, in the order of `spate doctor`. */
static inline enum spate_doctor_severity judge(const struct facts *facts, struct report *report) {
  static struct spate_doctor_function path[FUNCTIONS], after[FUNCTIONS];
  struct spate_doctor doctor = {.found = add_finding, .context = report};

  report->count = 0;
  read_path(facts, facts->config, path);
  read_path(facts, facts->config_after, after);
  after[DRIVE].errors.corrected_count = facts->counted_after;
  spate_doctor_judge_path(&doctor, path, FUNCTIONS, facts->in_use);
  spate_doctor_judge_errors_before(&doctor, path, FUNCTIONS);
  spate_doctor_judge_errors_during(&doctor, path, after, FUNCTIONS);
  spate_doctor_judge_registers(&doctor, &facts->registers, facts->in_use);
  spate_doctor_judge_drive(&doctor, &(struct spate_doctor_drive){.identity = &facts->identity,
                                                                 .health = &facts->health,
                                                                 .throttling = &facts->throttling,
                                                                 .throttling_after = &facts->throttling_after});
  spate_doctor_judge_namespaces(&doctor, &facts->namespace, facts->namespaces);
  return doctor.worst;
}

static inline void judge_port(const struct facts *facts, struct report *report) {
  static struct spate_doctor_function path[FUNCTIONS];
  struct spate_doctor doctor = {.found = add_finding, .context = report};

  report->count = 0;
  read_path(facts, facts->config, path);
  spate_doctor_judge_port(&doctor, &path[PORT]);
}

#define EACH_OF(facts, function) for (unsigned function = 0; function < FUNCTIONS; function++)

#endif
