/* SPDX-License-Identifier: Apache-2.0 */
/* thorough: make test-all runs it, make test does not */
/* The checkup of a board without an operating system: what it says about a sound board, and about boards that are
 * broken in one way each. */
#include "checkup_fixture.h"
#include "pcie/internal.h"

#define IO_WRITE           1
#define IO_READ            2
#define IO_COMPARE         5
#define ADMIN_GET_LOG      2
#define ADMIN_IDENTIFY     6
#define ADMIN_GET_FEATURES 10
#define UNRECOVERED        0x4281u /* Unrecovered Read Error, do not retry */
#define INTERNAL           0x4006u /* Internal Error, do not retry */

/* ---- a sound board ---- */

/* cmocka cuts messages. */
static void show(void) { (void)fputs(said, stderr); }

static void assert_says(const char *text) {
  if (strstr(said, text) != NULL) return;
  show();
  fail_msg("it does not say \"%s\"", text);
}

static void assert_sound(void) {
  if (doctor.worst == SPATE_DOCTOR_NOTE) return;
  show();
  fail_msg("something is wrong");
}

static void nothing_is_wrong_with_a_sound_board(void **state) {
  (void)state;
  for (unsigned coherent = 0; coherent < 2; coherent++) {
    start(&(struct faults){.coherent = coherent != 0});
    run();
    assert_sound();
    assert_int_equal(found(SPATE_DOCTOR_DATA_NOT_COHERENT), coherent == 0);
    assert_true(found(SPATE_DOCTOR_POLLED));
    assert_int_equal(finding_count, coherent ? 1 : 2);
    assert_int_equal(queue_memory.used_bytes, 0);
    assert_int_equal(sim_drive_counters(drive)->io[IO_WRITE], 0);
    assert_int_equal(sim_drive_counters(drive)->io[IO_COMPARE], 2);
    assert_int_equal(sim_drive_counters(drive)->shutdowns, 1);
    stop();
  }
}

static void it_tells_the_facts_of_each_step(void **state) {
  (void)state;
  start(&(struct faults){.write_lba = 8, .write_blocks = 4096});
  run();
  assert_sound();
  assert_says("clock: 1000000000 ticks/s");
  assert_says("bridge: OK: 1 bridge, 1 device, 0 left out");
  assert_says("link: the bridge does not show the state of its link");
  assert_says("window: memory: 0x10000000 for the processor, 0x10000000 on the bus, 256 MiB");
  assert_says("path: class 0x60400, buses 1 to 1");
  assert_says("path: class 0x10802, BAR 0 with 16 KiB at 0x10000000, command 0x");
  assert_says("path: payload 256 bytes of 512 bytes, read requests 512 bytes");
  assert_says(" GT/s x");
  assert_says("errors: corrected 0x0, uncorrected 0x0, device status 0x0\n");
  assert_says("drive: CAP 0x");
  assert_says("drive: NVMe 1.4, up to ");
  assert_says("clock: 500 ms for the drive, 50");
  assert_says("DMA: queue memory at 0x");
  assert_says("seen after spate_port_cache_invalidate()");
  assert_says("the drive reads what the processor stored");
  assert_says("drive: temperature ");
  assert_says("read: 64 MiB, ");
  assert_says("device status 0x0 after the transfer");
  assert_says("write: 2 MiB, ");
  assert_says("write: 16 KiB were written, read and compared");
  assert_says("end: shutdown: OK");
  assert_int_equal(sim_drive_counters(drive)->in_flight_max, SPATE_CHECKUP_DEPTH); /* the rates are not those of one */
  stop();
}

/* The range and nothing else. */
static void it_writes_only_where_it_is_told_to(void **state) {
  (void)state;
  uint8_t before[512], block[512];

  start(&(struct faults){.write_lba = 100, .write_blocks = 50});
  memset(before, 0x5a, sizeof before);
  for (uint64_t lba = 90; lba < 160; lba++)
    (void)sim_store_write(sim_drive_store(drive), lba << 9, before, sizeof before);
  run();
  assert_sound();
  for (uint64_t lba = 90; lba < 160; lba++) {
    sim_store_read(sim_drive_store(drive), lba << 9, block, sizeof block);
    assert_int_equal(memcmp(block, before, sizeof block) == 0, lba < 100 || lba >= 150);
  }
  stop();
}

