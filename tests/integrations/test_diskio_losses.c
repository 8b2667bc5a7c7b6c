/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No failure is lost, and none is invented. Random calls on a drive of which requests fail at random: each call returns
 * RES_ERROR exactly if something failed that it has to report.
 */
#include "diskio_layer.h"

#define SEEDS 40u
#define STEPS 600u

/* What the drive saw fail, and what is not reported yet. */
struct owed {
  bool to_all;  /* to the next disk_read() or disk_write() */
  bool to_sync; /* to the next CTRL_SYNC */
  bool mount;   /* a copy: to every call, until the next disk_initialize() */
  bool own;     /* the request of the call itself */
  unsigned failures;
};

static void taken(void *context, struct ram_block *ram, const struct spate_io *io) {
  (void)context;
  (void)ram;
  (void)io;
}

static void over(void *context, struct ram_block *ram, const struct spate_io *io) {
  struct owed *owed = context;

  (void)ram;
  if (io->error == SPATE_OK) return;
  owed->failures++;
  if (io->op == SPATE_FLUSH || (io->op == SPATE_READ && io->region == NULL)) {
    owed->own = true;
    return;
  }
  owed->to_all = true;
  if (io->op != SPATE_WRITE) return;
  owed->to_sync = true;
  if (io->region == NULL) owed->mount = true;
}

static void dropped(void *context, struct ram_block *ram) {
  (void)context;
  (void)ram;
}

static void transfer(struct fixture *f, struct owed *owed, uint64_t *random) {
  const bool write = ram_random(random) % 3 != 0, stream = ram_random(random) % 3 != 0;
  const UINT count = (UINT)(ram_random(random) % 40 + 2);
  const LBA_t sector = ram_random(random) % 2000;
  uint8_t *memory = (stream ? f->memory : f->plain) + ram_random(random) % 1000 * 4096;

  owed->own = false;
  const DRESULT result = write ? disk_write(0, memory, sector, count) : disk_read(0, memory, sector, count);
  assert_int_equal(result, owed->to_all || owed->mount || owed->own ? RES_ERROR : RES_OK);
  owed->to_all = false;
}

static void sync(struct owed *owed) {
  owed->own = false;
  const DRESULT result = disk_ioctl(0, CTRL_SYNC, NULL);
  assert_int_equal(result, owed->to_sync || owed->mount || owed->own ? RES_ERROR : RES_OK);
  if (result == RES_ERROR && !owed->mount && !owed->own) owed->to_all = false;
  if (!owed->mount && !owed->own) owed->to_sync = false;
}

static void mount(struct owed *owed) {
  assert_int_equal(disk_initialize(0), 0);
  if (owed->mount) *owed = (struct owed){.failures = owed->failures};
}

static void run(uint64_t seed) {
  struct fixture *f = start(ALL_USES);
  struct owed owed = {0};
  const struct ram_observer observer = {taken, over, dropped, &owed};
  uint64_t random = seed;

  f->ram.observer = &observer;
  f->ram.order = RAM_RANDOM;
  f->ram.random = seed;
  f->ram.delay_polls = (uint32_t)(seed % 30);
  for (unsigned i = 0; i < STEPS; i++) {
    const uint64_t kind = ram_random(&random) % 20;
    if (i % 50 == 0) {
      ram_block_clear_faults(&f->ram);
      ram_block_fault(&f->ram, (struct ram_fault){.ops = RAM_ANY_OP,
                                                  .last_lba = SECTORS,
                                                  .skip = (uint32_t)(ram_random(&random) % 60),
                                                  .times = 1 + (uint32_t)(ram_random(&random) % 2),
                                                  .error = SPATE_E_MEDIA});
    }
    if (kind == 0)
      sync(&owed);
    else if (kind == 1)
      mount(&owed);
    else
      transfer(f, &owed, &random);
  }
  (void)spate_diskio_wait_all(&f->disk);
  sync(&owed);
  assert_true(owed.failures >= 5);
  end(f);
}

static void test_every_failure_is_reported_once_to_each(void **state) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++)
    run(seed);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_failure_is_reported_once_to_each)};
  return cmocka_run_group_tests_name("diskio_losses", tests, NULL, NULL);
}
