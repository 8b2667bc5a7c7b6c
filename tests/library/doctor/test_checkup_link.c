/* SPDX-License-Identifier: Apache-2.0 */
/* The first steps of a checkup: bridges without a link in each state of the link state machine, and trees of functions
 * without a usable drive. */
#include "../pcie/pcie_fixture.h"

#include <spate/checkup.h>
#include <stdio.h>

static struct spate_checkup checkup;
static struct spate_doctor_finding findings[32];
static unsigned finding_count;
static char said[16384];
static _Alignas(4096) uint8_t queue_pages[SPATE_CHECKUP_QUEUE_MEMORY_BYTES];
static _Alignas(4096) uint8_t buffer[SPATE_CHECKUP_BUFFER_BYTES_MIN];

static void keep_fact(void *context, const struct spate_checkup_fact *fact) {
  (void)context;
  assert_true(strlen(said) + strlen(fact->text) + 40 < sizeof said);
  (void)sprintf(said + strlen(said), "%s: %s\n", fact->name, fact->text);
}

static void keep_finding(void *context, const struct spate_doctor_finding *finding) {
  (void)context;
  assert_true(finding_count < 32);
  findings[finding_count++] = *finding;
}

static enum spate_doctor_severity check_as(enum spate_error (*open)(void *context, struct spate_pcie_host *opened),
                                           enum spate_doctor_ltssm ltssm) {
  struct spate_doctor doctor = {.found = keep_finding};
  struct spate_arena arena = {.start = queue_pages, .bytes = sizeof queue_pages};
  const struct spate_checkup_config config = {.open = open,
                                              .host = &host,
                                              .ltssm = ltssm,
                                              .queue_memory = &arena,
                                              .buffer = buffer,
                                              .buffer_bytes = sizeof buffer,
                                              .fact = keep_fact};

  finding_count = 0;
  said[0] = '\0';
  memset(&host, 0, sizeof host);
  assert_int_equal(spate_checkup(&checkup, &config, &doctor), SPATE_OK);
  assert_int_equal(doctor.worst, SPATE_DOCTOR_ERROR); /* each of them ends early, and has to say why */
  return doctor.worst;
}

static enum spate_doctor_severity check(enum spate_error (*open)(void *context, struct spate_pcie_host *opened)) {
  return check_as(open, SPATE_DOCTOR_LTSSM_PG213);
}

/* These findings and no others, besides the one that says where the checkup ended. */
static void assert_found(const enum spate_doctor_code *codes, unsigned count) {
  unsigned seen = 0;

  for (unsigned i = 0; i < finding_count; i++) {
    if (findings[i].code == SPATE_DOCTOR_UNDONE_STEPS) continue;
    if (seen == count) {
      fail_msg("%s was found", spate_doctor_name(findings[i].code));
      return;
    }
    assert_string_equal(spate_doctor_name(findings[i].code), spate_doctor_name(codes[seen++]));
  }
  assert_int_equal(seen, count);
}

#define ASSERT_FOUND(...)                                                                                              \
  assert_found((const enum spate_doctor_code[]){__VA_ARGS__},                                                          \
               sizeof((const enum spate_doctor_code[]){__VA_ARGS__}) / sizeof(enum spate_doctor_code))

static void assert_says(const char *text) {
  if (strstr(said, text) == NULL) fail_msg("it does not say \"%s\":\n%s", text, said);
}

static unsigned count_of(const char *text) {
  unsigned count = 0;

  for (const char *at = strstr(said, text); at != NULL; at = strstr(at + 1, text))
    count++;
  return count;
}

/* Not a drive: a checkup ends before it reads registers, which the model does not have. */
static struct fake_function *card_below(struct fake_function *port) {
  struct fake_function *card = fake_endpoint(port, 0, 0, 0x010601);

  fake_bar(card, 0, 0x1000, BAR_32);
  return card;
}

/* ---- a Xilinx bridge: PHY Status/Control is 0x144, with the state in bits 8:3 and lane reversal in bits 10:9 ---- */

static struct fake_function *xilinx_port(uint32_t phy) {
  fake_reset();
  struct fake_function *port = fake_bridge(NULL, 0, FAKE_ROOT_PORT);
  port->config[0x144 / 4] = phy;
  port->writable[0x148 / 4] = 1;
  return port;
}

static enum spate_error open_xilinx(void *context, struct spate_pcie_host *opened) {
  const struct spate_pcie_xilinx_config config = {
      .control_base = FAKE_ECAM_BASE, .last_bus = 15, .memory = {WINDOW_CPU, WINDOW_BUS, MIB}};

  assert_null(context);
  const enum spate_error error = spate_pcie_xilinx_open(opened, &config);
  return error == SPATE_OK ? spate_pcie_enumerate(opened, 0) : error;
}

