/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong, and how the driver mends it: retries, aborts, resets, replay, power cuts, drives that lie or die. */
#include "nvme_fixture.h"
#include <spate/bytes.h>

#define DNR  0x4000u
#define MORE 0x2000u

static struct fixture *opened(unsigned depth) {
  struct fixture *f = fixture_make(9);
  fixture_open(f, depth);
  return f;
}

static struct spate_io write_of(const struct fixture *f, uint64_t lba, uint32_t blocks) {
  return (struct spate_io){.op = SPATE_WRITE, .lba = lba, .blocks = blocks, .region = &f->ring};
}

static void io_fault(struct fixture *f, enum fake_action action, unsigned skip, unsigned count, uint32_t value) {
  fake_nvme_fault(&f->drive, (struct fake_fault){action, false, -1, skip, count, value});
}

/* ---- statuses ---- */

static void test_error_with_dnr_is_not_retried(void **state) {
  struct fixture *f = opened(4);
  uint16_t detail = 0;
  io_fault(f, FAKE_STATUS, 0, 1, DNR | MORE | 0x006);
  assert_int_equal(fixture_do(f, write_of(f, 0, 8), &detail), SPATE_E_COMMAND);
  assert_int_equal(detail, DNR | MORE | 0x006);
  assert_int_equal(f->drive.journal_count, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->retries, 0);
  fixture_free(f);
  (void)state;
}

static void test_media_error_has_its_own_code(void **state) {
  struct fixture *f = opened(4);
  uint16_t detail = 0;
  io_fault(f, FAKE_STATUS, 0, 1, DNR | 0x281);
  assert_int_equal(fixture_do(f, write_of(f, 0, 8), &detail), SPATE_E_MEDIA);
  assert_int_equal(detail, DNR | 0x281);
  fixture_free(f);
  (void)state;
}

static void test_error_without_dnr_is_retried_and_mended(void **state) {
  struct fixture *f = opened(4);
  fill_pattern(f->ring_memory, 4096, 7);
  io_fault(f, FAKE_STATUS, 0, 3, 0x022);
  assert_int_equal(fixture_do(f, write_of(f, 40, 8), NULL), SPATE_OK);
  assert_memory_equal(f->drive.media + 40 * 512, f->ring_memory, 4096);
  assert_int_equal(f->drive.journal_count, 4);
  assert_int_equal(spate_nvme_counters(&f->nvme)->retries, 3);
  fixture_free(f);
  (void)state;
}

static void test_retries_end(void **state) {
  struct fixture *f = opened(4);
  uint16_t detail = 0;
  io_fault(f, FAKE_STATUS, 0, 100, 0x006);
  assert_int_equal(fixture_do(f, write_of(f, 0, 8), &detail), SPATE_E_COMMAND);
  assert_int_equal(detail, 0x006);
  assert_int_equal(f->drive.journal_count, SPATE_NVME_ATTEMPTS_MAX);
  fixture_free(f);
  (void)state;
}

static void test_malformed_is_final_without_dnr(void **state) {
  static const uint16_t final[] = {0x001, 0x002, 0x00b, 0x013, 0x020, 0x080, 0x081};
  for (uint16_t status = 1; status < 0x300; status++) {
    bool is_final = false;
    for (unsigned i = 0; i < sizeof final / sizeof final[0]; i++)
      is_final |= status == final[i];
    struct fixture *f = opened(4);
    io_fault(f, FAKE_STATUS, 0, 100, status);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), status >> 8 == 2 ? SPATE_E_MEDIA : SPATE_E_COMMAND);
    assert_int_equal(f->drive.journal_count, is_final ? 1 : SPATE_NVME_ATTEMPTS_MAX);
    fixture_free(f);
  }
  (void)state;
}

