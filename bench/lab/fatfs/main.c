/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spate-lab-fatfs record --option value ... makes the same recording as `spate-lab files`, on the same virtual drives
 * and through the same driver, but with FatFs. spate-lab-diskio, whose experiment is called diskio, is the same program
 * with the other disk layer: disk.h. FatFs's own instructions cost nothing here, so its rates are upper bounds.
 */
#include "disk.h"
#include <check.h>
#include <experiments.h>

#include <ff.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORK_BYTES (1u << 20)

struct recording {
  const struct lab_options *options;
  struct lab_machine machine;
  FATFS volume;
  FIL file;
  unsigned part;
  uint64_t file_bytes;    /* in the current file */
  uint64_t written_bytes; /* handed to f_write() */
  uint64_t covered_bytes; /* by the last f_sync() or f_close() that returned */
  uint64_t cut_bytes_max, ring_bytes_max;
  uint64_t synced_ps, sync_ps_max;
  uint64_t change_ps, change_ps_max; /* closing a file and creating the next one: in total, and the longest */
  uint32_t syncs;
  struct lab_series series;
  uint64_t sampled_ps, sampled_bytes, sample_bytes;
};

static void expect(FRESULT result, const char *what) {
  if (result != FR_OK) lab_fail("FatFs: %s: answer %d", what, (int)result);
}

/* What the source has made so far: whole pieces. */
static uint64_t made_bytes(const struct recording *recording) {
  const struct lab_options *options = recording->options;

  if (options->rate <= 0) return recording->written_bytes;
  double pieces =
      floor((double)lab_machine_elapsed_ps(&recording->machine) * 1e-12 * options->rate / (double)options->block_bytes);
  uint64_t bytes = (uint64_t)pieces * options->block_bytes;
  return bytes < options->bytes ? bytes : options->bytes;
}

static void watch(struct recording *recording) {
  uint64_t made = made_bytes(recording);
  uint64_t now_ps = lab_machine_elapsed_ps(&recording->machine);
  uint64_t done = disk_completed_bytes();

  if (made - recording->covered_bytes > recording->cut_bytes_max)
    recording->cut_bytes_max = made - recording->covered_bytes;
  if (made > done && made - done > recording->ring_bytes_max) recording->ring_bytes_max = made - done;
  if (done - recording->sampled_bytes < recording->sample_bytes || now_ps == recording->sampled_ps) return;
  double passed_s = (double)(now_ps - recording->sampled_ps) / (double)SIM_PS_PER_S;
  lab_series_add(&recording->series, (double[]){(double)now_ps / (double)SIM_PS_PER_S, (double)done,
                                                (double)(done - recording->sampled_bytes) / passed_s});
  recording->sampled_ps = now_ps;
  recording->sampled_bytes = done;
}

static void open_next(struct recording *recording) {
  char path[32];

  recording->part++;
  if (recording->part == 1)
    (void)snprintf(path, sizeof path, "%s", LAB_FILE);
  else
    (void)snprintf(path, sizeof path, "CLIP_%04u.RAW", recording->part % 10000u);
  expect(f_open(&recording->file, path, FA_WRITE | FA_CREATE_NEW), "creating a file");
  if (recording->options->expand) expect(f_expand(&recording->file, recording->options->file_bytes, 1), "f_expand");
  recording->file_bytes = 0;
}

/* The directory now covers everything written. */
static void covered(struct recording *recording) {
  watch(recording);
  recording->covered_bytes = recording->written_bytes;
}

static void close_file(struct recording *recording) {
  expect(f_close(&recording->file), "closing a file");
  covered(recording);
}

static void change_file(struct recording *recording) {
  const uint64_t begin_ps = sim_now_ps(recording->machine.sim);

  close_file(recording);
  open_next(recording);
  const uint64_t took_ps = sim_now_ps(recording->machine.sim) - begin_ps;
  recording->change_ps += took_ps;
  if (took_ps > recording->change_ps_max) recording->change_ps_max = took_ps;
}

static void sync_if_due(struct recording *recording) {
  uint64_t now_ps = sim_now_ps(recording->machine.sim);

  if (recording->options->sync_ms == 0 || now_ps - recording->synced_ps < recording->options->sync_ms * SIM_PS_PER_MS)
    return;
  expect(f_sync(&recording->file), "f_sync");
  covered(recording);
  recording->syncs++;
  recording->synced_ps = now_ps; /* the period counts from start to start, as for the library's checkpoints */
  uint64_t took_ps = sim_now_ps(recording->machine.sim) - now_ps;
  if (took_ps > recording->sync_ps_max) recording->sync_ps_max = took_ps;
}

static void clock_stop(void *context, uint64_t number) {
  (void)context;
  (void)number;
}

/* The source makes pieces at its rate: waits until this one exists. */
static void wait_for_source(struct recording *recording) {
  const struct lab_options *options = recording->options;

  if (options->rate <= 0) return;
  double ready_s = (double)(recording->written_bytes + options->block_bytes) / options->rate;
  uint64_t ready_ps = recording->machine.start_ps + (uint64_t)(ready_s * (double)SIM_PS_PER_S) + 1;
  if (ready_ps > sim_now_ps(recording->machine.sim)) sim_at(recording->machine.sim, ready_ps, clock_stop, NULL, 0);
  while (sim_now_ps(recording->machine.sim) < ready_ps)
    disk_work(LAB_IDLE_PS);
}