#define NO_RECEIVER "link: down; no receiver was detected\n"
#define RECEIVER    "link: down; a receiver was detected on at least one lane\n"
#define DOWN        "link: down\n"

static const struct state {
  enum spate_doctor_code code;
  uint8_t pg213, pg054;
  const char *name, *says;
} states[] = {
    {SPATE_DOCTOR_LINK_STATE_ZERO, 0x00, 0x00, "Detect.Quiet", NO_RECEIVER},
    {SPATE_DOCTOR_LINK_NO_RECEIVER, 0x01, 0x02, "Detect.Active", NO_RECEIVER},
    {SPATE_DOCTOR_LINK_POLLING, 0x02, 0x04, "Polling.Active", RECEIVER},
    {SPATE_DOCTOR_LINK_POLLING, 0x03, 0x08, "Polling.Compliance", RECEIVER},
    {SPATE_DOCTOR_LINK_POLLING, 0x04, 0x05, "Polling.Configuration", RECEIVER},
    {SPATE_DOCTOR_LINK_CONFIGURATION, 0x05, 0x26, "Configuration.Linkwidth.Start", RECEIVER},
    {SPATE_DOCTOR_LINK_CONFIGURATION, 0x06, 0x0d, "Configuration.Linkwidth.Accept", RECEIVER},
    {SPATE_DOCTOR_LINK_CONFIGURATION, 0x07, 0x10, "Configuration.Lanenum.Accept", RECEIVER},
    {SPATE_DOCTOR_LINK_CONFIGURATION, 0x08, 0x0f, "Configuration.Lanenum.Wait", RECEIVER},
    {SPATE_DOCTOR_LINK_CONFIGURATION, 0x09, 0x13, "Configuration.Complete", RECEIVER},
    {SPATE_DOCTOR_LINK_CONFIGURATION, 0x0a, 0x15, "Configuration.Idle", RECEIVER},
    {SPATE_DOCTOR_LINK_RECOVERY, 0x0b, 0x1c, "Recovery.RcvrLock", RECEIVER},
    {SPATE_DOCTOR_LINK_RECOVERY, 0x0c, 0x1f, "Recovery.Speed", RECEIVER},
    {SPATE_DOCTOR_LINK_RECOVERY, 0x0d, 0x1d, "Recovery.RcvrCfg", RECEIVER},
    {SPATE_DOCTOR_LINK_RECOVERY, 0x0e, 0x20, "Recovery.Idle", RECEIVER},
    {SPATE_DOCTOR_LINK_TRAINING, 0x10, 0x16, "L0", RECEIVER},
    {SPATE_DOCTOR_LINK_DISABLED, 0x20, 0x22, "Disabled", DOWN},
    {SPATE_DOCTOR_LINK_DISABLED, 0x24, 0x2e, "Loopback", DOWN},
    {SPATE_DOCTOR_LINK_DISABLED, 0x27, 0x21, "Hot Reset", DOWN},
    {SPATE_DOCTOR_LINK_STATE_UNKNOWN, 0x3f, 0x3f, "unknown", DOWN},
};

#define STATES (sizeof states / sizeof states[0])

static void each_state_of_a_link_that_is_down_has_its_advice(void **state) {
  (void)state;
  for (unsigned i = 0; i < 2 * STATES; i++) {
    const struct state *each = &states[i / 2];
    const enum spate_doctor_ltssm ltssm = i % 2 == 0 ? SPATE_DOCTOR_LTSSM_PG213 : SPATE_DOCTOR_LTSSM_PG054;
    (void)xilinx_port((uint32_t)(i % 2 == 0 ? each->pg213 : each->pg054) << 3);
    assert_int_equal(check_as(open_xilinx, ltssm), SPATE_DOCTOR_ERROR);
    ASSERT_FOUND(each->code);
    if (findings[0].name != NULL) assert_string_equal(findings[0].name, each->name);
    assert_says("bridge: LINK_DOWN");
    assert_int_equal(count_of(" was seen"), 1); /* and no other state */
    assert_says(each->name);
    assert_says(each->says);
  }
}

static void lanes_in_reverse_order_are_told(void **state) {
  (void)state;
  (void)card_below(xilinx_port(0x0800 | 1u << 9 | 0x10 << 3 | 2 << 1));
  (void)check(open_xilinx);
  assert_int_equal(findings[0].code, SPATE_DOCTOR_LANES_REVERSED);
  assert_int_equal(findings[0].numbers[0], 1);
  assert_says("link: up, 8 GT/s x4"); /* Link Status of the root port, which knows more speeds than PHY status */
}

