/* SPDX-License-Identifier: Apache-2.0 */
/* The drive's timing, the contents of its blocks, and what it reports about itself. */
#include "raw_sim.h"
#include "stack.h"
#include <setjmp.h>
#include <spate/bytes.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define OUT         16u /* pages: written from, read to, a PRP list */
#define BACK        512u
#define KELVIN      273
#define STREAM      (UINT64_C(512) << 20)
#define STREAM_QD   32u
#define PIECE_BYTES 131072u

enum { GET_LOG = 2, IDENTIFY = 6, SET_FEATURES = 9, GET_FEATURES, EVENT = 12, FORMAT = 0x80 };
enum { FLUSH, WRITE, READ, ZEROES = 8, DATASET };

static struct raw_sim *start(const char *profile, struct sim_drive_options options) {
  if (options.bytes == 0) options.bytes = UINT64_C(64) << 20;
  return raw_sim_start(sim_profile_find(profile), &options, 7);
}

static void end(struct raw_sim *r) {
  const char *first = NULL;
  if (sim_take_violations(r->sim, &first) != 0) fail_msg("%s", first);
  raw_sim_free(r);
}

static struct raw_completion run(struct raw_sim *r, unsigned queue, struct raw_command command) {
  const struct raw_completion c = raw_do(&r->raw, queue, &command);
  assert_false(c.missing);
  assert_int_equal(c.status, 0);
  return c;
}

static void move_page(struct raw_sim *r, uint32_t opcode, uint32_t lba, uint32_t blocks) {
  run(r, 1,
      (struct raw_command){.opcode = opcode,
                           .nsid = 1,
                           .prp1 = raw_bus(&r->raw, opcode == WRITE ? OUT : BACK),
                           .dword10 = lba,
                           .dword12 = blocks - 1u});
}

static void trim(struct raw_sim *r, uint32_t lba, uint32_t blocks) {
  uint8_t *range = raw_at(&r->raw, OUT);
  memset(range, 0, 16);
  spate_put32(range + 4, blocks);
  spate_put64(range + 8, lba);
  run(r, 1, (struct raw_command){.opcode = DATASET, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT), .dword11 = 4});
}

/* ---- time ---- */

/* A single command takes the sum of its parts: doorbell, fetch, front end, data, medium, completion. */
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

/* ---- contents ---- */

/* A block is written as a part of a page, from memory at an odd address, through pages in any order. */
static void test_data_go_where_the_prps_say(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  const uint32_t blocks = 100, offset = 1236;
  uint8_t *expected = calloc(blocks, 512);
  for (uint32_t i = 0; i < blocks * 512; i++) {
    const uint32_t place = offset + i, page = place / RAW_PAGE;
    expected[i] = (uint8_t)(i * 7 + i / 512);
    raw_at(&r->raw, OUT + (page == 0 ? 0 : 2 * (20 - page)))[place % RAW_PAGE] = expected[i];
  }
  for (unsigned page = 1; page <= 13; page++)
    spate_put64(raw_at(&r->raw, BACK) + 8u * (page - 1u), raw_bus(&r->raw, OUT + 2u * (20u - page)));
  run(r, 1,
      (struct raw_command){.opcode = WRITE,
                           .nsid = 1,
                           .prp1 = raw_bus(&r->raw, OUT) + offset,
                           .prp2 = raw_bus(&r->raw, BACK),
                           .dword10 = 333,
                           .dword12 = blocks - 1u});
  for (uint32_t block = 0; block < blocks; block++) {
    move_page(r, READ, 333 + block, 1);
    assert_memory_equal(raw_at(&r->raw, BACK), expected + (size_t)block * 512, 512);
  }
  free(expected);
  end(r);
  (void)state;
}

/* Data are read when they are transferred, not when the command is fetched. */
static void test_data_are_read_when_they_are_transferred(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  memset(raw_at(&r->raw, OUT), 1, RAW_PAGE);
  (void)raw_put(&r->raw, 1,
                &(struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = raw_bus(&r->raw, OUT), .dword12 = 7});
  raw_ring(&r->raw, 1);
  while (sim_drive_counters(r->drive)->io[WRITE] == 0)
    sim_idle(r->sim, SIM_PS_PER_US);
  memset(raw_at(&r->raw, OUT), 2, RAW_PAGE); /* the command is fetched; its data cross the link now */
  assert_false(raw_take(&r->raw, 1).missing);
  move_page(r, READ, 0, 8);
  assert_int_equal(raw_at(&r->raw, BACK)[0], 2);
  end(r);
  (void)state;
}