/* The drive writes its identity into the buffer. If the identity is there before, in memory or in dirty lines of the
 * caches, the checkup still sees that the caches are not coherent. 512: dirty are the lines that the health log hits.
 */
static void what_the_buffer_held_before_does_not_count(void **state) {
  (void)state;
  static const unsigned dirty_bytes[] = {0, 512, SPATE_PAGE_BYTES};
  for (unsigned i = 0; i < sizeof dirty_bytes / sizeof dirty_bytes[0]; i++) {
    start(&(struct faults){.coherent = false});
    memset(buffer, 0xff, SPATE_PAGE_BYTES); /* a line is dirty only if it differs from memory */
    sim_memory_clean(sim, buffer, SPATE_PAGE_BYTES);
    memcpy(buffer, sim_drive_identify_controller(drive), SPATE_PAGE_BYTES);
    sim_memory_clean(sim, buffer + dirty_bytes[i], SPATE_PAGE_BYTES - dirty_bytes[i]);
    run();
    assert_sound();
    assert_true(found(SPATE_DOCTOR_DATA_NOT_COHERENT));
    stop();
  }
}

static void a_second_checkup_finds_the_same(void **state) {
  (void)state;
  start(&(struct faults){.coherent = false});
  run();
  const unsigned count = finding_count;
  finding_count = 0;
  run(); /* the buffer has what the first one left there */
  assert_int_equal(finding_count, count);
  assert_sound();
  stop();
}

static struct {
  uint64_t cleared_us, least_us; /* when CC.EN was cleared; 0: CSTS was read since */
  unsigned pauses;
} pause;

static void time_pause(void *context, const struct sim_access *access) {
  const uint64_t offset = access->address - host.devices[0].bar0, us = access->at_ps / SIM_PS_PER_US;

  (void)context;
  if (access->kind == SIM_ACCESS_WRITE && offset == 0x14 && (*(const uint8_t *)access->data & 1u) == 0)
    pause.cleared_us = us;
  if (access->kind != SIM_ACCESS_READ || offset != 0x1c || pause.cleared_us == 0) return;
  pause.pauses++;
  if (us - pause.cleared_us < pause.least_us) pause.least_us = us - pause.cleared_us;
  pause.cleared_us = 0;
}

static void be_an_sn100(void);

/* A drive that must be left alone after CC.EN was cleared is left alone, as by the driver. */
static void a_drive_that_needs_a_pause_gets_it(void **state) {
  (void)state;
  start(&(struct faults){.coherent = true, .after = be_an_sn100});
  pause.least_us = UINT64_MAX;
  sim_trace(sim, time_pause, NULL);
  run();
  assert_true(pause.pauses > 0);
  assert_in_range(pause.least_us, 2300000, 2500000);
  stop();
}

/* All are listed, and the one that was asked for is checked. */
static void one_of_several_drives_is_checked(void **state) {
  (void)state;
  for (unsigned asked = 0; asked < 2; asked++) {
    start(&(struct faults){.drive = asked, .second = true});
    run();
    assert_says("bridge: OK: 2 bridges, 2 devices");
    assert_says("device: vendor 0x");
    assert_int_equal(checkup.device.address.bus, asked + 1u);
    assert_int_equal(sim_drive_counters(sim_drive_at(sim, asked))->shutdowns, 1);
    assert_int_equal(sim_drive_counters(sim_drive_at(sim, 1u - asked))->shutdowns, 0);
    stop();
  }
}

/* NVMe 1.0 has no list of namespaces. */
static void a_drive_of_nvme_1_0_is_compared_with(void **state) {
  (void)state;
  start(&(struct faults){.version = UINT32_C(0x10000)});
  run();
  assert_sound();
  assert_int_equal(sim_drive_counters(drive)->io[IO_COMPARE], 2);
  stop();
}