static void a_bridge_that_is_not_there_is_found(void **state) {
  (void)state;
  xilinx_port(0x0800)->config[0] = UINT32_MAX;
  assert_int_equal(check(open_xilinx), SPATE_DOCTOR_ERROR);
  ASSERT_FOUND(SPATE_DOCTOR_NO_BRIDGE);
}

/* ---- a link that tries again and again ---- */

static const uint8_t *sequence;
static unsigned sequence_length, sequence_at;
static bool sequence_up;

static enum spate_error next_state(struct spate_pcie_host *of, struct spate_pcie_phy *phy) {
  (void)of;
  *phy = (struct spate_pcie_phy){.up = sequence_up, .ltssm = sequence[sequence_at++ % sequence_length]};
  return SPATE_OK;
}

/* The stack is what the board's code has left of it. */
static __attribute__((noinline)) void use_stack(void) {
  volatile uint8_t used[16384];

  for (unsigned i = 0; i < sizeof used; i++)
    used[i] = 0xff;
}

static enum spate_error open_watched(void *context, struct spate_pcie_host *opened) {
  static struct spate_pcie_host_ops ops;
  const struct spate_pcie_ecam_config config = ecam_config(WINDOW_BYTES, 0);

  assert_null(context);
  use_stack();
  assert_int_equal(spate_pcie_ecam_open(opened, &config), SPATE_OK);
  ops = *opened->ops;
  ops.phy = next_state;
  opened->ops = &ops;
  return sequence_up ? spate_pcie_enumerate(opened, 0) : SPATE_E_LINK_DOWN;
}

static void watch(const uint8_t *codes, unsigned count, bool up) {
  fake_reset();
  (void)card_below(fake_bridge(NULL, 0, FAKE_ROOT_PORT));
  sequence = codes;
  sequence_length = count;
  sequence_at = 0;
  sequence_up = up;
  (void)check(open_watched);
}

static void the_furthest_state_counts(void **state) {
  static const uint8_t codes[] = {0x00, 0x01, 0x02, 0x05, 0x02, 0x00, 0x00, 0x00};

  (void)state;
  use_stack();
  watch(codes, sizeof codes, false);
  assert_int_equal(count_of(" was seen"), 4); /* and no other state */
  ASSERT_FOUND(SPATE_DOCTOR_LINK_CONFIGURATION);
  assert_says("state Detect.Quiet (0x0) was seen");
  assert_says("state Configuration.Linkwidth.Start (0x5) was seen");
}

static void a_link_that_recovers_most_of_the_time_is_found(void **state) {
  static const uint8_t bad[] = {0x10, 0x0b, 0x0d}, good[] = {0x10, 0x10, 0x0b};

  (void)state;
  watch(bad, sizeof bad, true);
  assert_int_equal(findings[0].code, SPATE_DOCTOR_LINK_RECOVERY);
  watch(good, sizeof good, true);
  for (unsigned i = 0; i < finding_count; i++)
    assert_int_not_equal(findings[i].code, SPATE_DOCTOR_LINK_RECOVERY);
}

/* ---- trees without a usable drive ---- */

static uint64_t window_bytes, high_bytes;

static enum spate_error open_ecam(void *context, struct spate_pcie_host *opened) {
  const struct spate_pcie_ecam_config config = ecam_config(window_bytes, high_bytes);

  assert_null(context);
  const enum spate_error error = spate_pcie_ecam_open(opened, &config);
  return error == SPATE_OK ? spate_pcie_enumerate(opened, 0) : error;
}

static struct fake_function *new_port(unsigned device) {
  struct fake_function *port = fake_bridge(NULL, device, FAKE_ROOT_PORT);

  window_bytes = WINDOW_BYTES;
  high_bytes = 0;
  *fake_express_register(port, 0x0c) |= 1u << 20; /* reports its link */
  return port;
}

static void the_ports_of_an_empty_board_are_judged(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *empty = new_port(0), *down = new_port(3);
  empty->link_ticks = down->link_ticks = FAKE_NEVER;
  *fake_express_register(empty, 0x00) |= 0x01000000u; /* a slot, and nothing in it */
  (void)check(open_ecam);
  ASSERT_FOUND(SPATE_DOCTOR_SLOT_EMPTY, SPATE_DOCTOR_LINK_DOWN);
  assert_says("port: class 0x60400; nothing was found below it");
}