static void test_retry_waits_for_the_drives_delay(void **state) {
  const uint16_t delays[] = {0, 3, 7, 50};
  for (unsigned crd = 0; crd < 4; crd++) {
    struct fixture *f = fixture_make(9);
    for (unsigned i = 1; i < 4; i++)
      spate_put16(f->drive.controller_page + 126 + 2 * i, delays[i]);
    fixture_open(f, 4);
    assert_true(f->drive.behavior_acre);
    fixture_poll_ms(f, 60); /* into the middle of an interval */
    io_fault(f, FAKE_STATUS, 0, 1, crd << 11 | 0x006);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    const uint64_t waited = f->drive.journal[1].ticks - f->drive.journal[0].ticks;
    assert_in_range(waited, delays[crd] * UINT64_C(100000), delays[crd] * UINT64_C(100000) + 210000);
    fixture_free(f);
  }
  (void)state;
}

/* A drive that asks for hours is asked again after ten seconds. */
static void test_retry_delay_is_bounded(void **state) {
  const uint16_t stated[] = {99, 100, 101, 1000, 0xfffd, 0xfffe, 0xffff};
  for (unsigned i = 0; i < sizeof stated / sizeof stated[0]; i++) {
    struct fixture *f = fixture_make(9);
    spate_put16(f->drive.controller_page + 132, stated[i]);
    fixture_open(f, 4);
    io_fault(f, FAKE_STATUS, 0, 1, 3u << 11 | 0x006);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
    assert_in_range(f->drive.journal[1].ticks - f->drive.journal[0].ticks, 9800000, 10200000);
    fixture_free(f);
  }
  (void)state;
}

static void test_acre_only_where_delays_are_stated(void **state) {
  struct fixture *f = opened(4);
  assert_false(f->drive.behavior_acre);
  fixture_free(f);
  (void)state;
}

/* One of several parts fails: the request fails once, with that status, when all parts are over. */
static void test_failed_part_fails_the_request_once(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcome;
  io_fault(f, FAKE_DELAY, 0, 1, 50000);
  io_fault(f, FAKE_STATUS, 0, 1, DNR | 0x280);
  io_fault(f, FAKE_STATUS, 0, 1, DNR | 0x006);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1024)), SPATE_OK);
  fixture_poll_ms(f, 10);
  assert_int_equal(outcome.calls, 0);
  assert_true(fixture_wait(f, &outcome, 100));
  assert_int_equal(outcome.io.error, SPATE_E_MEDIA);
  assert_int_equal(outcome.io.detail, DNR | 0x280);
  assert_int_equal(f->drive.journal_count, 4);
  fixture_free(f);
  (void)state;
}

/* Nothing of a slot's last command is left for the next one in it. */
static void test_slots_start_afresh(void **state) {
  struct fixture *f = opened(4);
  assert_int_equal(fixture_do(f, write_of(f, 0, 768), NULL), SPATE_OK); /* three parts */
  for (unsigned i = 0; i < 8; i++) {
    io_fault(f, FAKE_STATUS, 0, 3, 0x006);
    const unsigned before = f->drive.journal_count;
    assert_int_equal(fixture_do(f, write_of(f, 5000, 8), NULL), SPATE_OK);
    assert_int_equal(f->drive.journal_count, before + 4);
    for (unsigned j = before; j < f->drive.journal_count; j++)
      assert_int_equal(f->drive.journal[j].dwords[10], 5000);
    f->drive.fault_count = 0;
  }
  for (unsigned i = 0; i < 3; i++) {
    io_fault(f, FAKE_DELAY, 0, 1, 6000000);
    assert_int_equal(fixture_do(f, write_of(f, 0, 8), NULL), SPATE_OK);
  }
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
  fixture_free(f);
  (void)state;
}

/* ---- completions that are not to be believed ---- */

static void test_completions_in_any_order(void **state) {
  struct fixture *f = opened(32);
  static struct outcome outcomes[2000];
  unsigned submitted = 0;
  f->drive.shuffle = true;
  while (submitted < 2000) {
    const uint64_t lba = (submitted * 16) % 16000;
    struct spate_io io = write_of(f, lba, 16);
    io.offset_bytes = (submitted % 1000) * 8192u;
    if (fixture_submit(f, &outcomes[submitted], io) == SPATE_OK)
      submitted++;
    else
      (void)spate_block_poll(&f->queue.block, 8);
  }
  fixture_poll_ms(f, 100);
  for (unsigned i = 0; i < 2000; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
  }
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 0);
  fixture_free(f);
  (void)state;
}