static void arguments_are_checked(void **state) {
  (void)state;
  start(&(struct faults){.coherent = true});
  const struct spate_checkup_config good = {.open = open_bridge,
                                            .host = &host,
                                            .queue_memory = &queue_memory,
                                            .buffer = buffer,
                                            .buffer_bytes = BUFFER_BYTES,
                                            .fact = keep_fact};
  struct spate_checkup_config bad = good;

  bad.buffer = buffer + 64;
  assert_int_equal(spate_checkup(&checkup, &bad, &doctor), SPATE_E_INVALID);
  bad = good, bad.buffer_bytes = SPATE_CHECKUP_BUFFER_BYTES_MIN - 1u;
  assert_int_equal(spate_checkup(&checkup, &bad, &doctor), SPATE_E_INVALID);
  bad = good, bad.fact = NULL;
  assert_int_equal(spate_checkup(&checkup, &bad, &doctor), SPATE_E_INVALID);
  bad = good, bad.host = NULL;
  assert_int_equal(spate_checkup(&checkup, &bad, &doctor), SPATE_E_INVALID);
  queue_memory.used_bytes = 1;
  assert_int_equal(spate_checkup(&checkup, &good, &doctor), SPATE_E_MEMORY);
  assert_int_equal(queue_memory.used_bytes, 1);
  assert_int_equal(said[0], '\0');
  stop();
}

/* ---- boards that are broken ---- */

static struct spate_pcie_address drive_address(void) { return host.devices[0].address; }

static void turn_off_bus_mastering(void) {
  const uint32_t command = host.ops->config_read(&host, drive_address(), 0x04);

  host.ops->config_write(&host, drive_address(), 0x04, command & ~4u);
}

static void other_commands(void) {
  *sim_drive_cap(drive) = (*sim_drive_cap(drive) & ~(UINT64_C(0xff) << 37)) | UINT64_C(0x40) << 37;
}
static void large_pages(void) { *sim_drive_cap(drive) |= UINT64_C(0xff) << 48; }
/* Queue memory that held commands before which a drive does not answer: Asynchronous Event Request. */
static void use_queue_memory(void) {
  memset(queue_memory.start, 0x0c, queue_memory.bytes);
  sim_memory_clean(sim, queue_memory.start, queue_memory.bytes);
}

static void unplug(void) { sim_drive_link_drop(drive, UINT32_MAX); }
static void be_an_sn100(void) {
  host.devices[0].vendor_id = 0x1c58;
  host.devices[0].device_id = 0x0003;
}

static void never_ready(void) { sim_drive_stick(drive, true, false, false); }
static void never_stops(void) { sim_drive_stick(drive, false, true, false); }
static void fatal(void) { sim_drive_stick(drive, false, false, true); }
static void translate(void) { host.memory.bus_address += 0x1000000; }
static void no_namespace(void) { sim_drive_namespaces(drive)[0] = 0; }
static void slow_shutdown(void) { sim_drive_slow_shutdown(drive, 600000); }
static void hot(void) { sim_drive_heat(drive, 90); }

static void throttled_before(void) { sim_drive_smart(drive)[216] = 3; } /* transitions to light throttling */

static void fail_command(bool admin, int16_t opcode, uint32_t skip, uint64_t first_lba, uint32_t status) {
  sim_drive_fault(drive, (struct sim_fault){.action = SIM_STATUS,
                                            .admin = admin,
                                            .opcode = opcode,
                                            .skip = skip,
                                            .first_lba = first_lba,
                                            .last_lba = first_lba == 0 ? 0 : UINT64_MAX,
                                            .count = UINT32_MAX,
                                            .value = status});
}

static void refuse_the_first(void) { fail_command(true, ADMIN_IDENTIFY, 0, 0, INTERNAL); }
/* The DMA step has four of these commands. */
static void refuse_the_driver(void) { fail_command(true, ADMIN_IDENTIFY, 4, 0, INTERNAL); }
static void refuse_health(void) { fail_command(true, ADMIN_GET_LOG, 1, 0, INTERNAL); }
/* What was written must not be taken for what was read. */
static void read_nothing(void) {
  sim_drive_fault(drive, (struct sim_fault){.action = SIM_PHANTOM, .opcode = 2, .count = UINT32_MAX});
}

