/* SPDX-License-Identifier: Apache-2.0 */
/* The drive's timing. */
#include "drive_fixture.h"

#define STREAM      (UINT64_C(512) << 20)
#define STREAM_QD   32u
#define PIECE_BYTES 131072u

/* A single command takes the sum of its parts: doorbell, fetch, front end, data, media, completion. */
static void test_latency_is_the_sum_of_its_parts(void **state) {
  static const char *const profiles[] = {"ideal", "980pro"};
  for (unsigned i = 0; i < 4; i++) {
    const struct sim_profile *profile = sim_profile_find(profiles[i / 2]);
    const bool write = i % 2 == 0;
    struct raw_sim *r = start(profiles[i / 2], (struct sim_drive_options){0});
    sim_spend(r->sim, SIM_PS_PER_S);
    struct sim_link link = *sim_drive_link(r->drive);
    struct sim_media media = *sim_drive_media(r->drive);
    const uint64_t begin = sim_now_ps(r->sim);
    uint64_t t = sim_link_host_write(&link, begin, 4);
    t = sim_link_drive_read(&link, t, 64) + profile->command_ns * SIM_PS_PER_NS;
    if (write) {
      t = sim_link_drive_read(&link, t, 4096);
      t = sim_media_write(&media, t, 4096, 4096) + profile->write_latency_ns * SIM_PS_PER_NS;
      t = sim_link_drive_write(&link, t, 16);
    } else {
      t = sim_media_read(&media, t, 4096);
      (void)sim_link_drive_write(&link, t, 4096);
      t = sim_link_drive_write(&link, t, 16);
    }
    const struct raw_command command = {
        .opcode = write ? WRITE : READ, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT), .dword12 = 7};
    (void)raw_put(&r->raw, 1, &command);
    raw_ring(&r->raw, 1);
    sim_spend(r->sim, t - sim_now_ps(r->sim) - 1);
    assert_int_equal(raw_at(&r->raw, 3)[14] & 1, 0); /* not a picosecond earlier */
    sim_spend(r->sim, 1);
    assert_int_equal(raw_at(&r->raw, 3)[14] & 1, 1);
    assert_false(raw_take(&r->raw, 1).missing);
    end(r);
  }
  (void)state;
}

static void test_list_and_fua_take_time(void **state) {
  struct raw_sim *r = start("980pro", (struct sim_drive_options){0});
  const struct sim_profile *profile = sim_profile_find("980pro");
  uint64_t took_ps[3];
  for (unsigned i = 0; i < 64; i++)
    spate_put64(raw_at(&r->raw, BACK) + 8u * i, raw_bus(&r->raw, OUT + 1u + i));
  for (unsigned i = 0; i < 3; i++) { /* 8 KiB without a list; 12 KiB with one; 8 KiB with FUA */
    const struct raw_command command = {.opcode = WRITE,
                                        .nsid = 1,
                                        .prp1 = raw_bus(&r->raw, OUT),
                                        .prp2 = i == 1 ? raw_bus(&r->raw, BACK) : raw_bus(&r->raw, OUT + 1u),
                                        .dword12 = i == 0   ? 15u
                                                   : i == 1 ? 23u
                                                            : 15u | UINT32_C(1) << 30};
    sim_spend(r->sim, SIM_PS_PER_S);
    const uint64_t begin = sim_now_ps(r->sim);
    run(r, 1, command);
    took_ps[i] = sim_now_ps(r->sim) - begin;
  }
  assert_true(took_ps[1] - took_ps[0] > 2 * sim_drive_link(r->drive)->config.latency_ns * SIM_PS_PER_NS);
  assert_int_equal(took_ps[2] - took_ps[0], profile->fua_ns * SIM_PS_PER_NS);
  assert_int_equal(sim_drive_counters(r->drive)->fua_writes, 1);
  end(r);
  (void)state;
}

/* A stream through the library: each request that is done starts the next piece. */
struct stream {
  struct sim_stack *stack;
  uint64_t next;
  unsigned in_flight;
  uint64_t bytes;
};

static void next_piece(struct spate_io *io) {
  struct stream *stream = io->context;
  assert_int_equal(io->error, SPATE_OK);
  stream->in_flight--;
  if (stream->next == stream->bytes) return;
  io->lba = stream->next >> 9;
  stream->next += PIECE_BYTES;
  stream->in_flight++;
  assert_int_equal(spate_block_submit(stream->stack->block, io), SPATE_OK);
}

static double stream_rate(enum spate_op op, double *link_max) {
  const struct sim_stack_config config = {
      .machine = {.seed = 3, .coherent = true},
      .options = {.link = {.generation = 3,
                           .lanes = 4,
                           .payload_bytes = 256,
                           .read_request_bytes = 512,
                           .latency_ns = 250,
                           .dllp_percent = 2}},
  };
  static struct spate_io ios[STREAM_QD];
  struct sim_stack *stack = sim_stack_new(&config);
  struct stream stream = {.stack = stack, .bytes = STREAM};
  assert_int_equal(sim_stack_open(stack), SPATE_OK);
  const struct spate_region *ring = sim_stack_region(stack, (uint64_t)STREAM_QD * PIECE_BYTES, SIM_LOGIC);
  const uint64_t begin = sim_now_ps(stack->sim);
  for (unsigned i = 0; i < STREAM_QD; i++) {
    ios[i] = (struct spate_io){.op = (uint8_t)op,
                               .blocks = PIECE_BYTES / 512,
                               .region = ring,
                               .offset_bytes = (uint64_t)i * PIECE_BYTES,
                               .done = next_piece,
                               .context = &stream};
    stream.in_flight++;
    next_piece(&ios[i]);
  }
  while (stream.in_flight > 0) {
    (void)spate_block_poll(stack->block, STREAM_QD);
    (void)spate_port_ticks();
  }
  const double seconds = (double)(sim_now_ps(stack->sim) - begin) / (double)SIM_PS_PER_S;
  *link_max = op == SPATE_READ ? sim_link_up_max(&config.options.link) : sim_link_down_max(&config.options.link);
  assert_int_equal(sim_drive_counters(stack->drives[0].drive)->in_flight_max, STREAM_QD);
  sim_stack_free(stack);
  return (double)STREAM / seconds;
}