static void test_doubled_completion_retires_nothing(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcomes[4];
  io_fault(f, FAKE_DOUBLE, 0, 4, 0);
  for (unsigned round = 0; round < 8; round++) {
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(fixture_submit(f, &outcomes[i], write_of(f, i, 1)), SPATE_OK);
    fixture_poll_ms(f, 10);
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(outcomes[i].calls, 1);
  }
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 4);
  fixture_free(f);
  (void)state;
}

/* The second completion comes when the slot has the next command already: only the generation tells. */
static void test_late_double_does_not_retire_the_next_command(void **state) {
  struct fixture *f = opened(2);
  struct outcome first, second;
  assert_int_equal(fixture_submit(f, &first, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &first, 10));
  f->drive.latency_ticks = 50000;
  assert_int_equal(fixture_submit(f, &second, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  /* Say again that the first is complete. */
  struct fake_pending *stale = &f->drive.pending[FAKE_PENDING_MAX - 1];
  *stale = (struct fake_pending){.used = true, .queue = 1, .due_ticks = f->drive.ticks};
  f->drive.pending_count++;
  stale->entry[2] = 1u << 16;
  stale->entry[3] = f->drive.journal[0].dwords[0] >> 16;
  fixture_poll_ms(f, 10);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  assert_int_equal(second.calls, 0);
  assert_true(fixture_wait(f, &second, 100));
  fixture_free(f);
  (void)state;
}

static void test_unknown_identifiers_are_ignored(void **state) {
  const uint32_t wrong[] = {0x0001, 0x0010, 0x00ff, 0x0100, 0x8000, 0xffff};
  for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    struct fixture *f = opened(4);
    io_fault(f, FAKE_WRONG_ID, 0, 1, wrong[i]);
    assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
    fixture_poll_ms(f, 10);
    assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
    fixture_free(f);
  }
  (void)state;
}

static void test_completion_for_another_queue_is_ignored(void **state) {
  struct fixture *f = opened(4);
  struct outcome outcome;
  io_fault(f, FAKE_WRONG_QUEUE, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  fixture_poll_ms(f, 100);
  assert_int_equal(outcome.calls, 0);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  assert_true(fixture_wait(f, &outcome, 20000)); /* by way of its deadline */
  fixture_free(f);
  (void)state;
}

static void test_admin_completion_of_another_command_is_ignored(void **state) {
  struct fixture *f = opened(4);
  bool on = false;
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_WRONG_ID, true, 0x0a, 0, 1, 0x100});
  assert_int_equal(spate_nvme_write_cache_get(&f->nvme, &on), SPATE_OK);
  assert_true(on);
  assert_int_equal(spate_nvme_counters(&f->nvme)->spurious_completions, 1);
  fixture_free(f);
  (void)state;
}

/* ---- abort and reset ---- */

static void test_stalled_command_is_aborted_and_retried(void **state) {
  struct fixture *f = opened(4);
  struct outcome stalled, other;
  fill_pattern(f->ring_memory, 512, 3);
  io_fault(f, FAKE_STALL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &stalled, write_of(f, 9, 1)), SPATE_OK);
  assert_int_equal(fixture_submit(f, &other, write_of(f, 50, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &other, 10));
  fixture_poll_ms(f, 9900);
  assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 0);
  assert_true(fixture_wait(f, &stalled, 500));
  assert_int_equal(stalled.io.error, SPATE_OK);
  assert_memory_equal(f->drive.media + 9 * 512, f->ring_memory, 512);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 1);
  fixture_poll_ms(f, 2000); /* past the abort's deadline: it was settled when the command came back */
  assert_int_equal(f->nvme.state, SPATE_NVME_RUNNING);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 0);
  fixture_free(f);
  (void)state;
}

static void test_io_goes_on_while_aborting(void **state) {
  struct fixture *f = opened(4);
  struct outcome lost;
  io_fault(f, FAKE_LOSE, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &lost, write_of(f, 9, 1)), SPATE_OK);
  while (spate_nvme_counters(&f->nvme)->aborts == 0)
    fixture_poll_ms(f, 1);
  assert_int_equal(f->nvme.state, SPATE_NVME_ABORTING);
  assert_int_equal(fixture_do(f, write_of(f, 20, 8), NULL), SPATE_OK);
  assert_int_equal(f->nvme.state, SPATE_NVME_ABORTING);
  assert_true(fixture_wait(f, &lost, 20000));
  fixture_free(f);
  (void)state;
}