static void fail_reads(void) { fail_command(false, IO_READ, 0, 1000, UNRECOVERED); }
static void fail_block_0(void) { fail_command(false, IO_READ, 0, 0, UNRECOVERED); }
static void fail_writes(void) { fail_command(false, IO_WRITE, 0, 0, INTERNAL); }
static void refuse_compare(void) { fail_command(false, IO_COMPARE, 0, 0, INTERNAL); }
static void lose_queue_creation(void) { fail_command(true, 5, 0, 0, INTERNAL); }

static const struct provocation {
  enum spate_doctor_code code;
  struct faults faults;
  const char *says; /* part of the facts or findings */
} provocations[] = {
    {SPATE_DOCTOR_CLOCK_WRONG, {.ticks_per_second = 1}, "its rate is 0"},
    {SPATE_DOCTOR_CLOCK_WRONG, {.ticks_per_second = 1000}, "its rate is below 1 kHz"},
    {SPATE_DOCTOR_CLOCK_WRONG, {.clock_stands = true}, "it is stopped"},
    {SPATE_DOCTOR_CLOCK_WRONG, {.clock_goes_back = true}, "it runs backwards"},
    {SPATE_DOCTOR_CLOCK_RATE, {.ticks_per_second = 2000000000}, "advanced by 1000 ms while"},
    {SPATE_DOCTOR_CLOCK_RATE, {.ticks_per_second = 800000000}, "advanced by 400 ms while"},
    {SPATE_DOCTOR_LINK_DOWN, {.before = unplug}, "bridge: LINK_DOWN"},
    {SPATE_DOCTOR_WINDOW_TRANSLATED, {.reads_value = true, .after = translate}, "(0x11000000) than for the processor"},
    {SPATE_DOCTOR_REGISTERS_UNREACHED, {.reads_value = true}, "read 0x0 at 0x10000000"},
    {SPATE_DOCTOR_REGISTERS_UNREACHED, {.reads_value = true, .value = UINT32_MAX}, "read 0xffffffff at 0x10000000"},
    {SPATE_DOCTOR_FUNCTION_SILENT, {.after = unplug}, "does not respond"},
    {SPATE_DOCTOR_CONTROLLER_NOT_READY, {.before = never_ready}, "CC.EN 1, CSTS 0x0"},
    {SPATE_DOCTOR_CONTROLLER_FATAL, {.before = fatal}, "CSTS.CFS"},
    {SPATE_DOCTOR_BUS_MASTER_OFF, {.after = turn_off_bus_mastering}, "Bus mastering"},
    {SPATE_DOCTOR_QUEUE_MEMORY_UNREACHED, {.after = turn_off_bus_mastering}, "does not reach queue memory"},
    {SPATE_DOCTOR_QUEUE_MEMORY_UNREACHED, {.dma_offset = UINT64_C(0x4000000000)}, "at bus address 0x4"},
    {SPATE_DOCTOR_QUEUE_MEMORY_CACHED, {.cached_queues = true}, "only after cache maintenance"},
    {SPATE_DOCTOR_QUEUE_MEMORY_CACHED,
     {.cached_queues = true, .before = use_queue_memory},
     "only after cache maintenance"},
    {SPATE_DOCTOR_QUEUE_MEMORY_CACHED, {.cached_queues = true, .lines_leave = true}, "only after cache maintenance"},
    {SPATE_DOCTOR_QUEUE_MEMORY_CACHED, {.no_write_barrier = true}, "only after cache maintenance"},
    {SPATE_DOCTOR_QUEUE_MEMORY_CACHED, {.stores_need_clean = true}, "only after cache maintenance"},
    {SPATE_DOCTOR_COMMAND_REFUSED, {.before = refuse_the_first}, "Internal Error"},
    {SPATE_DOCTOR_COMMAND_REFUSED, {.before = refuse_health}, "the health log"},
    {SPATE_DOCTOR_DATA_NOT_COHERENT, {.no_compare = true}, "only after cache maintenance"},
    {SPATE_DOCTOR_DATA_UNREACHED, {.buffer_elsewhere = true}, "but not the test buffer"},
    {SPATE_DOCTOR_DATA_UNREACHED, {.buffer_elsewhere = true, .no_compare = true}, "but not the test buffer"},
    {SPATE_DOCTOR_DATA_UNREACHED, {.buffer_in_hole = true}, "but not the test buffer at bus address 0x4"},
    {SPATE_DOCTOR_DATA_MISSING, {.buffer_in_hole = true, .no_compare = true}, "the drive has no Compare"},
    {SPATE_DOCTOR_DATA_MISSING, {.no_invalidate = true, .no_compare = true}, "the drive has no Compare"},
    {SPATE_DOCTOR_DATA_UNSEEN, {.no_invalidate = true}, "does not see them"},
    {SPATE_DOCTOR_STORES_UNSEEN, {.no_clean = true}, "does not read what the processor stored"},
    {SPATE_DOCTOR_NOT_STARTED, {.before = refuse_the_driver}, "the drive refused a command."},
    {SPATE_DOCTOR_NOT_STARTED, {.doorbell_stride = 10}, "does not support this."},
    {SPATE_DOCTOR_COMMAND_SET, {.before = other_commands}, "The steps from \"DMA\" on"},
    {SPATE_DOCTOR_PAGE_SIZE, {.before = large_pages}, "The steps from \"DMA\" on"},
    {SPATE_DOCTOR_NO_NAMESPACE, {.before = no_namespace}, "no active namespace"},
    {SPATE_DOCTOR_HOT, {.before = hot}, "drive: temperature 8"},
    {SPATE_DOCTOR_THROTTLED_BEFORE, {.before = throttled_before}, "throttled itself 3 times"},
    {SPATE_DOCTOR_TRANSFER_FAILED, {.before = fail_reads}, "MEDIA"},
    {SPATE_DOCTOR_WRITE_FAILED, {.before = fail_writes, .write_blocks = 64}, "failed after 0 bytes"},
    {SPATE_DOCTOR_WRITE_FAILED, {.write_lba = BLOCKS - 1, .write_blocks = 2}, "failed after 0 bytes: an argument"},
    {SPATE_DOCTOR_DATA_DIFFER, {.no_clean = true, .no_compare = true, .write_blocks = 64}, "from byte 0 "},
    {SPATE_DOCTOR_DATA_DIFFER, {.before = read_nothing, .no_compare = true, .write_blocks = 64}, "from byte 0 "},
    {SPATE_DOCTOR_DRIVE_NUMBER, {.drive = 1}, "no NVMe drive 1"},
    {SPATE_DOCTOR_NOT_SHUT_DOWN, {.before = slow_shutdown}, "was not shut down"},
    {SPATE_DOCTOR_NOT_SHUT_DOWN, {.after = never_stops}, "may still write to memory"},
    {SPATE_DOCTOR_UNDONE_STEPS, {.clock_stands = true}, "from \"bridge\" on"},
    {SPATE_DOCTOR_UNDONE_CLOCK, {.no_stamp = true}, "the drive has no Timestamp"},
    {SPATE_DOCTOR_UNDONE_COMPARE, {.no_compare = true}, "the drive has no Compare"},
    {SPATE_DOCTOR_UNDONE_COMPARE, {.before = fail_block_0}, "block 0 cannot be read"},
    {SPATE_DOCTOR_UNDONE_COMPARE, {.before = refuse_compare}, "the drive refuses Compare"},
    {SPATE_DOCTOR_UNDONE_COMPARE, {.before = lose_queue_creation}, "the drive creates no I/O queue"},
    {SPATE_DOCTOR_UNDONE_COMPARE, {.before = no_namespace}, "no active namespace"},
};

