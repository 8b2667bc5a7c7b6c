/* SPDX-License-Identifier: Apache-2.0 */
/* Records a stream with the library into exFAT files: format, mount, record with roll-over or as a loop, close. If
 * requested, it then reads the files back through the player, and checks every page of every file in the drives'
 * contents. */
#include "check.h"
#include "experiments.h"
#include "round.h"
#include "source.h"

#include <math.h>
#include <spate/port.h>
#include <stdlib.h>
#include <string.h>

#define HEALTH_PS SIM_PS_PER_S

struct files {
  const struct lab_options *options;
  struct lab_machine machine;
  struct spate_exfat volume;
  struct spate_recorder recorder;
  struct spate_stream stream;
  struct lab_source source;
  struct lab_round round; /* with --keep */
  struct spate_piece *pieces;
  struct lab_series series, events;
  uint64_t file_count;
  /* the most that a power cut could take: pushed bytes that the length in the directory does not cover */
  uint64_t closed_bytes, covered_bytes, cut_bytes_max;
  /* samples */
  uint64_t sampled_ps, sample_ps, sampled_out_bytes, sampled_in_bytes, sample_bytes;
  uint32_t held_max;
  /* health */
  uint64_t health_ps;
  uint32_t health_seen[SIM_DRIVES_MAX];
};

static double seconds(uint64_t ps) { return (double)ps / (double)SIM_PS_PER_S; }

static void event(void *context, struct spate_stream *stream, enum spate_event event, uint64_t value) {
  struct files *files = context;

  (void)stream;
  if (event == SPATE_EVENT_CLIP_CLOSED && value > 0) { /* an armed clip that was not used leaves no file */
    files->file_count++;
    files->closed_bytes += value;
  }
  if (event == SPATE_EVENT_ERROR || event == SPATE_EVENT_LOST) lab_fail("the recorder reported an error or lost data");
  lab_series_add(&files->events, (double[]){seconds(lab_machine_elapsed_ps(&files->machine)), event, (double)value});
}

/* ---- observation ---- */

/* Bytes covered by the lengths in the directory: of closed files, and of those that are armed, streaming or closing. */
static uint64_t published_bytes(const struct files *files) {
  return files->closed_bytes + spate_stream_published_bytes(&files->stream);
}

static void watch_cut(struct files *files) {
  uint64_t pushed_bytes = files->stream.counters.pushed_bytes;
  uint64_t covered_bytes = published_bytes(files);

  /* The exposure is largest just before a length is published. */
  if (pushed_bytes - files->covered_bytes > files->cut_bytes_max)
    files->cut_bytes_max = pushed_bytes - files->covered_bytes;
  if (covered_bytes > files->covered_bytes) files->covered_bytes = covered_bytes;
}

/* Every second, reads each drive's temperature, and passes the highest on to the recorder. */
static void watch_health(struct files *files) {
  uint64_t now_ps = sim_now_ps(files->machine.sim);
  bool ask = now_ps - files->health_ps >= HEALTH_PS, news = false;
  const struct spate_nvme *hottest = NULL;

  if (ask) files->health_ps = now_ps;
  for (unsigned i = 0; i < files->options->drives; i++) {
    struct spate_nvme *nvme = &files->machine.stack->drives[i].nvme;
    const struct spate_nvme_health *health = spate_nvme_health(nvme);
    if (ask) lab_expect(spate_nvme_health_start(nvme), "requesting the health log");
    if (hottest == NULL || health->temperature_c > spate_nvme_health(hottest)->temperature_c) hottest = nvme;
    news = news || health->sequence != files->health_seen[i];
    files->health_seen[i] = health->sequence;
  }
  if (!news) return;
  spate_recorder_temperature(&files->recorder, spate_nvme_health(hottest)->temperature_c,
                             spate_nvme_identity(hottest)->warning_temperature_c,
                             spate_nvme_identity(hottest)->critical_temperature_c);
}

static void sample(struct files *files) {
  const struct spate_stream_counters *counters = &files->stream.counters;
  uint64_t now_ps = lab_machine_elapsed_ps(&files->machine);
  uint32_t held = (uint32_t)(counters->pushed_pieces - spate_stream_released(&files->stream));
  bool due = files->sample_ps > 0 ? now_ps - files->sampled_ps >= files->sample_ps
                                  : counters->completed_bytes - files->sampled_out_bytes >= files->sample_bytes;

  if (held > files->held_max) files->held_max = held;
  if (!due || now_ps == files->sampled_ps) return;
  double passed_s = seconds(now_ps - files->sampled_ps);
  const uint32_t left_ms = files->stream.pressure.left_ms;
  lab_series_add(&files->series,
                 (double[]){seconds(now_ps), (double)counters->completed_bytes,
                            (double)(counters->completed_bytes - files->sampled_out_bytes) / passed_s,
                            (double)(counters->pushed_bytes - files->sampled_in_bytes) / passed_s,
                            (double)files->held_max * (double)files->options->block_bytes, files->stream.pressure.level,
                            left_ms == SPATE_NEVER_MS ? (double)INFINITY : (double)left_ms, files->recorder.heat.level,
                            lab_machine_celsius(&files->machine), lab_machine_medium(&files->machine),
                            files->source.rate, (double)counters->overrun_bytes});
  files->held_max = 0;
  files->sampled_ps = now_ps;
  files->sampled_out_bytes = counters->completed_bytes;
  files->sampled_in_bytes = counters->pushed_bytes;
}

