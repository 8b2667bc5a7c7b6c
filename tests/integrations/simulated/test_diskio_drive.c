/* SPDX-License-Identifier: Apache-2.0 */
/* FatFs through the disk layer on the virtual drive: how much is in flight, memory without coherency, and failures. */
#include "../diskio_fixture.h"

#include <example.h>
#include <machine/stack.h>
#include <setjmp.h>
#include <spate/port.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define WRITE_OPCODE   1
#define WRITE_FAULT    0x4280u /* a media error, which is not retried */
#define FAULT_MS       (3u << 16)
#define FR(call)       assert_int_equal(call, FR_OK)
#define GIVES(e, call) assert_int_equal(call, e)

static const struct volume_kind exfat = {"exFAT", FM_EXFAT, 512, 64 * KIB, false};
static const struct volume_kind fat32 = {"FAT32", FM_FAT32, 4096, 64 * KIB, false};

struct machine {
  struct fixture fixture;
  struct sim_stack *stack;
  struct sim_drive *drive;
  FIL *file;
};

static struct machine *start_with(struct sim_stack_config config, const struct volume_kind *kind) {
  struct machine *m = calloc(1, sizeof *m);

  if (m == NULL) abort();
  config.profile = "970evoplus";
  config.machine.host = sim_host_a53;
  config.options.bytes = DRIVE_BYTES;
  config.options.block_shift = kind->block_bytes == 512 ? 9 : 12;
  m->stack = sim_stack_new(&config);
  assert_int_equal(sim_stack_open(m->stack), SPATE_OK);
  m->drive = m->stack->drives[0].drive;
  m->fixture.block = m->stack->block;
  m->fixture.region = sim_stack_region(m->stack, REGION_BYTES, SIM_CACHED);
  m->fixture.bounce = sim_memory_take(m->stack->sim, BOUNCE_BYTES, SIM_CACHED);
  FR(fixture_format(&m->fixture, kind));
  m->file = &m->fixture.objects->file;
  return m;
}

static struct machine *start(const struct volume_kind *kind) {
  return start_with((struct sim_stack_config){.machine = {.seed = 5}, .options = {.shuffle = true}}, kind);
}

static void end(struct machine *m) {
  fixture_close(&m->fixture);
  (void)sim_stack_close(m->stack);
  sim_stack_free(m->stack);
  free(m);
}

static FRESULT append_pieces(struct machine *m, FIL *file, unsigned number, unsigned pieces) {
  FRESULT result = FR_OK;

  while (result == FR_OK && pieces-- > 0)
    result = append(&m->fixture, file, number);
  return result;
}

static uint64_t first_free_lba(struct machine *m) {
  const FATFS *volume = &m->fixture.objects->volume;

  return volume->database;
}

/* ---- streaming ---- */

static void streams(const struct volume_kind *kind) {
  struct machine *m = start(kind);
  const struct sim_drive_counters *counters = sim_drive_counters(m->drive);

  FR(f_open(m->file, "CLIP.RAW", FA_WRITE | FA_CREATE_NEW));
  sim_drive_clear_counters(m->drive);
  FR(append_pieces(m, m->file, 1, 128));
  assert_true(counters->in_flight_max >= PIECES - 1); /* the ring limits it */
  assert_int_equal(counters->io[0], 0);               /* no flush before f_close() */
  assert_true(m->fixture.disk.in_flight > 0);
  FR(f_close(m->file));
  assert_int_equal(counters->io[0], 1);
  assert_in_range(counters->io[WRITE_OPCODE], 128, 140); /* the stream, and a few of FatFs's own */
  assert_int_equal(m->fixture.disk.in_flight, 0);
  FR(fixture_remount(&m->fixture));
  assert_null(wrong_file(&m->fixture, "CLIP.RAW", 1, 128 * PIECE_BYTES));
  end(m);
}

static void test_many_commands_are_in_flight(void **state) {
  streams(&exfat);
  streams(&fat32);
  (void)state;
}

static void test_reads_are_in_flight_too(void **state) {
  struct machine *m = start(&exfat);
  UINT got_bytes;

  FR(f_open(m->file, "CLIP.RAW", FA_WRITE | FA_CREATE_NEW));
  FR(append_pieces(m, m->file, 1, PIECES));
  FR(f_close(m->file));
  FR(f_open(m->file, "CLIP.RAW", FA_READ));
  memset(m->fixture.region->start, 0, RING_BYTES);
  sim_drive_clear_counters(m->drive);
  FR(f_read(m->file, m->fixture.region->start, RING_BYTES, &got_bytes));
  assert_int_equal(got_bytes, RING_BYTES);
  assert_true(m->fixture.disk.in_flight > 8);
  assert_int_equal(spate_diskio_wait(&m->fixture.disk, m->fixture.region->start, RING_BYTES), SPATE_OK);
  assert_true(sim_drive_counters(m->drive)->in_flight_max > 8);
  for (uint64_t at = 0; at < RING_BYTES; at++)
    if (m->fixture.region->start[at] != content(1, at)) fail_msg("byte %llu", (unsigned long long)at);
  FR(f_close(m->file));
  end(m);
  (void)state;
}