static void test_deallocated_blocks(void **state) {
  static const uint8_t dlfeat[] = {1, 2, 0, 0};
  for (uint8_t mode = 0; mode < 4; mode++) {
    struct raw_sim *r = start("ideal", (struct sim_drive_options){.deallocated = mode});
    unsigned seen[3] = {0};
    assert_int_equal(sim_drive_identify_namespace(r->drive)[33], dlfeat[mode]);
    memset(raw_at(&r->raw, OUT), 0x55, RAW_PAGE);
    for (uint32_t page = 0; page < 8; page++)
      move_page(r, WRITE, 8 * page, 8);
    trim(r, 3, 54);
    for (uint32_t lba = 0; lba < 64; lba++) {
      uint8_t first[512];
      move_page(r, READ, lba, 1);
      memcpy(first, raw_at(&r->raw, BACK), sizeof first);
      for (unsigned i = 1; i < 512; i++)
        assert_int_equal(first[i], first[0]);
      assert_true(first[0] == 0 || first[0] == 0xff || first[0] == 0x55);
      if (lba < 3 || lba >= 57)
        assert_int_equal(first[0], 0x55);
      else
        seen[first[0] == 0 ? 0 : first[0] == 0xff ? 1 : 2]++;
      move_page(r, READ, lba, 1);
      assert_memory_equal(raw_at(&r->raw, BACK), first, sizeof first); /* the same each time */
    }
    for (unsigned i = 0; i < 3; i++)
      assert_true(mode == 3 ? seen[i] > 0 : seen[i] == (i == mode ? 54 : 0));
    end(r);
  }
  (void)state;
}

/* Preconditioned contents: a write to them overwrites, and a trim of them frees space. */
static void test_filled(void **state) {
  struct raw_sim *r = start("980pro", (struct sim_drive_options){.filled = 0.5});
  const struct sim_media *media = sim_drive_media(r->drive);
  const uint64_t half = UINT64_C(32) << 20;
  assert_true(media->mapped_bytes == half);
  memset(raw_at(&r->raw, OUT), 1, RAW_PAGE);
  move_page(r, WRITE, 70000, 8); /* overwrites */
  assert_true(media->mapped_bytes == half);
  move_page(r, WRITE, 1000, 8); /* free blocks */
  assert_true(media->mapped_bytes == half + RAW_PAGE);
  trim(r, 90000, 8); /* too short to be recorded */
  assert_true(media->mapped_bytes == half + RAW_PAGE);
  trim(r, 69632, 4096);
  assert_true(media->mapped_bytes == half + RAW_PAGE - (2u << 20));
  trim(r, 69632, 4096);
  assert_true(media->mapped_bytes == half + RAW_PAGE - (2u << 20)); /* counted once */
  move_page(r, WRITE, 70000, 8);
  assert_true(media->mapped_bytes == half + 2 * RAW_PAGE - (2u << 20));
  run(r, 0, (struct raw_command){.opcode = FORMAT, .nsid = 1});
  assert_true(media->mapped_bytes == 0);
  end(r);
  (void)state;
}

static void test_format_changes_the_block_size(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  memset(raw_at(&r->raw, OUT), 0x55, RAW_PAGE);
  move_page(r, WRITE, 8, 8);
  run(r, 0, (struct raw_command){.opcode = FORMAT, .nsid = 1, .dword10 = 1});
  assert_int_equal(sim_drive_block_shift(r->drive), 12);
  assert_int_equal(sim_drive_blocks(r->drive), (64 << 20) / 4096);
  assert_int_equal(spate_get64(sim_drive_identify_namespace(r->drive)), (64 << 20) / 4096);
  move_page(r, READ, 1, 1);
  assert_int_equal(raw_at(&r->raw, BACK)[4095], 0);
  end(r);
  (void)state;
}

/* ---- what it reports ---- */

static void smart(struct raw_sim *r, uint8_t log[512]) {
  run(r, 0,
      (struct raw_command){
          .opcode = GET_LOG, .nsid = UINT32_MAX, .prp1 = raw_bus(&r->raw, BACK), .dword10 = 127u << 16 | 2u});
  memcpy(log, raw_at(&r->raw, BACK), 512);
}

static void test_smart(void **state) {
  struct raw_sim *r = start("980pro", (struct sim_drive_options){0});
  uint8_t before[512], after[512];
  smart(r, before);
  for (uint32_t i = 0; i < 250; i++)
    move_page(r, WRITE, 8 * i, 8);
  move_page(r, READ, 0, 8);
  smart(r, after);
  assert_int_equal(spate_get64(after + 48), spate_get64(before + 48) + 2); /* 2000 blocks are two units */
  assert_int_equal(spate_get64(after + 32), spate_get64(before + 32) + 1); /* 8 blocks are one unit that has begun */
  assert_int_equal(spate_get64(after + 80), spate_get64(before + 80) + 250);
  assert_int_equal(spate_get64(after + 64), spate_get64(before + 64) + 1);
  const int degrees = (int)spate_get16(after + 1) - KELVIN;
  assert_in_range(degrees, (int)sim_drive_media(r->drive)->temperature_c, sim_drive_media(r->drive)->temperature_c + 1);
  end(r);
  (void)state;
}