/* A completion that waits in the ring while nobody polls is no time-out. */
static void test_answer_not_looked_at_is_no_timeout(void **state) {
  struct fixture *f = opened(4);
  struct outcome outcome;
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  for (unsigned i = 0; i < 300; i++) { /* half a minute of other work on the controller */
    fake_nvme_advance(&f->drive, 100000);
    assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  }
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
  fixture_free(f);
  (void)state;
}

/* The host was stopped for a minute: the drive's commands are not blamed. */
static void test_stopped_host_is_no_timeout(void **state) {
  struct fixture *f = opened(4);
  struct outcome outcome;
  f->drive.latency_ticks = 70000000;
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  fixture_poll_ms(f, 100);
  fake_nvme_advance(&f->drive, 69000000);
  fixture_poll_ms(f, 2000);
  assert_int_equal(outcome.calls, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->timeouts, 0);
  fixture_free(f);
  (void)state;
}

static void test_lost_command_leads_to_reset_and_replay(void **state) {
  struct fixture *f = opened(16);
  struct outcome outcomes[16];
  f->drive.no_media = true; /* so that only what the replay writes is there */
  io_fault(f, FAKE_LOSE, 0, 16, 0);
  fill_pattern(f->ring_memory, 16 * 8192, 11);
  for (unsigned i = 0; i < 16; i++) {
    struct spate_io io = write_of(f, 16 * i, 16);
    io.offset_bytes = 8192u * i;
    assert_int_equal(fixture_submit(f, &outcomes[i], io), SPATE_OK);
  }
  fixture_poll_ms(f, 5000);
  f->drive.no_media = false;
  assert_true(fixture_wait(f, &outcomes[15], 20000));
  fixture_poll_ms(f, 10);
  for (unsigned i = 0; i < 16; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
    assert_int_equal(f->drive.journal[16 + i].dwords[10], 16 * i); /* in their order */
  }
  assert_memory_equal(f->drive.media, f->ring_memory, 16 * 8192);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 16);
  assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, 0);
  assert_int_equal(f->queue.block.power_losses, 0);
  fixture_free(f);
  (void)state;
}

/* What completed before the reset and was not looked at yet is complete, and not sent again. */
static void test_completed_before_the_reset_is_not_replayed(void **state) {
  struct fixture *f = opened(4);
  struct outcome completed, caught;
  io_fault(f, FAKE_FATAL, 1, 1, 0);
  assert_int_equal(fixture_submit(f, &completed, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  fake_nvme_advance(&f->drive, 1000);
  assert_int_equal(fixture_submit(f, &caught, write_of(f, 8, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  while (spate_nvme_counters(&f->nvme)->replays == 0)
    (void)spate_block_poll(&f->queue.block, 0);
  assert_int_equal(completed.calls, 1);
  assert_int_equal(completed.io.error, SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 1);
  assert_true(fixture_wait(f, &caught, 100));
  fixture_free(f);
  (void)state;
}

static void test_submit_answers_full_while_recovering(void **state) {
  struct fixture *f = opened(4);
  struct outcome lost, refused;
  io_fault(f, FAKE_FATAL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &lost, write_of(f, 0, 1)), SPATE_OK);
  while (spate_nvme_counters(&f->nvme)->resets == 0)
    fixture_poll_ms(f, 1);
  unsigned refusals = 0;
  while (lost.calls == 0) {
    if (f->nvme.state != SPATE_NVME_RUNNING) {
      assert_int_equal(fixture_submit(f, &refused, write_of(f, 0, 1)), SPATE_E_FULL);
      refusals++;
    }
    (void)spate_block_poll(&f->queue.block, 8);
  }
  assert_true(refusals > 5);
  assert_int_equal(lost.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* Submitted, and not yet rung when the reset began: no doorbell until the controller runs, and then it is sent. */
static void test_reset_controller_is_not_rung(void **state) {
  struct fixture *f = opened(4);
  struct outcome outcome;
  f->drive.csts |= 2;
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 7, 1)), SPATE_OK);
  fake_nvme_advance(&f->drive, FAKE_TICKS_PER_SECOND);
  while (outcome.calls == 0) {
    (void)spate_block_poll(&f->queue.block, 8);
    spate_block_kick(&f->queue.block);
    if (f->nvme.state != SPATE_NVME_RUNNING) assert_int_equal(f->drive.journal_count, 0);
  }
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(f->drive.journal_count, 1);
  assert_int_equal(f->drive.journal[0].dwords[10], 7);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->replays, 1);
  fixture_free(f);
  (void)state;
}

static void test_fatal_status_is_noticed_within_a_moment(void **state) {
  struct fixture *f = opened(4);
  struct outcome outcome;
  io_fault(f, FAKE_FATAL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 200));
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->aborts, 0);
  fixture_free(f);
  (void)state;
}