static void test_on_a_stripe(void **state) {
  const struct sim_stack_config config = {
      .machine = {.seed = 6}, .options = {.shuffle = true}, .drives = 3, .chunk_bytes = 16 * KIB};
  struct machine *m = start_with(config, &fat32);

  FR(f_mkdir("FOLDER"));
  FR(f_open(m->file, "FOLDER/CLIP.RAW", FA_WRITE | FA_CREATE_NEW));
  FR(append_pieces(m, m->file, 1, 64));
  FR(f_close(m->file));
  FR(fixture_remount(&m->fixture));
  assert_null(wrong_file(&m->fixture, "FOLDER/CLIP.RAW", 1, 64 * PIECE_BYTES));
  end(m);
  (void)state;
}

/* ---- the example ---- */

static struct {
  struct machine *machine;
  unsigned filled, released; /* pieces so far */
} source;

/* Fills the next piece as soon as there is room. */
bool source_has_filled(unsigned piece) {
  struct fixture *f = &source.machine->fixture;

  if (source.filled < source.released + PIECES) {
    fill(f->region->start + (size_t)(source.filled % PIECES) * PIECE_BYTES, 3, (uint64_t)source.filled * PIECE_BYTES,
         PIECE_BYTES);
    source.filled++;
  }
  assert_true(source.filled > source.released);
  return (source.filled - 1u) % PIECES == piece;
}

void source_may_fill_again(unsigned piece) {
  assert_int_equal(piece, source.released % PIECES);
  assert_true(source.released < source.filled);
  source.released++;
}

static void test_the_example_records(void **state) {
  struct machine *m = start(&fat32);

  source.machine = m;
  source.filled = source.released = 0;
  FR(example_record(&m->fixture.disk, &m->fixture.range, "CLIP.RAW", 100));
  assert_int_equal(source.released, 100);
  assert_true(m->fixture.disk.counters.in_flight_max > 8);
  FR(fixture_remount(&m->fixture));
  assert_null(wrong_file(&m->fixture, "CLIP.RAW", 3, 100 * PIECE_BYTES));
  source.filled = source.released = 0;
  const uint64_t lba = first_free_lba(m);
  sim_drive_fault(m->drive, (struct sim_fault){.action = SIM_STATUS,
                                               .opcode = WRITE_OPCODE,
                                               .first_lba = lba + 100 * m->fixture.objects->volume.csize,
                                               .last_lba = sim_drive_blocks(m->drive),
                                               .skip = 20,
                                               .count = 1,
                                               .value = FAULT_MS | WRITE_FAULT});
  GIVES(FR_DISK_ERR, example_record(&m->fixture.disk, &m->fixture.range, "NEXT.RAW", 100));
  assert_true(source.released < 100);
  FR(f_unlink("NEXT.RAW"));
  end(m);
  (void)state;
}

/* ---- memory without coherency ---- */

/* Logic fills a range behind the processor's cache, and the stream is at an odd address, so that it is copied. */
static void test_copies_of_logics_memory_are_fresh(void **state) {
  struct machine *m = start(&exfat);
  struct fixture *f = &m->fixture;
  uint8_t *ring = f->region->start, made[8192], got[8192];
  const uint64_t address = sim_memory_address(m->stack->sim, ring);

  assert_int_equal(spate_diskio_unregister(&f->disk, &f->range), SPATE_OK);
  assert_int_equal(spate_diskio_register(&f->disk, &f->range, f->region, 0, RING_BYTES, SPATE_DISKIO_WRITES), SPATE_OK);
  fill(made, 7, 0, sizeof made);
  assert_true(sim_memory_store(m->stack->sim, address, made, sizeof made));
  spate_port_dma_read_barrier();                                 /* the program has seen logic's flag */
  assert_int_equal(disk_write(0, ring + 1, 4000000, 8), RES_OK); /* past the volume */
  assert_int_equal(disk_read(0, got, 4000000, 8), RES_OK);
  assert_memory_equal(got, made + 1, 4096);
  /* And logic sees what was read for it. */
  assert_int_equal(disk_read(0, ring + 4099, 4000000, 4), RES_OK);
  assert_memory_equal(sim_memory_device(m->stack->sim, address + 4099, 2048), made + 1, 2048);
  assert_memory_equal(sim_memory_device(m->stack->sim, address + 4096, 3), made + 4096, 3);
  end(m);
  (void)state;
}