/* The switch answers: its ports without a drive are what is wrong, and not the port above it. */
static void the_ports_of_an_empty_switch_are_judged(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *root = new_port(0);
  struct fake_function *up = fake_bridge(root, 0, FAKE_UPSTREAM);
  for (unsigned device = 0; device < 2; device++) {
    struct fake_function *down = fake_bridge(up, device, FAKE_DOWNSTREAM);
    *fake_express_register(down, 0x0c) |= 1u << 20; /* reports its link */
    down->link_ticks = FAKE_NEVER;
  }
  assert_int_equal(check(open_ecam), SPATE_DOCTOR_ERROR);
  ASSERT_FOUND(SPATE_DOCTOR_LINK_DOWN, SPATE_DOCTOR_LINK_DOWN);
  assert_int_equal(findings[0].function->address.bus, 2);
}

static void another_card_in_the_drives_place_is_found(void **state) {
  (void)state;
  fake_reset();
  (void)card_below(new_port(0));
  assert_int_equal(check(open_ecam), SPATE_DOCTOR_ERROR);
  ASSERT_FOUND(SPATE_DOCTOR_WRONG_CLASS, SPATE_DOCTOR_NO_DRIVE);
  assert_says("device: vendor 0x");
}

static void a_bar_that_cannot_be_written_is_found(void **state) {
  (void)state;
  fake_reset();
  (void)fake_endpoint(new_port(0), 0, 0, NVME);
  assert_int_equal(check(open_ecam), SPATE_DOCTOR_ERROR);
  bool is_found = false;
  for (unsigned i = 0; i < finding_count; i++)
    is_found = is_found || findings[i].code == SPATE_DOCTOR_BAR_FIXED;
  assert_true(is_found);
}

/* BAR 0 may be in either. */
static void both_windows_of_a_port_are_told(void **state) {
  (void)state;
  fake_reset();
  struct fake_function *drive = fake_endpoint(new_port(0), 0, 0, NVME); /* its BAR 0 cannot be written */
  fake_bar(drive, 2, MIB, BAR_32);
  fake_bar(drive, 4, 2 * MIB, BAR_64_PREF);
  high_bytes = GIB;
  (void)check(open_ecam);
  assert_says("path: memory window with 1 MiB at 0x");
  assert_says("path: prefetchable window with 2 MiB at 0x");
}

static void a_window_that_is_too_small_is_found(void **state) {
  (void)state;
  fake_reset();
  fake_bar(fake_endpoint(new_port(0), 0, 0, NVME), 0, 8 * MIB, BAR_64);
  window_bytes = 4 * MIB;
  assert_int_equal(check(open_ecam), SPATE_DOCTOR_ERROR);
  bool is_found = false;
  for (unsigned i = 0; i < finding_count; i++)
    is_found = is_found || findings[i].code == SPATE_DOCTOR_APERTURE_SMALL;
  assert_true(is_found);
}

static void a_device_that_is_never_ready_is_told(void **state) {
  (void)state;
  fake_reset();
  drive_below(new_port(0))->ready_ticks = FAKE_NEVER;
  assert_int_equal(check(open_ecam), SPATE_DOCTOR_ERROR);
  ASSERT_FOUND(SPATE_DOCTOR_NOT_ENUMERATED);
  assert_int_equal(findings[0].numbers[0], SPATE_E_NOT_READY);
}

static void what_enumeration_left_out_is_told(void **state) {
  (void)state;
  fake_reset();
  (void)card_below(new_port(0));
  drive_below(new_port(1))->ready_ticks = FAKE_NEVER;
  (void)check(open_ecam);
  assert_int_equal(findings[0].code, SPATE_DOCTOR_LEFT_OUT);
  assert_int_equal(findings[0].numbers[0], 1);
}

static void a_wrong_configuration_is_told(void **state) {
  (void)state;
  fake_reset();
  window_bytes = 1; /* not a multiple of 4 KiB */
  assert_int_equal(check(open_ecam), SPATE_DOCTOR_ERROR);
  ASSERT_FOUND(SPATE_DOCTOR_NOT_ENUMERATED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_state_of_a_link_that_is_down_has_its_advice),
      cmocka_unit_test(lanes_in_reverse_order_are_told),
      cmocka_unit_test(a_bridge_that_is_not_there_is_found),
      cmocka_unit_test(the_furthest_state_counts),
      cmocka_unit_test(a_link_that_recovers_most_of_the_time_is_found),
      cmocka_unit_test(the_ports_of_an_empty_board_are_judged),
      cmocka_unit_test(the_ports_of_an_empty_switch_are_judged),
      cmocka_unit_test(another_card_in_the_drives_place_is_found),
      cmocka_unit_test(a_bar_that_cannot_be_written_is_found),
      cmocka_unit_test(both_windows_of_a_port_are_told),
      cmocka_unit_test(a_window_that_is_too_small_is_found),
      cmocka_unit_test(a_device_that_is_never_ready_is_told),
      cmocka_unit_test(what_enumeration_left_out_is_told),
      cmocka_unit_test(a_wrong_configuration_is_told),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