#define PROVOCATIONS (sizeof provocations / sizeof provocations[0])

static void each_finding_is_provoked(void **state) {
  (void)state;
  for (unsigned i = 0; i < PROVOCATIONS; i++) {
    const struct provocation *each = &provocations[i];
    start(&each->faults);
    run();
    if (!found(each->code)) {
      show();
      fail_msg("%s (%u) was not found", spate_doctor_name(each->code), i);
    }
    assert_says(each->says);
    if (checkup.may_run)
      assert_true(queue_memory.used_bytes > 0);
    else
      assert_int_equal(queue_memory.used_bytes, 0);
    forgive();
    stop();
  }
}

/* All ones are no class and no address. */
static void nothing_is_told_of_a_function_that_is_silent(void **state) {
  (void)state;
  start(&(struct faults){.after = unplug});
  run();
  assert_true(found(SPATE_DOCTOR_FUNCTION_SILENT));
  assert_says("path: class 0x60400, "); /* the port above it answers */
  for (const char *at = said; (at = strstr(at, "path: class 0x")) != NULL; at++)
    assert_memory_equal(at, "path: class 0x60400, ", 21);
  forgive();
  stop();
}

/* Findings that name one cause must not appear with the other. */
static void causes_are_told_apart(void **state) {
  static const enum spate_doctor_code causes[] = {
      SPATE_DOCTOR_QUEUE_MEMORY_UNREACHED, SPATE_DOCTOR_QUEUE_MEMORY_CACHED,
      SPATE_DOCTOR_DATA_UNREACHED,         SPATE_DOCTOR_DATA_UNSEEN,
      SPATE_DOCTOR_STORES_UNSEEN,          SPATE_DOCTOR_CLOCK_RATE,
      SPATE_DOCTOR_COMMAND_REFUSED,
  };
  const unsigned count = sizeof causes / sizeof causes[0];
  uint32_t provoked = 0; /* a bit for each cause */

  (void)state;
  for (unsigned i = 0; i < PROVOCATIONS; i++) {
    bool is_cause = false;
    for (unsigned cause = 0; cause < count; cause++) {
      if (provocations[i].code != causes[cause]) continue;
      is_cause = true;
      provoked |= 1u << cause;
    }
    if (!is_cause) continue;
    start(&provocations[i].faults);
    run();
    for (unsigned cause = 0; cause < count; cause++)
      if (found(causes[cause]) != (causes[cause] == provocations[i].code))
        fail_msg("%s, provoking %s:\n%s", spate_doctor_name(causes[cause]), spate_doctor_name(provocations[i].code),
                 said);
    forgive();
    stop();
  }
  assert_int_equal(provoked, (1u << count) - 1u);
}

