/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One script of raw commands runs on the virtual drive and on QEMU's. The results are compared completion by
 * completion: status, identifier, queue, head, phase, result, and the data read. This shows that the virtual drive,
 * which most tests use, answers like one that others wrote.
 *
 * Each difference has a line in `differences`, with its reason. A line that is not needed fails the test, unless it is
 * of `some` versions of QEMU only.
 */
#include "../raw_sim.h"
#include "nvme_script.h"
#include "qtest.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the two drives ---- */

static uint32_t qemu_read32(void *context, uint32_t offset) {
  return (uint32_t)qtest_read(context, QTEST_BAR_BASE + offset, 'l');
}

static void qemu_write32(void *context, uint32_t offset, uint32_t value) {
  qtest_write(context, QTEST_BAR_BASE + offset, value, 'l');
}

/* The emulator runs while it answers requests. */
static void qemu_wait(void *context) { (void)qemu_read32(context, 0x1c); }

static void run_on_qemu(struct nvme_record *records, unsigned *count) {
  char path[96], drive[256];
  struct qtest qtest;
  struct raw_nvme raw;

  qtest_prepare(&qtest);
  qtest_image(&qtest, "image", NVME_SCRIPT_BYTES, path, sizeof path);
  (void)snprintf(drive, sizeof drive, "if=none,id=d0,format=raw,cache=unsafe,discard=unmap,file=%s", path);
  const char *const arguments[] = {"-drive", drive, "-device",
                                   "nvme,drive=d0,serial=SPATE-1,addr=01.0,mdts=9,max_ioqpairs=8", NULL};
  qtest_start(&qtest, arguments);
  const struct raw_target target = {.context = &qtest,
                                    .read32 = qemu_read32,
                                    .write32 = qemu_write32,
                                    .wait = qemu_wait,
                                    .memory = qtest.memory,
                                    .bus = QTEST_MEMORY_BASE,
                                    .patience = 200000};
  raw_init(&raw, &target);
  *count = nvme_script(&raw, records);
  qtest_stop(&qtest);
}

static void run_on_sim(struct nvme_record *records, unsigned *count) {
  const struct sim_drive_options options = {.bytes = NVME_SCRIPT_BYTES};
  struct raw_sim *r = raw_sim_new(sim_profile_find("ideal"), &options, 1);
  const char *first;

  *count = nvme_script(&r->raw, records);
  assert_true(sim_take_violations(r->sim, &first) > 0); /* the script deliberately breaks rules */
  raw_sim_free(r);
}

/* ---- the comparison ---- */

struct difference {
  const char *name;
  struct nvme_record sim, qemu; /* status, result and value of each */
  const char *why;              /* the reason, which is printed */
  bool some;                    /* other versions of QEMU answer as the virtual drive */
};

static const struct difference differences[] = {
    {"set Power Management 0",
     {.status = 0},
     {.status = 0x410e},
     "QEMU has no power states and lets none be set",
     false},
    {"Delete CQ 0",
     {.status = 0x4101},
     {.status = 0x4100},
     "5.4 names Invalid Queue Identifier; QEMU says CQ Invalid",
     false},
    {"Delete CQ 5, which does not exist", {.status = 0x4101}, {.status = 0x4100}, "the same", false},
    {"trim across the end",
     {.status = 0x4080},
     {.status = 0},
     "QEMU skips ranges that are not on the drive; 6.7"
     " and real drives refuse the command",
     false},
    {"a log page that does not exist",
     {.status = 0x4109},
     {.status = 0x4002},
     "5.14 names Invalid Log Page; QEMU says"
     " Invalid Field",
     false},
    {"read from namespace FFFFFFFFh",
     {.status = 0x4002},
     {.status = 0x400b},
     "QEMU 10 says Invalid Namespace or Format, and QEMU 7 Invalid Field",
     true},
};
#define DIFFERENCES (sizeof differences / sizeof differences[0])

static bool same_answer(const struct nvme_record *a, const struct nvme_record *b) {
  return a->status == b->status && a->result == b->result && a->value == b->value;
}

/* Identifiers, and each queue's head and phase, advance in the same way on both drives: these never differ. */
static bool same_place(const struct nvme_record *a, const struct nvme_record *b) {
  return a->id == b->id && a->queue == b->queue && a->head == b->head && a->phase == b->phase;
}

static int difference_of(const struct nvme_record *sim, const struct nvme_record *qemu) {
  for (unsigned i = 0; i < DIFFERENCES; i++)
    if (strcmp(differences[i].name, sim->name) == 0 && same_answer(&differences[i].sim, sim) &&
        same_answer(&differences[i].qemu, qemu))
      return (int)i;
  return -1;
}

static void show(const char *who, const struct nvme_record *r) {
  print_message("  %s: status %04x result %08x value %llx, identifier %04x queue %u head %u phase %u\n", who, r->status,
                r->result, (unsigned long long)r->value, r->id, r->queue, r->head, r->phase);
}

static void test_same_answers_as_qemu(void **state) {
  struct nvme_record *sim = calloc(NVME_SCRIPT_RECORDS, sizeof *sim), *qemu = calloc(NVME_SCRIPT_RECORDS, sizeof *qemu);
  unsigned sim_count = 0, qemu_count = 0, wrong = 0, found = 0;
  bool used[DIFFERENCES] = {false};

  assert_non_null(sim);
  assert_non_null(qemu);
  run_on_sim(sim, &sim_count);
  run_on_qemu(qemu, &qemu_count);
  assert_int_equal(sim_count, qemu_count);
  for (unsigned i = 0; i < sim_count; i++) {
    assert_string_equal(sim[i].name, qemu[i].name);
    if (same_answer(&sim[i], &qemu[i]) && same_place(&sim[i], &qemu[i])) continue;
    const int known = difference_of(&sim[i], &qemu[i]);
    if (known >= 0 && same_place(&sim[i], &qemu[i])) {
      found += !used[known];
      used[known] = true;
      print_message("known: %s: %04x here, %04x there. %s\n", sim[i].name, sim[i].status, qemu[i].status,
                    differences[known].why);
      continue;
    }
    print_message("%s\n", sim[i].name);
    show("sim ", &sim[i]);
    show("QEMU", &qemu[i]);
    wrong++;
  }
  for (unsigned i = 0; i < DIFFERENCES; i++) {
    if (used[i] || differences[i].some) continue;
    print_message("this difference no longer exists: %s\n", differences[i].name);
    wrong++;
  }
  print_message("%u steps compared, %u known differences\n", sim_count, found);
  free(sim);
  free(qemu);
  assert_int_equal(wrong, 0);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_answers_as_qemu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