static void write_piece(struct recording *recording) {
  const struct lab_options *options = recording->options;
  uint64_t offset = recording->written_bytes % recording->machine.ring->bytes;
  UINT put = 0;

  wait_for_source(recording);
  disk_wait_piece(offset);
  lab_ring_stamp(&recording->machine, offset, recording->written_bytes, options->block_bytes);
  expect(f_write(&recording->file, recording->machine.ring->start + offset, (UINT)options->block_bytes, &put),
         "f_write");
  if (put != options->block_bytes) lab_fail("FatFs: the volume is full");
  recording->file_bytes += put;
  recording->written_bytes += put;
  watch(recording);
}

static void record(struct recording *recording) {
  const struct lab_options *options = recording->options;

  recording->synced_ps = sim_now_ps(recording->machine.sim);
  open_next(recording);
  while (recording->written_bytes < options->bytes) {
    if (recording->file_bytes >= options->file_bytes) change_file(recording);
    write_piece(recording);
    sync_if_due(recording);
  }
}

static void make_volume(struct recording *recording) {
  bool exfat = strcmp(recording->options->format, "exfat") == 0;
  static BYTE work[WORK_BYTES];
  const MKFS_PARM options = {.fmt = (BYTE)((exfat ? FM_EXFAT : FM_FAT32) | FM_SFD),
                             .au_size = (DWORD)recording->options->cluster_bytes};

  if (!exfat && strcmp(recording->options->format, "fat32") != 0) lab_fail("--format: fat32 or exfat");
  expect(f_mkfs("", &options, work, WORK_BYTES), "f_mkfs");
  expect(f_mount(&recording->volume, "", 1), "f_mount");
}

/* The library reads the volume that FatFs wrote. */
static void walk(struct recording *recording, struct json *json) {
  struct spate_exfat_config config = sim_stack_exfat(recording->machine.stack);
  static struct spate_exfat volume;

  config.block = &recording->machine.tap.block;
  lab_expect(spate_exfat_mount(&volume, &config, NULL), "mounting FatFs's volume");
  lab_check_walk(&recording->machine, &volume, recording->written_bytes, json);
  lab_expect(spate_exfat_unmount(&volume), "unmounting FatFs's volume");
}

static void write_result(const struct recording *recording, uint64_t stream_ps, uint64_t closed_ps, struct json *json) {
  const struct lab_tap_counters *tap = &recording->machine.tap.counters;

  lab_machine_write(&recording->machine, json);
  json_open(json, "result", '{');
  lab_machine_write_work(&recording->machine, recording->written_bytes, stream_ps, json);
  json_real(json, "seconds_closed", (double)closed_ps / (double)SIM_PS_PER_S);
  json_integer(json, "files", recording->part);
  json_real(json, "gap_ms_max", (double)tap->gap_ps_max / (double)SIM_PS_PER_MS);
  json_real(json, "change_ms_mean",
            recording->part > 1 ? (double)recording->change_ps / (double)SIM_PS_PER_MS / (recording->part - 1) : 0);
  json_real(json, "change_ms_max", (double)recording->change_ps_max / (double)SIM_PS_PER_MS);
  json_integer(json, "cut_bytes_max", recording->cut_bytes_max);
  json_integer(json, "checkpoints", recording->syncs);
  json_real(json, "checkpoint_ms_max", (double)recording->sync_ps_max / (double)SIM_PS_PER_MS);
  json_integer(json, "ring_bytes_max", recording->ring_bytes_max);
  json_integer(json, "data_requests", tap->data_requests);
  json_integer(json, "metadata_reads", tap->metadata_reads);
  json_integer(json, "metadata_writes", tap->metadata_writes);
  json_integer(json, "flushes", tap->flushes);
  json_close(json, '}');
  lab_series_write(&recording->series, "series", json);
}

int main(int count, char **words) {
  static const char *const columns[] = {"t_s", "at_bytes", "bytes_per_s", NULL};
  static struct recording recording;
  static struct lab_options options;
  struct json json = {.to = stdout};

  lab_options_parse(&options, count, words);
  if (strcmp(options.experiment, disk_experiment) != 0) lab_fail("there is one experiment: %s", disk_experiment);
  recording.options = &options;
  lab_machine_open(&recording.machine, &options, options.ring_bytes);
  lab_series_init(&recording.series, columns);
  recording.sample_bytes = options.bytes / options.samples;
  disk_attach(&recording.machine);
  make_volume(&recording);
  lab_machine_start(&recording.machine);
  record(&recording);
  disk_drain();
  uint64_t stream_ps = lab_machine_elapsed_ps(&recording.machine);
  close_file(&recording);
  uint64_t closed_ps = lab_machine_elapsed_ps(&recording.machine);
  json_open(&json, NULL, '{');
  json_string(&json, "experiment", options.experiment);
  lab_options_write(&options, &json);
  write_result(&recording, stream_ps, closed_ps, &json);
  expect(f_unmount(""), "f_unmount");
  if (options.verify) walk(&recording, &json);
  json_close(&json, '}');
  disk_detach();
  lab_machine_close(&recording.machine);
  lab_series_free(&recording.series);
  return 0;
}