static void test_an_ideal_drive_fills_the_link(void **state) {
  static const enum spate_op ops[] = {SPATE_WRITE, SPATE_READ};
  for (unsigned i = 0; i < 2; i++) {
    double link_max = 0;
    const double rate = stream_rate(ops[i], &link_max);
    print_message("%s: %.3f GB/s, %.2f %% of the link\n", i == 0 ? "write" : "read", rate / 1e9, 100 * rate / link_max);
    assert_true(rate >= 0.99 * link_max && rate <= link_max);
  }
  (void)state;
}

/* Two full queues, one slightly later: the second does not wait for the end of the first. */
static void test_queues_take_turns(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){.log_commands = true});
  size_t count;
  unsigned of_second = 0;
  sim_drive_clear_commands(r->drive);
  for (unsigned queue = 1; queue <= 2; queue++) {
    for (unsigned i = 0; i < RAW_ENTRIES - 1u; i++)
      (void)raw_put(&r->raw, queue, &(struct raw_command){.opcode = FLUSH, .nsid = 1});
    raw_ring(&r->raw, queue);
  }
  sim_spend(r->sim, SIM_PS_PER_MS);
  const struct sim_command *log = sim_drive_commands(r->drive, &count);
  assert_int_equal(count, 2u * (RAW_ENTRIES - 1u));
  for (unsigned i = 32; i < 64; i++) /* four batches of eight had been fetched when the second came */
    of_second += log[i].queue == 2;
  assert_int_equal(of_second, 16);
  end(r);
  (void)state;
}

static void test_shutdown_takes_the_time_of_a_flush(void **state) {
  struct raw_sim *r = start("980pro", (struct sim_drive_options){0});
  for (uint32_t i = 0; i < 100; i++)
    move_page(r, WRITE, 8 * i, 8);
  raw_sim_write32(r, 0x14, 0x00464001);
  assert_int_equal(raw_csts(&r->raw) & 0xc, 4);
  assert_true(raw_wait_csts(&r->raw, 0xc, 8));
  assert_int_equal(sim_drive_counters(r->drive)->shutdowns, 1);
  assert_int_equal(sim_drive_counters(r->drive)->hot_shutdowns, 1);
  end(r);
  (void)state;
}

/* Data that was in the cache when the cache was turned off is not on the media at once, and a later flush waits for
 * it. */
static void test_flush_with_the_cache_turned_off(void **state) {
  struct sim_profile profile = *sim_profile_find("980pro");
  const struct sim_drive_options options = {.bytes = UINT64_C(1) << 30};
  profile.buffer_bytes = 1u << 30;
  profile.slc_rate = 1e8;
  struct raw_sim *r = raw_sim_start(&profile, &options, 7);
  for (uint32_t i = 0; i < 1000; i++)
    move_page(r, WRITE, 8 * i, 8);
  const double buffered_s = sim_drive_media(r->drive)->buffered_bytes / 1e8;
  const uint64_t begun_ps = sim_now_ps(r->sim);
  assert_true(buffered_s > 0.01);
  (void)raw_do(&r->raw, 0, &(struct raw_command){.opcode = 9, .dword10 = 6}); /* Set Features: volatile cache off */
  (void)raw_do(&r->raw, 1, &(struct raw_command){.opcode = FLUSH, .nsid = 1});
  assert_true((double)(sim_now_ps(r->sim) - begun_ps) / 1e12 > 0.9 * buffered_s);
  end(r);
  (void)state;
}

/* Two machines with the same seed answer alike, to the picosecond. Another seed gives another run. */
static void test_the_same_seed_is_the_same_run(void **state) {
  uint64_t ends[3];
  for (unsigned i = 0; i < 3; i++) {
    const struct sim_drive_options options = {.bytes = UINT64_C(64) << 20, .shuffle = true};
    struct raw_sim *r = raw_sim_start(sim_profile_find("980pro"), &options, i == 2 ? 8 : 7);
    for (uint32_t j = 0; j < 100; j++)
      move_page(r, j % 3 == 0 ? READ : WRITE, 8 * (j % 17), 8);
    ends[i] = sim_now_ps(r->sim);
    end(r);
  }
  assert_true(ends[0] == ends[1]);
  assert_true(ends[0] != ends[2]);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_latency_is_the_sum_of_its_parts),    cmocka_unit_test(test_list_and_fua_take_time),
      cmocka_unit_test(test_an_ideal_drive_fills_the_link),      cmocka_unit_test(test_queues_take_turns),
      cmocka_unit_test(test_shutdown_takes_the_time_of_a_flush), cmocka_unit_test(test_flush_with_the_cache_turned_off),
      cmocka_unit_test(test_the_same_seed_is_the_same_run),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