static void watch(struct files *files) {
  enum spate_level level = files->stream.pressure.level;

  if (files->recorder.heat.level > level) level = files->recorder.heat.level;
  watch_cut(files);
  watch_health(files);
  sample(files);
  lab_source_listen(&files->source, level);
}

/* ---- recording ---- */

static void while_waiting(void *context) {
  struct files *files = context;

  if (files->source.stream != NULL) lab_source_push(&files->source); /* the source starts when the stream is armed */
  watch_cut(files);
}

static void make_volume(struct files *files) {
  struct spate_exfat_config config = sim_stack_exfat(files->machine.stack);
  struct spate_exfat_format format = {
      .label = "LAB", .serial = 1, .cluster_bytes = (uint32_t)files->options->cluster_bytes};

  config.block = &files->machine.tap.block;
  lab_expect(spate_exfat_format(&config, &format), "formatting the volume");
  lab_expect(spate_exfat_mount(&files->volume, &config, NULL), "mounting the volume");
}

/* How many bytes to record: what was requested, or as many whole files as fit, if that is less. */
static uint64_t fit(struct files *files) {
  uint64_t free_bytes = 0;

  if (files->options->keep_bytes > 0) return files->options->bytes; /* the loop makes room */
  lab_expect(spate_exfat_longest_free(&files->volume, 1, &free_bytes), "looking for free space");
  uint64_t most_bytes = free_bytes / files->options->file_bytes * files->options->file_bytes;
  if (most_bytes == 0) lab_fail("--file: larger than the volume");
  return files->options->bytes < most_bytes ? files->options->bytes : most_bytes;
}

static void open_recorder(struct files *files) {
  const struct lab_options *options = files->options;
  struct spate_recorder_config recorder = {.checkpoint_ms = (uint32_t)options->checkpoint_ms,
                                           .depth = (uint16_t)options->depth,
                                           .event = event,
                                           .while_waiting = while_waiting,
                                           .context = files};
  uint32_t count = (uint32_t)(files->machine.ring->bytes / options->block_bytes);

  files->pieces = calloc(count, sizeof *files->pieces);
  if (files->pieces == NULL) lab_fail("no memory for the ring's pieces");
  struct spate_stream_config stream = {.region = files->machine.ring, .pieces = files->pieces, .piece_count = count};
  lab_expect(spate_recorder_open(&files->recorder, &files->volume, &recorder), "opening the recorder");
  lab_expect(spate_stream_open(&files->recorder, &files->stream, &stream), "opening the stream (is --ring a power of "
                                                                           "two of blocks?)");
  if (options->keep_bytes > 0) {
    lab_round_open(&files->round, &files->machine, &files->stream);
    return;
  }
  spate_stream_roll_over(&files->stream, options->file_bytes, NULL);
  lab_expect(spate_stream_arm(&files->stream, LAB_FILE, options->file_bytes), "arming");
}

static uint64_t data_progress(const struct files *files) {
  const struct spate_stream_counters *counters = &files->stream.counters;

  return counters->pushed_pieces + counters->data_requests + spate_stream_released(&files->stream);
}

static void spend(struct files *files, uint64_t ps) {
  if (ps > 0) sim_work(files->machine.sim, ps);
}

static void push(struct files *files) {
  const uint64_t pushed_pieces = files->stream.counters.pushed_pieces;

  lab_source_push(&files->source);
  spend(files, (files->stream.counters.pushed_pieces - pushed_pieces) * files->options->push_ps);
}

/* The processor's time above the driver. The driver's own is spent at its doorbells. A turn that finds nothing is not
 * work: the processor could do something else. */
static void work(struct files *files) {
  const struct lab_options *options = files->options;
  const struct spate_stream_counters *counters = &files->stream.counters;
  const uint64_t progress = data_progress(files);
  const uint64_t data_requests = counters->data_requests, checkpoints = counters->checkpoints;

  lab_expect(spate_recorder_work(&files->recorder), "recording");
  if (options->keep_bytes > 0) lab_expect(spate_loop_work(&files->round.loop), "going round");
  if (data_progress(files) == progress && counters->checkpoints == checkpoints) return;
  spend(files, options->turn_ps + (counters->data_requests - data_requests) * options->piece_ps +
                   (counters->checkpoints - checkpoints) * options->checkpoint_ps);
}