static void test_heat_is_reported(void **state) {
  struct raw_sim *r = start("980pro", (struct sim_drive_options){0});
  const struct sim_profile *profile = sim_profile_find("980pro");
  uint8_t log[512];
  assert_int_equal(spate_get16(sim_drive_identify_controller(r->drive) + 266), (uint16_t)profile->warning_c + KELVIN);
  assert_int_equal(spate_get16(sim_drive_identify_controller(r->drive) + 268), (uint16_t)profile->critical_c + KELVIN);
  r->raw.target.patience = 50;
  run(r, 0, (struct raw_command){.opcode = SET_FEATURES, .dword10 = 0x0b, .dword11 = 0x1f});
  (void)raw_put(&r->raw, 0, &(struct raw_command){.opcode = EVENT});
  raw_ring(&r->raw, 0);
  assert_true(raw_take(&r->raw, 0).missing); /* cool */
  sim_drive_heat(r->drive, profile->warning_c + 1);
  const struct raw_completion event = raw_take(&r->raw, 0);
  assert_int_equal(event.result, 0x00020101);
  smart(r, log);
  assert_int_equal(log[0], 2);
  assert_int_equal(spate_get16(log + 1), (uint16_t)(profile->warning_c + 1) + KELVIN);
  sim_drive_heat(r->drive, 30);
  smart(r, log);
  assert_int_equal(log[0], 0);
  /* The event also comes when work heats the drive. */
  run(r, 0, (struct raw_command){.opcode = SET_FEATURES, .dword10 = 4, .dword11 = 31 + KELVIN});
  (void)raw_put(&r->raw, 0, &(struct raw_command){.opcode = EVENT});
  raw_ring(&r->raw, 0);
  assert_true(raw_take(&r->raw, 0).missing);
  sim_drive_media(r->drive)->temperature_c = 31; /* half a degree more reaches the threshold */
  for (uint32_t i = 0; i < 2000 && raw_at(&r->raw, 1)[14 + 16 * r->raw.queues[0].head] % 2 != r->raw.queues[0].phase;
       i++)
    move_page(r, WRITE, 8 * i, 8);
  assert_int_equal(raw_take(&r->raw, 0).result, 0x00020101);
  end(r);
  (void)state;
}

static void test_events_only_when_asked_for(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  assert_false(sim_drive_event(r->drive, 1, 0, 2));
  (void)raw_put(&r->raw, 0, &(struct raw_command){.opcode = EVENT});
  raw_ring(&r->raw, 0);
  sim_spend(r->sim, SIM_PS_PER_MS);
  assert_true(sim_drive_event(r->drive, 1, 2, 2));
  assert_int_equal(raw_take(&r->raw, 0).result, 0x00020201);
  assert_false(sim_drive_event(r->drive, 1, 2, 2));
  end(r);
  (void)state;
}

static void test_shuffle_completes_in_any_order(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){.shuffle = true});
  const uint16_t first = r->raw.next_id;
  unsigned seen = 0, in_order = 0;
  for (unsigned i = 0; i < 15; i++)
    (void)raw_put(&r->raw, 1, &(struct raw_command){.opcode = FLUSH, .nsid = 1});
  raw_ring(&r->raw, 1);
  for (unsigned i = 0; i < 15; i++) {
    const struct raw_completion c = raw_take(&r->raw, 1);
    assert_false(c.missing);
    seen |= 1u << (c.id - first);
    in_order += c.id == first + i;
  }
  assert_int_equal(seen, 0x7fff);
  assert_true(in_order < 10);
  end(r);
  (void)state;
}

static void test_log_of_commands_and_features(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){.log_commands = true, .queue_pairs = 4});
  size_t count;
  sim_drive_clear_commands(r->drive);
  move_page(r, WRITE, 77, 8);
  const struct raw_completion c = raw_do(&r->raw, 0, &(struct raw_command){.opcode = GET_FEATURES, .dword10 = 7});
  assert_int_equal(c.result, 0x00030003);
  const struct sim_command *log = sim_drive_commands(r->drive, &count);
  assert_int_equal(count, 2);
  assert_int_equal(log[0].queue, 1);
  assert_int_equal(log[0].dwords[0] & 0xff, WRITE);
  assert_int_equal(log[0].dwords[10], 77);
  assert_int_equal(log[1].queue, 0);
  assert_true(log[0].fetched_ps < log[1].fetched_ps);
  run(r, 0, (struct raw_command){.opcode = SET_FEATURES, .dword10 = 0x0b, .dword11 = 0x13});
  assert_int_equal(sim_drive_feature(r->drive, 0x0b), 0x13);
  assert_int_equal(sim_drive_counters(r->drive)->admin[SET_FEATURES], 1);
  assert_int_equal(sim_drive_counters(r->drive)->io[WRITE], 1);
  end(r);
  (void)state;
}

