/* SPDX-License-Identifier: Apache-2.0 */
/* What the drive reports about itself, and its features. */
#include "drive_fixture.h"

#define KELVIN 273

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

/* A read that was submitted after a write of the same blocks returns their old contents for some delay. */
static void test_delayed_writes_are_overtaken(void **state) {
  struct raw_sim *r = start("ideal", (struct sim_drive_options){.write_delay_us = 5000});
  uint8_t *from = raw_at(&r->raw, RAW_PAGES_USED), *to = raw_at(&r->raw, RAW_PAGES_USED + 1);
  unsigned old = 0;
  for (unsigned i = 1; i <= 20; i++) {
    memset(from, (int)i, RAW_PAGE);
    (void)raw_put(
        &r->raw, 1,
        &(struct raw_command){.opcode = WRITE, .nsid = 1, .prp1 = raw_bus(&r->raw, RAW_PAGES_USED), .dword12 = 7});
    (void)raw_put(
        &r->raw, 1,
        &(struct raw_command){.opcode = READ, .nsid = 1, .prp1 = raw_bus(&r->raw, RAW_PAGES_USED + 1), .dword12 = 7});
    raw_ring(&r->raw, 1);
    assert_false(raw_take(&r->raw, 1).missing);
    assert_false(raw_take(&r->raw, 1).missing);
    assert_in_range(to[0], i - 1, i);
    old += to[0] != i;
  }
  assert_in_range(old, 1, 20);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_smart),
      cmocka_unit_test(test_heat_is_reported),
      cmocka_unit_test(test_events_only_when_asked_for),
      cmocka_unit_test(test_shuffle_completes_in_any_order),
      cmocka_unit_test(test_delayed_writes_are_overtaken),
      cmocka_unit_test(test_log_of_commands_and_features),
      cmocka_unit_test(test_host_memory_buffer),
      cmocka_unit_test(test_namespaces),
      cmocka_unit_test(test_library_at_any_doorbell_stride),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