/* Errors that the drive records in Device Status and in the correctable errors, until a 1 is written to their bits. It
 * has some from before the checkup, and others happen in its first read of blocks by the driver. */
static struct {
  uint32_t device_status, correctable, uncorrectable;
  bool happened;
} recorded;

#define DEVICE_STATUS        0x48u /* and Device Control */
#define EXTENDED             0x100u
#define CORRECTABLE_STATUS   0x110u
#define UNCORRECTABLE_STATUS 0x104u
#define COMPLETION_TIMEOUT   0x4000u
#define RECEIVER_ERROR       0x1u
#define BAD_TLP              0x40u

static uint32_t read_with_errors(struct spate_pcie_host *of, struct spate_pcie_address at, uint16_t offset) {
  const uint32_t value = spate_pcie_ecam_read(of, at, offset);

  if (at.bus != 1) return value;
  if (sim_drive_counters(drive)->read_bytes > 4096 && !recorded.happened) {
    recorded.happened = true;
    recorded.device_status |= 1;
    recorded.correctable |= RECEIVER_ERROR;
  }
  switch (offset) {
  case DEVICE_STATUS: return value | recorded.device_status << 16;
  case EXTENDED: return 0x00010001; /* advanced error reporting, and no other capability */
  case CORRECTABLE_STATUS: return recorded.correctable;
  case UNCORRECTABLE_STATUS: return recorded.uncorrectable;
  default: return value;
  }
}

static void write_with_errors(struct spate_pcie_host *of, struct spate_pcie_address at, uint16_t offset,
                              uint32_t value) {
  if (at.bus == 1 && offset == DEVICE_STATUS) {
    recorded.device_status &= ~(value >> 16);
    assert_int_equal(value & 0xffff, spate_pcie_ecam_read(of, at, offset) & 0xffff); /* Device Control stays */
  }
  if (at.bus == 1 && offset == CORRECTABLE_STATUS) recorded.correctable &= ~value;
  if (at.bus == 1 && offset == UNCORRECTABLE_STATUS) recorded.uncorrectable &= ~value;
  spate_pcie_ecam_write(of, at, offset, value);
}