/* A buffer begins in memory of the CPU, and continues through two ranges that logic fills. It is one copy. */
static void test_a_copy_across_ranges_is_fresh(void **state) {
  struct machine *m = start(&exfat);
  struct fixture *f = &m->fixture;
  struct spate_diskio_range next;
  uint8_t *first = f->region->start + 4096 - 512, made[12288], got[12288];
  const uint64_t address = sim_memory_address(m->stack->sim, first);

  assert_int_equal(spate_diskio_unregister(&f->disk, &f->range), SPATE_OK);
  assert_int_equal(spate_diskio_register(&f->disk, &f->range, f->region, 4096, 4160, SPATE_DISKIO_WRITES), SPATE_OK);
  assert_int_equal(spate_diskio_register(&f->disk, &next, f->region, 8256, 8192, 0), SPATE_OK);
  fill(made, 7, 0, sizeof made);
  memcpy(first, made, 512);
  assert_true(sim_memory_store(m->stack->sim, address + 512, made + 512, sizeof made - 512));
  spate_port_dma_read_barrier(); /* the program has seen logic's flag */
  assert_int_equal(disk_write(0, first, 4000000, 24), RES_OK);
  assert_int_equal(disk_read(0, got, 4000000, 24), RES_OK);
  assert_memory_equal(got, made, sizeof made);
  /* And logic sees what was read for it, up to the last byte. */
  fill(made, 8, 0, sizeof made);
  assert_int_equal(disk_write(0, made, 4000000, 24), RES_OK);
  assert_int_equal(disk_read(0, first, 4000000, 24), RES_OK);
  assert_memory_equal(first, made, 512);
  assert_memory_equal(sim_memory_device(m->stack->sim, address + 512, sizeof made - 512), made + 512,
                      sizeof made - 512);
  end(m);
  (void)state;
}

/* ---- failures ---- */

/* The drive reports the error of a data command after f_write() returned. */
static void test_data_that_fail_late(void **state) {
  struct machine *m = start(&exfat);
  const uint64_t lba = first_free_lba(m);

  FR(f_open(m->file, "CLIP.RAW", FA_WRITE | FA_CREATE_NEW));
  FR(append_pieces(m, m->file, 1, 2));
  FR(f_sync(m->file));
  const uint64_t data_lba = lba + (uint64_t)(m->file->obj.sclust - 2) * m->fixture.objects->volume.csize;
  sim_drive_fault(m->drive, (struct sim_fault){.action = SIM_STATUS,
                                               .opcode = WRITE_OPCODE,
                                               .first_lba = data_lba + 256,
                                               .last_lba = data_lba + 256,
                                               .count = 1,
                                               .value = FAULT_MS | WRITE_FAULT});
  FR(append_pieces(m, m->file, 1, 2)); /* the third piece fails, but later */
  assert_true(m->fixture.disk.in_flight > 0);
  GIVES(FR_DISK_ERR, f_close(m->file));
  assert_int_equal(m->fixture.range.failure.lba, data_lba + 256);
  assert_int_equal(m->fixture.range.failure.error, SPATE_E_MEDIA);
  FR(f_close(m->file));
  FR(fixture_remount(&m->fixture));
  FR(f_open(m->file, "CLIP.RAW", FA_READ));
  assert_int_equal(f_size(m->file), 4 * PIECE_BYTES);
  FR(f_close(m->file));
  end(m);
  (void)state;
}