static void test_recovery_restores_what_was_set_up(void **state) {
  struct fixture *f = fixture_make(9);
  struct spate_nvme_queue *second = calloc(1, sizeof *second);
  struct outcome outcome;
  spate_put32(f->drive.controller_page + 272, 16);
  f->config.host_buffer = f->ring_memory;
  f->config.host_buffer_bytes = 65536;
  fixture_open(f, 4);
  assert_int_equal(spate_nvme_queue_open(&f->nvme, second, 0, 4), SPATE_OK);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_OK);
  io_fault(f, FAKE_FATAL, 0, 1, 0);
  f->drive.features[0x0b] = 0;
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  f->drive.write_cache = true; /* the default, back after a reset */
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(f->drive.host_buffer[0], 3); /* enabled, memory returned */
  assert_int_equal(f->drive.features[0x0b], 0x1f);
  assert_int_equal(f->drive.events_armed, 2);
  assert_false(f->drive.write_cache);
  assert_false(f->queue.block.volatile_cache);
  struct spate_io flush = {.op = SPATE_FLUSH};
  assert_int_equal(spate_block_do(&second->block, &flush), SPATE_OK);
  free(second);
  fixture_free(f);
  (void)state;
}

static void test_power_cut_of_the_drive_is_counted(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcomes[8];
  io_fault(f, FAKE_POWER_CUT, 4, 1, 0);
  fill_pattern(f->ring_memory, 8 * 4096, 5);
  for (unsigned i = 0; i < 8; i++) {
    struct spate_io io = write_of(f, 8 * i, 8);
    io.offset_bytes = 4096u * i;
    assert_int_equal(fixture_submit(f, &outcomes[i], io), SPATE_OK);
  }
  assert_true(fixture_wait(f, &outcomes[7], 3000));
  fixture_poll_ms(f, 10);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(outcomes[i].io.error, SPATE_OK);
  assert_memory_equal(f->drive.media, f->ring_memory, 8 * 4096);
  assert_int_equal(f->queue.block.power_losses, 1);
  assert_int_equal(spate_nvme_counters(&f->nvme)->power_losses, 1);
  fixture_free(f);
  (void)state;
}

static void test_either_counter_tells_of_a_power_cut(void **state) {
  const unsigned counters[] = {112, 144};
  for (unsigned i = 0; i < 2; i++) {
    struct fixture *f = opened(4);
    io_fault(f, FAKE_FATAL, 0, 1, 0);
    spate_put64(f->drive.health_page + counters[i], 1000);
    assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
    assert_int_equal(f->queue.block.power_losses, 1);
    fixture_free(f);
  }
  (void)state;
}

/* Known to have been reset, and it does not say whether it had power: suppose not. */
static void test_unreadable_health_counts_as_power_loss(void **state) {
  struct fixture *f = opened(8);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, true, 0x02, 0, 1, 0x4109});
  io_fault(f, FAKE_FATAL, 0, 1, 0);
  assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
  assert_int_equal(f->queue.block.power_losses, 1);
  fixture_free(f);
  (void)state;
}