static void record_errors(void) {
  static struct spate_pcie_host_ops ops;

  ops = *host.ops;
  ops.config_read = read_with_errors;
  ops.config_write = write_with_errors;
  host.ops = &ops;
}

static unsigned count_of(enum spate_doctor_code code) {
  unsigned count = 0;

  for (unsigned i = 0; i < finding_count; i++)
    count += findings[i].code == code;
  return count;
}

static void an_error_is_told_of_one_transfer_only(void **state) {
  (void)state;
  memset(&recorded, 0, sizeof recorded);
  start(&(struct faults){.after = record_errors, .write_blocks = 64});
  run();
  assert_int_equal(count_of(SPATE_DOCTOR_CORRECTED_DURING), 1);
  assert_int_equal(doctor.worst, SPATE_DOCTOR_WARNING);
  assert_says("errors: corrected 0x1, uncorrected 0x0, device status 0x1 after the transfer");
  stop();
}

/* Most ports record errors while they train. An error of the same kind during the transfer is seen all the same. */
static void an_error_is_told_apart_from_the_same_one_before(void **state) {
  (void)state;
  memset(&recorded, 0, sizeof recorded);
  recorded.device_status = 1;
  recorded.correctable = RECEIVER_ERROR | BAD_TLP;
  recorded.uncorrectable = COMPLETION_TIMEOUT;
  start(&(struct faults){.after = record_errors, .write_blocks = 64});
  run();
  assert_int_equal(count_of(SPATE_DOCTOR_CORRECTED_BEFORE), 1);
  assert_int_equal(count_of(SPATE_DOCTOR_CORRECTED_DURING), 1);
  for (unsigned i = 0; i < finding_count; i++)
    if (findings[i].code == SPATE_DOCTOR_CORRECTED_DURING) assert_int_equal(findings[i].numbers[0], RECEIVER_ERROR);
  assert_int_equal(count_of(SPATE_DOCTOR_UNCORRECTED_BEFORE), 1);
  assert_int_equal(count_of(SPATE_DOCTOR_UNCORRECTED_DURING), 0);
  assert_int_equal(recorded.device_status | recorded.correctable | recorded.uncorrectable, 0);
  stop();
}

/* The drive counts a second of heavy throttling once it was read from. */
static uint32_t read_while_hot(struct spate_pcie_host *of, struct spate_pcie_address at, uint16_t offset) {
  if (sim_drive_counters(drive)->read_bytes > 4096) sim_drive_smart(drive)[228] = 1;
  return spate_pcie_ecam_read(of, at, offset);
}

static void heat_up(void) {
  static struct spate_pcie_host_ops ops;

  ops = *host.ops;
  ops.config_read = read_while_hot;
  host.ops = &ops;
}

static void heat_is_told_of_one_transfer_only(void **state) {
  (void)state;
  start(&(struct faults){.after = heat_up, .write_blocks = 64});
  run();
  assert_int_equal(count_of(SPATE_DOCTOR_THROTTLED), 1);
  assert_int_equal(count_of(SPATE_DOCTOR_THROTTLED_BEFORE), 0);
  assert_says("C after the transfer");
  stop();
}

static void announce_more(void) { *sim_drive_cap(drive) |= UINT64_C(1) << 36; } /* NSSRS, above DSTRD */

/* Between the first Timestamp and the second. */
static uint64_t leap;

static void leap_once(void) {
  if (sim_drive_counters(drive)->admin[ADMIN_GET_FEATURES] == 1) *sim_drive_timestamp(drive) = leap;
}

/* The Timestamp has 48 bits. Those above say where it is from, and may change at any time. */
static void a_timestamp_has_48_bits(void **state) {
  (void)state;
  static const uint8_t bits[] = {10, 47, 48, 51};

  for (unsigned i = 0; i < sizeof bits; i++) {
    start(&(struct faults){.looks = leap_once});
    leap = UINT64_C(1) << bits[i];
    run();
    assert_int_equal(found(SPATE_DOCTOR_CLOCK_RATE), bits[i] < 48);
    stop();
  }
}

/* Each field of CAP has its own bits. */
static void fields_of_cap_are_apart(void **state) {
  (void)state;
  start(&(struct faults){.before = announce_more});
  run();
  assert_sound();
  stop();
}

