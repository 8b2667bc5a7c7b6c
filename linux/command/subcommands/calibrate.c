/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a drive, and writes a profile of it. */
#include "../calibrate/load.h"
#include "../calibrate/state.h"
#include "../calibrate/steps.h"
#include "../calibrate/writer.h"
#include "../device/interrupt.h"
#include "../target/admin.h"
#include "../text/json.h"
#include "../text/units.h"
#include "command.h"
#include "confirm.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_BYTES (UINT64_C(8) << 30)

enum { YES = 1000, PROFILE, SKIP, AMBIENT };

static const struct option options[] = {{"yes", no_argument, NULL, YES},
                                        {"profile", required_argument, NULL, PROFILE},
                                        {"skip", required_argument, NULL, SKIP},
                                        {"ambient", required_argument, NULL, AMBIENT},
                                        OPTIONS_COMMON};

struct request {
  const char *target;
  char profile[PATH_MAX], state[PATH_MAX];
  bool skip[CALIBRATE_STEPS];
  double ambient_c;
  bool yes;
};

/* ---- the command line ---- */

static void skip(struct request *request, const char *word) {
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++)
    if (strcmp(calibrate_step_name(i), word) == 0) {
      request->skip[i] = true;
      return;
    }
  command_usage(&command_calibrate, "--skip %s: the steps are latency, cache, full and heat", word);
}

static double ambient(const char *word) {
  char *end;
  const double celsius = strtod(word, &end);

  if (end == word || *end != '\0' || !(celsius >= -40 && celsius <= 85))
    command_usage(&command_calibrate, "--ambient \"%s\" is not a temperature in C between -40 and 85", word);
  return celsius;
}

static struct request parse(int count, char **words) {
  struct request request = {.ambient_c = CALIBRATE_NONE};

  for (int got; (got = command_option(&command_calibrate, count, words, options)) != -1;) {
    switch (got) {
    case YES: request.yes = true; break;
    case SKIP: skip(&request, optarg); break;
    case AMBIENT: request.ambient_c = ambient(optarg); break;
    default:
      if (strlen(optarg) >= sizeof request.profile - 16u)
        command_usage(&command_calibrate, "--profile: the name is too long; choose a shorter one");
      (void)snprintf(request.profile, sizeof request.profile, "%s", optarg);
    }
  }
  request.target = *command_words(&command_calibrate, count, words, 1, "calibrate takes one TARGET");
  bool any = false;
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++)
    any = any || !request.skip[i];
  if (!any) command_usage(&command_calibrate, "--skip: nothing is left to measure");
  if (request.skip[CALIBRATE_CACHE] && !request.skip[CALIBRATE_FULL])
    command_usage(&command_calibrate, "--skip cache: the step full needs the results of cache, so --skip full as well");
  return request;
}

/* ---- the drive ---- */

/* Refuses every target but an NVMe drive: a file would measure the page cache and a file system, a stripe several
 * drives. */
static void require_drive(const struct target *target) {
  char why[ADMIN_WHY_BYTES];

  if (target->kind == TARGET_IMAGE)
    fail(EXIT_REFUSED,
         "%s is a file: this would measure the kernel's page cache and a file system, not a drive. Nothing was written",
         target->name);
  if (target->kind == TARGET_STRIPE)
    fail(EXIT_REFUSED, "%s is several drives: a profile describes one. Nothing was written", target->name);
  if (!admin_is_drive(target, why))
    fail(EXIT_REFUSED, "%s: a profile describes an NVMe drive. Nothing was written", why);
  if (!target->block->can_trim)
    fail(EXIT_REFUSED, "%s cannot trim, and only a trimmed drive shows its cache. Nothing was written", target->name);
  if (target->block->blocks << target->block->block_shift < LEAST_BYTES)
    fail(EXIT_REFUSED, "%s is too small to measure a rate: 8 GiB are needed. Nothing was written", target->name);
}

static struct calibrate_drive learn(struct target *target) {
  struct spate_nvme_identity identity;
  struct spate_pcie_link link = {.up = false};
  char why[ADMIN_WHY_BYTES];

  if (!admin_identity(target, &identity, why)) fail(EXIT_FAILED, "%s", why);
  const bool known = admin_link(target, &link);
  const uint32_t atomic_blocks = identity.atomic_blocks > 1 ? identity.atomic_blocks : 0;
  struct calibrate_drive drive = {.capacity_bytes = target->block->blocks << target->block->block_shift,
                                  .transfer_bytes_max = identity.transfer_bytes_max,
                                  .queue_entries = identity.queue_entries_max,
                                  .warning_c = (uint32_t)identity.warning_temperature_c,
                                  .critical_c = (uint32_t)identity.critical_temperature_c,
                                  .volatile_cache = identity.volatile_cache};