/* A write of FatFs's own fails after FatFs has continued: no file is valid any more, and mounting again is. */
static void test_metadata_that_fail_late(void **state) {
  struct machine *m = start(&fat32);
  FIL *other = &m->fixture.objects->busy;
  FILINFO entry;

  FR(f_open(m->file, "CLIP.RAW", FA_WRITE | FA_CREATE_NEW));
  FR(append_pieces(m, m->file, 1, 2));
  FR(f_sync(m->file));
  const uint64_t fat_lba = m->fixture.objects->volume.fatbase;
  sim_drive_fault(m->drive, (struct sim_fault){.action = SIM_STATUS,
                                               .opcode = WRITE_OPCODE,
                                               .first_lba = fat_lba,
                                               .last_lba = fat_lba,
                                               .count = 1,
                                               .value = FAULT_MS | WRITE_FAULT});
  FR(append_pieces(m, m->file, 1, 2));
  (void)f_stat("CLIP.RAW", &entry); /* writes the table, which fails later */
  assert_int_not_equal(f_close(m->file), FR_OK);
  assert_int_not_equal(f_close(m->file), FR_OK);
  assert_int_equal(m->fixture.disk.failure.lba, fat_lba);
  FR(f_open(other, "NEXT.RAW", FA_WRITE | FA_CREATE_NEW)); /* FatFs mounts again */
  GIVES(FR_INVALID_OBJECT, f_close(m->file));
  FR(append_pieces(m, other, 2, 3));
  FR(f_close(other));
  FR(fixture_remount(&m->fixture));
  FR(f_open(m->file, "CLIP.RAW", FA_READ)); /* at least what f_sync() covered. What came later is as after a cut */
  UINT got_bytes = 0;
  FR(f_read(m->file, m->fixture.region->start, 2 * PIECE_BYTES, &got_bytes));
  assert_int_equal(spate_diskio_wait_all(&m->fixture.disk), SPATE_E_MEDIA); /* the first failure stays readable */
  for (unsigned at = 0; at < 2 * PIECE_BYTES; at++)
    if (m->fixture.region->start[at] != content(1, at)) fail_msg("byte %u", at);
  FR(f_close(m->file));
  assert_null(wrong_file(&m->fixture, "NEXT.RAW", 2, 3 * PIECE_BYTES));
  end(m);
  (void)state;
}

static void during_a_stream(struct machine *m, enum sim_action action, uint32_t value) {
  FR(f_open(m->file, "CLIP.RAW", FA_WRITE | FA_CREATE_NEW));
  FR(f_sync(m->file));
  sim_drive_fault(m->drive,
                  (struct sim_fault){.action = action, .opcode = WRITE_OPCODE, .skip = 10, .count = 1, .value = value});
}

static void test_a_link_drop_costs_only_time(void **state) {
  struct machine *m = start(&fat32);

  during_a_stream(m, SIM_LINK_DROP, 50);
  FR(append_pieces(m, m->file, 1, 40));
  FR(f_close(m->file));
  FR(fixture_remount(&m->fixture));
  assert_null(wrong_file(&m->fixture, "CLIP.RAW", 1, 40 * PIECE_BYTES));
  assert_int_equal(m->stack->drives[0].nvme.counters.reattachments, 1);
  end(m);
  (void)state;
}

/* A drive whose power fails forgets what it had in its cache. FatFs's caller is told at the next f_sync(). */
static void test_a_power_cut_is_reported(void **state) {
  struct machine *m = start(&exfat);
  FRESULT result;

  during_a_stream(m, SIM_POWER_CUT, 0);
  result = append_pieces(m, m->file, 1, 40);
  if (result == FR_OK) result = f_sync(m->file);
  assert_int_not_equal(result, FR_OK);
  assert_int_equal(m->fixture.disk.failure.error, SPATE_E_POWER_LOST);
  GIVES(FR_INVALID_OBJECT, f_close(m->file));
  FR(fixture_remount(&m->fixture));
  end(m);
  (void)state;
}

static void test_a_drive_that_is_gone_ends_every_call(void **state) {
  struct machine *m = start(&exfat);
  FRESULT result;

  during_a_stream(m, SIM_GONE, 0);
  do
    result = append(&m->fixture, m->file, 1);
  while (result == FR_OK);
  assert_int_not_equal(f_close(m->file), FR_OK);
  assert_int_not_equal(fixture_remount(&m->fixture), FR_OK);
  assert_int_equal(m->fixture.disk.in_flight, 0);
  assert_int_equal(spate_diskio_wait_all(&m->fixture.disk), SPATE_E_GONE);
  end(m);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_commands_are_in_flight),
      cmocka_unit_test(test_reads_are_in_flight_too),
      cmocka_unit_test(test_on_a_stripe),
      cmocka_unit_test(test_the_example_records),
      cmocka_unit_test(test_copies_of_logics_memory_are_fresh),
      cmocka_unit_test(test_a_copy_across_ranges_is_fresh),
      cmocka_unit_test(test_data_that_fail_late),
      cmocka_unit_test(test_metadata_that_fail_late),
      cmocka_unit_test(test_a_link_drop_costs_only_time),
      cmocka_unit_test(test_a_power_cut_is_reported),
      cmocka_unit_test(test_a_drive_that_is_gone_ends_every_call),
  };
  return cmocka_run_group_tests_name("diskio_drive", tests, NULL, NULL);
}