static uint64_t half_seconds; /* CAP.TO */

static void be_slow_to_give_up(void) {
  never_ready();
  *sim_drive_cap(drive) = (*sim_drive_cap(drive) & ~UINT64_C(0xff000000)) | half_seconds << 24;
}

/* CAP.TO has 8 bits, beside those of the doorbells' stride. */
static void a_drive_has_the_time_that_it_asks_for(void **state) {
  static const uint8_t asked[] = {1, 0x80, 0xff};

  (void)state;
  for (unsigned i = 0; i < sizeof asked; i++) {
    start(&(struct faults){.before = be_slow_to_give_up, .doorbell_stride = 1});
    half_seconds = asked[i];
    run();
    assert_true(found(SPATE_DOCTOR_CONTROLLER_NOT_READY));
    assert_in_range(sim_now_ps(sim) / SIM_PS_PER_MS, asked[i] * 500u, asked[i] * 500u + 10000u);
    forgive();
    stop();
  }
}

/* A drive that does not stop may write to queue memory: it is not given back. */
static void memory_of_a_drive_that_runs_is_kept(void **state) {
  (void)state;
  start(&(struct faults){.after = never_stops});
  run();
  assert_int_equal(doctor.worst, SPATE_DOCTOR_ERROR);
  assert_true(checkup.may_run);
  assert_true(queue_memory.used_bytes > 0);
  forgive();
  stop();
}

/* Whatever fails at whatever command: it ends, in time, and says that something is wrong. */
static void it_ends_wherever_the_drive_fails(void **state) {
  static const enum sim_action actions[] = {SIM_STATUS, SIM_LOSE,    SIM_STALL,   SIM_FATAL,    SIM_RESET,
                                            SIM_GONE,   SIM_SILENCE, SIM_GARBAGE, SIM_WRONG_ID, SIM_DOUBLE};

  (void)state;
  for (unsigned action = 0; action < sizeof actions / sizeof actions[0]; action++) {
    for (unsigned skip = 0; skip < 24; skip++) {
      for (unsigned admin = 0; admin < 2; admin++) {
        start(&(struct faults){.write_blocks = 64, .small = true});
        sim_drive_fault(drive, (struct sim_fault){.action = actions[action],
                                                  .admin = admin == 0,
                                                  .opcode = -1,
                                                  .skip = skip,
                                                  .count = 1,
                                                  .value = actions[action] == SIM_STATUS ? INTERNAL : 3});
        const uint64_t start_ps = sim_now_ps(sim);
        run();
        assert_in_range(sim_now_ps(sim) - start_ps, 0, 600 * SIM_PS_PER_S);
        if (strstr(said, "end: shutdown") == NULL) assert_says("UNDONE_STEPS");
        forgive();
        stop();
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nothing_is_wrong_with_a_sound_board),
      cmocka_unit_test(it_tells_the_facts_of_each_step),
      cmocka_unit_test(it_writes_only_where_it_is_told_to),
      cmocka_unit_test(what_the_buffer_held_before_does_not_count),
      cmocka_unit_test(a_drive_that_needs_a_pause_gets_it),
      cmocka_unit_test(a_second_checkup_finds_the_same),
      cmocka_unit_test(one_of_several_drives_is_checked),
      cmocka_unit_test(a_drive_of_nvme_1_0_is_compared_with),
      cmocka_unit_test(arguments_are_checked),
      cmocka_unit_test(each_finding_is_provoked),
      cmocka_unit_test(nothing_is_told_of_a_function_that_is_silent),
      cmocka_unit_test(causes_are_told_apart),
      cmocka_unit_test(an_error_is_told_of_one_transfer_only),
      cmocka_unit_test(an_error_is_told_apart_from_the_same_one_before),
      cmocka_unit_test(heat_is_told_of_one_transfer_only),
      cmocka_unit_test(fields_of_cap_are_apart),
      cmocka_unit_test(a_drive_has_the_time_that_it_asks_for),
      cmocka_unit_test(a_timestamp_has_48_bits),
      cmocka_unit_test(memory_of_a_drive_that_runs_is_kept),
      cmocka_unit_test(it_ends_wherever_the_drive_fails),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