  (void)snprintf(drive.model, sizeof drive.model, "%s", identity.model);
  (void)snprintf(drive.serial, sizeof drive.serial, "%s", identity.serial);
  if ((uint64_t)atomic_blocks << target->block->block_shift <= 32768u)
    drive.atomic_bytes = atomic_blocks << target->block->block_shift;
  else
    drive.atomic_bytes = 32768;
  if (!known) return drive;
  drive.generation = link.speed_max;
  drive.lanes = link.width_max;
  drive.generation_now = link.speed;
  drive.lanes_now = link.width;
  return drive;
}

/* "samsung-ssd-990-pro-2tb.profile" */
static void name_profile(struct request *request, const char *model) {
  size_t used = 0;

  for (const char *at = model; *at != '\0'; at++) {
    if (isalnum((unsigned char)*at))
      request->profile[used++] = (char)tolower((unsigned char)*at);
    else if (used > 0 && request->profile[used - 1] != '-')
      request->profile[used++] = '-';
  }
  while (used > 0 && request->profile[used - 1] == '-')
    used--;
  (void)snprintf(request->profile + used, sizeof request->profile - used, used == 0 ? "drive.profile" : ".profile");
}

/* ---- before the first step ---- */

static bool is_to_do(const struct request *request, const struct calibrate_results *results, unsigned step) {
  return !request->skip[step] && !results->done[step];
}

/* False if an earlier run had finished all steps, and ended before it removed its state file. */
static bool is_anything_to_do(const struct request *request, const struct calibrate_results *results) {
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++)
    if (is_to_do(request, results, i)) return true;
  return false;
}

static void say_time(double seconds) {
  if (seconds < 120)
    (void)fprintf(stderr, "%.0f s", seconds);
  else if (seconds < 7200)
    (void)fprintf(stderr, "%.0f minutes", seconds / 60);
  else
    (void)fprintf(stderr, "%.1f hours", seconds / 3600);
}

static void say_estimate(const struct request *request, const struct calibrate_drive *drive,
                         const struct calibrate_results *results) {
  struct calibrate_estimate sum = {0, 0};
  char written[UNITS_TEXT_BYTES];

  for (unsigned i = 0; i < CALIBRATE_STEPS; i++) {
    const struct calibrate_estimate one = calibrate_estimate((enum calibrate_step)i, drive->capacity_bytes);
    if (results->done[i]) (void)fprintf(stderr, "%s: step %s done\n", request->target, calibrate_step_name(i));
    if (!is_to_do(request, results, i)) continue;
    sum.written_bytes += one.written_bytes;
    sum.seconds += one.seconds;
  }
  (void)fprintf(stderr, "%s: calibrating takes about ", request->target);
  say_time(sum.seconds);
  (void)fprintf(stderr, " at 1.5 GB/s, writes about %s (%.1f times the drive), and trims the whole drive\n",
                units_decimal((uint64_t)sum.written_bytes, written), sum.written_bytes / (double)drive->capacity_bytes);
}

/* Never overwrites an existing profile, unless it belongs to the calibration that is resumed. */
static void refuse_other_profile(const struct request *request, bool resumed) {
  if (!resumed && access(request->profile, F_OK) == 0)
    fail(EXIT_REFUSED, "%s already exists: nothing was written. Name another --profile, or remove it",
         request->profile);
}

/* ---- the result ---- */

static void write_profile(const struct request *request, const struct calibrate_profile *profile,
                          const struct calibrate_drive *drive) {
  char heading[256];
  size_t bytes;

  (void)snprintf(
      heading, sizeof heading,
      "# %s, serial %s, measured by spate calibrate. docs/use/calibrate.md says how, and what it cannot see.\n",
      profile->profile.model, drive->serial);
  for (char *at = heading; *at != '\0'; at++)
    if (*at != '\n' && ((unsigned char)*at < 0x20u || (unsigned char)*at > 0x7eu)) *at = '?';
  char *text = calibrate_text(profile, request->profile, heading, &bytes);
  calibrate_replace_file(request->profile, text, bytes);
  free(text);
}

static void print_depths(const struct calibrate_results *results) {
  if (!results->done[CALIBRATE_LATENCY]) return;
  (void)printf("random 4 KiB requests per second by queue depth:\n\n  depth       read      write\n");
  for (unsigned i = 0; i < CALIBRATE_DEPTHS && isfinite(results->read_iops[i]); i++)
    (void)printf("  %5u %10.0f %10.0f\n", calibrate_depths[i], results->read_iops[i], results->write_iops[i]);
  (void)printf("\n");
}

static void print_json(const struct request *request, const struct calibrate_drive *drive,
                       const struct calibrate_results *results) {
  struct json json = {.to = stdout};

  json_open(&json, NULL, '{');
  json_string(&json, "target", request->target);
  json_string(&json, "model", drive->model);
  json_string(&json, "serial", drive->serial);
  json_string(&json, "profile", request->profile);
  json_open(&json, "done", '[');
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++)
    if (results->done[i]) json_string(&json, NULL, calibrate_step_name(i));
  json_close(&json, ']');
  json_open(&json, "measured", '{');
  for (unsigned i = 0; calibrate_field(i) != NULL; i++)
    if (isfinite(calibrate_get(results, calibrate_field(i))))
      json_real(&json, calibrate_field(i)->name, calibrate_get(results, calibrate_field(i)));
  json_close(&json, '}');
  json_close(&json, '}');
}