static void test_another_drive_in_its_place_is_not_written(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcome;
  io_fault(f, FAKE_POWER_CUT, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  memcpy(f->drive.controller_page + 4, "FAKE0002", 8);
  assert_true(fixture_wait(f, &outcome, 20000));
  assert_int_equal(outcome.io.error, SPATE_E_GONE);
  assert_int_equal(f->drive.journal_count, 1);
  fixture_free(f);
  (void)state;
}

/* The cache was turned off, but what it holds could not be flushed: no reset may make it count as durable. */
static void test_cache_that_could_not_be_flushed_stays_volatile(void **state) {
  struct fixture *f = opened(4);
  struct outcome outcome;
  io_fault(f, FAKE_STATUS, 0, 1, DNR | 0x006);
  assert_int_equal(spate_nvme_write_cache_set(&f->nvme, false), SPATE_E_COMMAND);
  assert_true(f->queue.block.volatile_cache);
  io_fault(f, FAKE_FATAL, 0, 1, 0);
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  spate_block_kick(&f->queue.block);
  assert_true(fixture_wait(f, &outcome, 1000));
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_true(f->queue.block.volatile_cache);
  fixture_free(f);
  (void)state;
}

static void test_drive_that_is_gone_ends_every_request(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcomes[8], late;
  io_fault(f, FAKE_GONE, 3, 1, 0);
  for (unsigned i = 0; i < 8; i++)
    assert_int_equal(fixture_submit(f, &outcomes[i], write_of(f, i, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcomes[7], 20000));
  fixture_poll_ms(f, 10);
  for (unsigned i = 0; i < 8; i++) {
    assert_int_equal(outcomes[i].calls, 1);
    assert_int_equal(outcomes[i].io.error, SPATE_E_GONE);
  }
  assert_int_equal(f->nvme.state, SPATE_NVME_DEAD);
  assert_int_equal(fixture_submit(f, &late, write_of(f, 0, 1)), SPATE_E_GONE);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_GONE);
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_E_GONE);
  fixture_free(f);
  (void)state;
}

/* Nobody can bring it back, so its own CAP.TO of a minute is no reason to wait: silent registers tell within a second.
 */
static void test_drive_that_is_gone_is_reported_within_a_second(void **state) {
  for (unsigned ms = 0; ms < 200; ms += 13) { /* anywhere between two looks at it */
    struct fixture *f = fixture_make(9);
    struct outcome outcome;
    f->drive.cap = (f->drive.cap & ~(UINT64_C(0xff) << 24)) | UINT64_C(120) << 24;
    fixture_open(f, 8);
    fixture_poll_ms(f, ms);
    f->drive.gone = true;
    assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
    const uint64_t start = f->drive.ticks;
    assert_true(fixture_wait(f, &outcome, 1000));
    assert_int_equal(outcome.io.error, SPATE_E_GONE);
    assert_in_range((f->drive.ticks - start) / 1000, 400, 900);
    fixture_free(f);
  }
  (void)state;
}

static void test_recovery_is_tried_again(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcome;
  io_fault(f, FAKE_FATAL, 0, 1, 0);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_LOSE, true, 0x06, 0, 1, 0});
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_STATUS, true, 0x05, 0, 1, 0x4006});
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 20000));
  assert_int_equal(outcome.io.error, SPATE_OK);
  assert_int_equal(f->drive.enables, 4);
  fixture_free(f);
  (void)state;
}

static void test_recoveries_end(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcome;
  io_fault(f, FAKE_FATAL, 0, 1, 0);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_LOSE, true, 0x06, 0, 100, 0});
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &outcome, 60000));
  assert_int_equal(outcome.io.error, SPATE_E_TIMEOUT);
  assert_int_equal(f->drive.enables, 1 + SPATE_NVME_RECOVERIES_MAX);
  fixture_free(f);
  (void)state;
}