static void record(struct files *files) {
  struct spate_stream_counters *counters = &files->stream.counters;

  while (!lab_source_ended(&files->source) || counters->completed_bytes < counters->pushed_bytes) {
    const uint64_t before = data_progress(files);
    push(files);
    work(files);
    watch(files);
    if (data_progress(files) == before) sim_idle(files->machine.sim, LAB_IDLE_PS);
  }
}

static void write_recorded(const struct files *files, uint64_t stream_ps, struct json *json) {
  const struct spate_stream_counters *counters = &files->stream.counters;
  const struct lab_tap_counters *tap = &files->machine.tap.counters;

  lab_machine_write_work(&files->machine, counters->completed_bytes, stream_ps, json);
  json_real(json, "seconds_closed", seconds(lab_machine_elapsed_ps(&files->machine)));
  json_integer(json, "files", files->file_count);
  json_integer(json, "overrun_bytes", counters->overrun_bytes);
  json_integer(json, "lost_bytes", counters->lost_bytes);
  json_real(json, "gap_ms_max", (double)tap->gap_ps_max / (double)SIM_PS_PER_MS);
  json_integer(json, "cut_bytes_max", files->cut_bytes_max);
  json_integer(json, "checkpoints", counters->checkpoints);
  json_real(json, "checkpoint_ms_max",
            (double)files->recorder.counters.checkpoint_ticks_max * 1e3 / (double)spate_port_ticks_per_second());
  json_integer(json, "ring_bytes_max", (uint64_t)counters->pieces_high_water * files->options->block_bytes);
  json_integer(json, "slowed_down", files->source.slowed);
  json_integer(json, "data_requests", tap->data_requests);
  json_integer(json, "metadata_reads", tap->metadata_reads);
  json_integer(json, "metadata_writes", tap->metadata_writes);
  json_integer(json, "flushes", tap->flushes);
  if (files->options->keep_bytes > 0) lab_round_write(&files->round, json);
}

static void begin(struct files *files, const struct lab_options *options) {
  static const char *const curve[] = {"t_s",         "at_bytes",      "bytes_per_s", "in_bytes_per_s", "ring_bytes",
                                      "level",       "left_ms",       "heat_level",  "celsius",        "medium",
                                      "source_rate", "overrun_bytes", NULL};
  static const char *const events[] = {"t_s", "event", "value", NULL};

  files->options = options;
  lab_machine_open(&files->machine, options, options->ring_bytes);
  lab_series_init(&files->series, curve);
  lab_series_init(&files->events, events);
  make_volume(files);
  const uint64_t bytes = fit(files);
  files->sample_bytes = bytes / options->samples;
  if (options->rate > 0) files->sample_ps = (uint64_t)((double)bytes / options->rate / (double)options->samples * 1e12);
  open_recorder(files); /* arming waits, so the source starts afterwards */
  lab_source_init(&files->source, &files->machine, &files->stream, options->keep_bytes > 0 ? &files->round.loop : NULL,
                  bytes);
}

static void check_contents(struct files *files, struct json *json) {
  const struct lab_options *options = files->options;
  const uint64_t bytes = files->stream.counters.completed_bytes;

  if (options->read_back) lab_check_read(&files->machine, &files->volume, bytes, json);
  if (!options->verify) return;
  if (options->keep_bytes > 0)
    lab_check_round(&files->machine, &files->round.loop, bytes, json);
  else
    lab_check_walk(&files->machine, &files->volume, bytes, json);
}

void lab_files(const struct lab_options *options, struct json *json) {
  struct files *files = calloc(1, sizeof *files);

  if (files == NULL) lab_fail("no memory");
  begin(files, options);
  lab_machine_start(&files->machine);
  files->health_ps = sim_now_ps(files->machine.sim);
  record(files);
  uint64_t stream_ps = lab_machine_elapsed_ps(&files->machine);
  lab_expect(spate_recorder_finish(&files->recorder), "closing the last file");
  if (options->keep_bytes > 0) lab_expect(spate_loop_close(&files->round.loop), "closing the loop");

  lab_machine_write(&files->machine, json);
  json_open(json, "result", '{');
  write_recorded(files, stream_ps, json);
  json_close(json, '}');
  lab_series_write(&files->series, "series", json);
  lab_series_write(&files->events, "events", json);
  lab_expect(spate_recorder_close(&files->recorder), "closing the recorder");
  check_contents(files, json);
  lab_expect(spate_exfat_unmount(&files->volume), "unmounting");
  lab_machine_close(&files->machine);
  lab_series_free(&files->series);
  lab_series_free(&files->events);
  free(files->pieces);
  lab_round_free(&files->round);
  free(files);
}
