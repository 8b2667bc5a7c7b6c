/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor reads registers with arbitrary contents, and ends after a limited number of reads. */
#include "doctor_fixture.h"

static uint32_t random_state;

static uint32_t random32(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  return random_state ^= random_state << 5;
}

static unsigned reads;

static uint32_t count_reads(const void *context, unsigned offset) {
  reads++;
  return read_config(context, offset);
}

/* Random registers. Their capability lists lead anywhere, also in loops. */
static void random_config(uint32_t *config) {
  for (unsigned i = 0; i < 1024; i++)
    config[i] = random32() % 4 == 0 ? random32() : 0;
  if (random32() % 2 == 0) return;
  config[1] |= 0x00100000;
  config[0x34 / 4] = 0x40 + random32() % 0xc0;
  for (unsigned i = 0x40 / 4; i < 0x100 / 4; i++)
    config[i] = (config[i] & 0xffff0000) | (random32() % 2 ? 0x10 : 0x01) | (0x40 + random32() % 0xc0) << 8;
  for (unsigned i = 0x100 / 4; i < 1024; i++)
    config[i] = (config[i] & 0xf0000) | (random32() % 900 == 0 ? 1 : 7) | (0x100 + random32() % 0xf00) << 20;
}

static void arbitrary_registers_are_judged_with_few_reads(void **state) {
  (void)state;
  static struct facts facts;
  struct report report;

  for (uint32_t seed = 1; seed <= 20000; seed++) {
    random_state = seed * 2654435761u;
    fill(&facts);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
      if (random32() % 4 != 0) random_config(facts.config[i]);
      random_config(facts.config_after[i]);
    }
    uint32_t *bytes = (uint32_t *)(void *)&facts.registers;
    for (unsigned i = 0; i < sizeof facts.registers / 4; i++)
      bytes[i] = random32();
    facts.health.temperature_c = (int16_t)random32();
    facts.health.critical_warning = (uint8_t)random32();
    facts.identity.critical_temperature_c = (int16_t)random32();
    facts.identity.warning_temperature_c = (int16_t)random32();
    facts.bar0_bytes = (uint64_t)random32() << (random32() % 33);
    (void)judge(&facts, &report);

    struct spate_doctor_function function;
    struct spate_doctor_space space = space_of(facts.config[DRIVE], random32() % 4097);
    space.read = count_reads;
    reads = 0;
    spate_doctor_function_read(&function, (struct spate_pcie_address){.bus = 1}, &space);
    assert_in_range(reads, 0, 700);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arbitrary_registers_are_judged_with_few_reads),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