/* The drive comes up well each time, and fails on the same command: that one ends, the others are done. */
static void test_command_that_kills_the_drive_ends(void **state) {
  struct fixture *f = opened(8);
  struct outcome poison, good;
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_FATAL, false, 9, 0, 100, 0});
  assert_int_equal(fixture_submit(f, &poison, (struct spate_io){.op = SPATE_TRIM, .blocks = 1}), SPATE_OK);
  assert_true(fixture_wait(f, &poison, 60000));
  assert_int_equal(poison.io.error, SPATE_E_FATAL);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, SPATE_NVME_ATTEMPTS_MAX);
  assert_int_equal(fixture_submit(f, &good, write_of(f, 0, 1)), SPATE_OK);
  assert_true(fixture_wait(f, &good, 10));
  assert_int_equal(good.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_lost_admin_command_leads_to_reset(void **state) {
  struct fixture *f = opened(8);
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_LOSE, true, 0x02, 0, 1, 0});
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_E_TIMEOUT);
  assert_int_equal(spate_nvme_health_read(&f->nvme), SPATE_OK);
  assert_int_equal(spate_nvme_counters(&f->nvme)->resets, 1);
  assert_int_equal(fixture_do(f, write_of(f, 0, 1), NULL), SPATE_OK);
  fixture_free(f);
  (void)state;
}

static void test_shutdown_gives_up_on_a_hung_drive(void **state) {
  struct fixture *f = opened(8);
  struct outcome outcome;
  fake_nvme_fault(&f->drive, (struct fake_fault){FAKE_LOSE, false, -1, 0, 10000, 0});
  assert_int_equal(fixture_submit(f, &outcome, write_of(f, 0, 1)), SPATE_OK);
  const uint64_t before = f->drive.ticks;
  assert_int_equal(spate_nvme_shutdown(&f->nvme), SPATE_OK);
  assert_in_range(f->drive.ticks - before, 20000000, 60000000);
  fixture_poll_ms(f, 1);
  assert_int_equal(outcome.calls, 1);
  assert_int_not_equal(outcome.io.error, SPATE_OK);
  fixture_free(f);
  (void)state;
}

/* Everything at once, from a seed: whatever the drive does, each request ends once, and what it says was written is. */
static void test_storm(void **state) {
  for (uint32_t seed = 1; seed <= 12; seed++) {
    struct fixture *f = fixture_make(9);
    static struct outcome outcomes[600];
    unsigned submitted = 0;
    f->drive.shuffle = true;
    f->drive.random = seed;
    fixture_open(f, 16);
    io_fault(f, FAKE_STATUS, 20 + seed, 5, 0x006);
    io_fault(f, FAKE_LOSE, 60 + 3 * seed, 2, 0);
    io_fault(f, FAKE_DOUBLE, 90, 6, 0);
    io_fault(f, FAKE_FATAL, 130 + 5 * seed, 1, 0);
    io_fault(f, FAKE_STALL, 180 + seed, 3, 0);
    io_fault(f, FAKE_POWER_CUT, 260 + seed, 1, 0);
    io_fault(f, FAKE_WRONG_ID, 300, 4, 0x1ff);
    fill_pattern(f->ring_memory, 600 * 16384, seed);
    while (submitted < 600) {
      struct spate_io io = write_of(f, 24 * submitted, 24);
      io.offset_bytes = 16384u * submitted;
      if (submitted % 3 == 0) {
        io.region = NULL;
        io.buffer = f->ring_memory + io.offset_bytes;
      }
      if (fixture_submit(f, &outcomes[submitted], io) == SPATE_OK)
        submitted++;
      else
        (void)spate_block_poll(&f->queue.block, 4);
    }
    for (unsigned i = 0; i < 600; i++)
      assert_true(outcomes[i].calls == 1 || fixture_wait(f, &outcomes[i], 60000));
    for (unsigned i = 0; i < 600; i++) {
      assert_int_equal(outcomes[i].calls, 1);
      assert_int_equal(outcomes[i].io.error, SPATE_OK);
      assert_memory_equal(f->drive.media + 24 * 512 * i, f->ring_memory + 16384 * i, 24 * 512);
    }
    assert_true(f->queue.block.power_losses >= 1);
    fixture_free(f);
  }
  (void)state;
}