static void test_host_memory_buffer(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  uint8_t *list = raw_at(&r->raw, OUT);
  spate_put32(sim_drive_identify_controller(r->drive) + 272, 64); /* HMPRE */
  assert_false(sim_drive_host_buffer(r->drive).enabled);
  for (unsigned i = 0; i < 2; i++) {
    memset(list + (size_t)16 * i, 0, 16);
    spate_put64(list + (size_t)16 * i, raw_bus(&r->raw, 1024 + 64 * i));
    spate_put32(list + (size_t)16 * i + 8, 32);
  }
  const uint64_t address = raw_bus(&r->raw, OUT);
  run(r, 0,
      (struct raw_command){.opcode = SET_FEATURES,
                           .dword10 = 0x0d,
                           .dword11 = 3,
                           .dword12 = 64,
                           .dword13 = (uint32_t)address,
                           .dword14 = (uint32_t)(address >> 32),
                           .dword15 = 2});
  const struct sim_host_buffer buffer = sim_drive_host_buffer(r->drive);
  assert_true(buffer.enabled && buffer.returned);
  assert_int_equal(buffer.pages, 64);
  assert_int_equal(buffer.descriptors, 2);
  assert_true(buffer.address == address);
  assert_true(buffer.first_address == raw_bus(&r->raw, 1024));
  assert_int_equal(buffer.first_pages, 32);
  run(r, 0, (struct raw_command){.opcode = SET_FEATURES, .dword10 = 0x0d});
  assert_false(sim_drive_host_buffer(r->drive).enabled);
  end(r);
  (void)state;
}

static void test_namespaces(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){0});
  static const uint32_t active[] = {2, 5, 7, 0};
  memcpy(sim_drive_namespaces(r->drive), active, sizeof active);
  run(r, 0, (struct raw_command){.opcode = IDENTIFY, .nsid = 2, .prp1 = raw_bus(&r->raw, BACK), .dword10 = 2});
  assert_memory_equal(raw_at(&r->raw, BACK), active + 1, 12);
  run(r, 0, (struct raw_command){.opcode = IDENTIFY, .nsid = 7, .prp1 = raw_bus(&r->raw, BACK)});
  assert_memory_equal(raw_at(&r->raw, BACK), sim_drive_identify_namespace(r->drive), RAW_PAGE);
  run(r, 1, (struct raw_command){.opcode = READ, .nsid = 2, .prp1 = raw_bus(&r->raw, BACK)});
  end(r);
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

static void test_library_at_any_doorbell_stride(void **state) {
  for (uint8_t stride = 0; stride < 6; stride++) {
    const struct sim_stack_config config = {.machine = {.seed = 3}, .options = {.doorbell_stride = stride}};
    struct sim_stack *stack = sim_stack_new(&config);
    assert_int_equal(sim_stack_open(stack), SPATE_OK);
    assert_int_equal(spate_block_flush(stack->block), SPATE_OK);
    assert_int_equal(sim_stack_close(stack), SPATE_OK);
    assert_int_equal(sim_drive_counters(stack->drives[0].drive)->hot_shutdowns, 0);
    sim_stack_free(stack);
  }
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

/* Data that was in the cache when the cache was turned off is not on the medium at once, and a later flush waits for
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
      cmocka_unit_test(test_latency_is_the_sum_of_its_parts),
      cmocka_unit_test(test_list_and_fua_take_time),
      cmocka_unit_test(test_an_ideal_drive_fills_the_link),
      cmocka_unit_test(test_data_go_where_the_prps_say),
      cmocka_unit_test(test_data_are_read_when_they_are_transferred),
      cmocka_unit_test(test_deallocated_blocks),
      cmocka_unit_test(test_filled),
      cmocka_unit_test(test_format_changes_the_block_size),
      cmocka_unit_test(test_smart),
      cmocka_unit_test(test_heat_is_reported),
      cmocka_unit_test(test_events_only_when_asked_for),
      cmocka_unit_test(test_shuffle_completes_in_any_order),
      cmocka_unit_test(test_log_of_commands_and_features),
      cmocka_unit_test(test_host_memory_buffer),
      cmocka_unit_test(test_namespaces),
      cmocka_unit_test(test_queues_take_turns),
      cmocka_unit_test(test_library_at_any_doorbell_stride),
      cmocka_unit_test(test_shutdown_takes_the_time_of_a_flush),
      cmocka_unit_test(test_flush_with_the_cache_turned_off),
      cmocka_unit_test(test_the_same_seed_is_the_same_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