/* Removes the state file, unless steps were skipped: they can be added later. */
static void remove_or_keep_state(const struct request *request, const struct calibrate_results *results) {
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++)
    if (!results->done[i]) {
      (void)fprintf(stderr, "%s: %s keeps the results; a later run can add the steps that were skipped\n",
                    request->target, request->state);
      return;
    }
  if (unlink(request->state) != 0) fail(EXIT_FAILED, "%s: %s", request->state, strerror(errno));
}

/* ---- the command ---- */

static void run_steps(const struct request *request, struct target *target, const struct calibrate_drive *drive,
                      struct calibrate_results *results) {
  struct load load;

  load_open(&load, target);
  calibrate_state_save(request->state, drive, results);
  for (unsigned i = 0; i < CALIBRATE_STEPS; i++) {
    if (!is_to_do(request, results, i)) continue;
    calibrate_run(&load, (enum calibrate_step)i, drive, results);
    calibrate_state_save(request->state, drive, results);
    (void)fprintf(stderr, "%s: step %s done\n", request->target, calibrate_step_name(i));
  }
  load_begin(&load, "trim", 0);
  load_trim(&load, 0, load.bytes);
  load_flush(&load);
  load_end(&load);
  load_close(&load);
}

static void measure(const struct request *request, struct target *target, const struct calibrate_drive *drive,
                    struct calibrate_results *results) {
  if (!confirm_describe(target)) (void)fprintf(stderr, "%s: no known contents were found on it\n", request->target);
  say_estimate(request, drive, results);
  confirm(request->target, "calibrate", request->yes);
  (void)fprintf(stderr, "%s: %s keeps the results: after an interruption the same command continues\n", request->target,
                request->state);
  interrupt_catch();
  run_steps(request, target, drive, results);
}

static enum exit_status run(int count, char **words) {
  struct request request = parse(count, words);
  struct calibrate_results results;
  struct calibrate_profile profile;
  struct target target;

  target_depth = LOAD_DEPTH_MAX;
  target_open(&target, request.target, TARGET_WRITE, 0);
  require_drive(&target);
  const struct calibrate_drive drive = learn(&target);
  if (request.profile[0] == '\0') name_profile(&request, drive.model);
  (void)snprintf(request.state, sizeof request.state, "%.*s.state", (int)sizeof request.state - 8, request.profile);
  calibrate_results_init(&results);
  refuse_other_profile(&request, calibrate_state_load(request.state, &drive, &results));
  if (is_anything_to_do(&request, &results)) measure(&request, &target, &drive, &results);
  target_close(&target);
  calibrate_compose(&profile, &drive, &results, request.ambient_c);
  write_profile(&request, &profile, &drive);
  remove_or_keep_state(&request, &results);
  if (command_json)
    print_json(&request, &drive, &results);
  else
    print_depths(&results);
  (void)fprintf(stderr, "%s: wrote %s. Next: spate plan --profile %s%s --rate 1GB/s\n", request.target, request.profile,
                strchr(request.profile, '/') == NULL ? "./" : "", request.profile);
  return EXIT_DONE;
}

const struct command command_calibrate = {
    "calibrate", "measure a drive and write a profile of it: everything on it is lost",
    "Usage: spate calibrate TARGET [options]\n"
    "\n"
    "Measures an NVMe drive and writes a profile, for spate plan, the lab and sim: targets. Everything on TARGET is "
    "lost.\n"
    "It first says how long it takes and how much it writes: about twice the drive's capacity. The results of each "
    "step are kept in\n"
    "PROFILE.state: after a signal, a crash or a power cut the same command continues with the next step.\n"
    "\n"
    "The steps: latency, in seconds (flush, FUA, requests by queue depth, read rate); cache, in minutes (the SLC "
    "cache: "
    "its edge,\n"
    "the rates before and after it, pauses, how it refills); full, in hours (the rates of a drive that was written "
    "full); heat, in\n"
    "minutes (warming and cooling). docs/use/calibrate.md explains each.\n"
    "\n"
    "  --profile FILE         the file to write (default: the model's name with .profile, in the current folder)\n"
    "  --skip latency|cache|full|heat  leave out a step, and assume its results; may be given several times. "
    "The\n"
    "                         same command without it adds the step\n"
    "  --ambient C            the temperature of the air (25)\n"
    "  --yes                  do not ask\n" HELP_COMMON "\n"
    "  spate calibrate /dev/nvme0n1\n"
    "  spate calibrate vfio:0000:01:00.0 --bind --profile mine.profile --ambient 22\n"
    "  spate calibrate /dev/nvme0n1 --skip full --skip heat\n"
    "  spate plan --profile ./mine.profile --rate 1.8GB/s\n",
    run};