/* Some drives are left alone after CC.EN was cleared, in bring-up, recovery and at the end; CAP.TO counts from then. */
static void test_pause_of_drives_that_need_it(void **state) {
  static const struct {
    uint16_t vendor_id, device_id;
    uint64_t pause_ms;
  } drives[] = {{0x144d, 0xa821, 2300}, {0x144d, 0xa822, 2300}, {0x1bb1, 0x0100, 2300},
                {0x1c58, 0x0003, 2300}, {0x1c58, 0x0023, 2300}, {0x1c5f, 0x0540, 2300},
                {0x144d, 0xa808, 0},    {0x1c5f, 0x0003, 0},    {0, 0, 0}};
  for (unsigned i = 0; i < sizeof drives / sizeof drives[0]; i++) {
    struct fixture *f = fixture_make(9);
    struct outcome outcome;
    const uint64_t least = drives[i].pause_ms * 1000, most = least + 200000;
    f->config.bus.vendor_id = drives[i].vendor_id;
    f->config.bus.device_id = drives[i].device_id;
    fixture_open(f, 4);
    f->drive.csts |= 2; /* CFS */
    assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 10000));
    assert_int_equal(outcome.io.error, SPATE_OK);
    assert_in_range(f->drive.pause_ticks, least, most);
    f->drive.pause_ticks = UINT64_MAX;
    f->drive.never_ready = true;
    f->drive.csts |= 2;
    assert_int_equal(fixture_submit(f, &outcome, (struct spate_io){.op = SPATE_FLUSH}), SPATE_OK);
    assert_true(fixture_wait(f, &outcome, 200000));
    assert_in_range(f->drive.pause_ticks, least, most);
    fixture_free(f);
  }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_error_with_dnr_is_not_retried),
      cmocka_unit_test(test_media_error_has_its_own_code),
      cmocka_unit_test(test_error_without_dnr_is_retried_and_mended),
      cmocka_unit_test(test_retries_end),
      cmocka_unit_test(test_malformed_is_final_without_dnr),
      cmocka_unit_test(test_retry_waits_for_the_drives_delay),
      cmocka_unit_test(test_retry_delay_is_bounded),
      cmocka_unit_test(test_acre_only_where_delays_are_stated),
      cmocka_unit_test(test_failed_part_fails_the_request_once),
      cmocka_unit_test(test_slots_start_afresh),
      cmocka_unit_test(test_completions_in_any_order),
      cmocka_unit_test(test_doubled_completion_retires_nothing),
      cmocka_unit_test(test_late_double_does_not_retire_the_next_command),
      cmocka_unit_test(test_unknown_identifiers_are_ignored),
      cmocka_unit_test(test_completion_for_another_queue_is_ignored),
      cmocka_unit_test(test_admin_completion_of_another_command_is_ignored),
      cmocka_unit_test(test_stalled_command_is_aborted_and_retried),
      cmocka_unit_test(test_io_goes_on_while_aborting),
      cmocka_unit_test(test_answer_not_looked_at_is_no_timeout),
      cmocka_unit_test(test_stopped_host_is_no_timeout),
      cmocka_unit_test(test_lost_command_leads_to_reset_and_replay),
      cmocka_unit_test(test_completed_before_the_reset_is_not_replayed),
      cmocka_unit_test(test_submit_answers_full_while_recovering),
      cmocka_unit_test(test_reset_controller_is_not_rung),
      cmocka_unit_test(test_fatal_status_is_noticed_within_a_moment),
      cmocka_unit_test(test_recovery_restores_what_was_set_up),
      cmocka_unit_test(test_power_cut_of_the_drive_is_counted),
      cmocka_unit_test(test_either_counter_tells_of_a_power_cut),
      cmocka_unit_test(test_unreadable_health_counts_as_power_loss),
      cmocka_unit_test(test_another_drive_in_its_place_is_not_written),
      cmocka_unit_test(test_cache_that_could_not_be_flushed_stays_volatile),
      cmocka_unit_test(test_drive_that_is_gone_ends_every_request),
      cmocka_unit_test(test_drive_that_is_gone_is_reported_within_a_second),
      cmocka_unit_test(test_recovery_is_tried_again),
      cmocka_unit_test(test_recoveries_end),
      cmocka_unit_test(test_command_that_kills_the_drive_ends),
      cmocka_unit_test(test_lost_admin_command_leads_to_reset),
      cmocka_unit_test(test_shutdown_gives_up_on_a_hung_drive),
      cmocka_unit_test(test_storm),
      cmocka_unit_test(test_pause_of_drives_that_need_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
