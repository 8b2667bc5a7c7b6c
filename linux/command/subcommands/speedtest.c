/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast a target is, by the size of requests. */
#include "../speed/speed.h"
#include "../text/json.h"
#include "../text/units.h"
#include "../volume.h"
#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SIZES_MAX    16u
#define DEPTH        32u
#define SECONDS      2.0
#define RANDOM_BELOW (UINT32_C(64) << 10)
#define FILE_PATH    "spate-speedtest.tmp"
#define FILE_BYTES   (UINT64_C(1) << 30)
#define TEXT_BYTES   16u

enum { WRITE = 1000, BLOCK, QUEUE_DEPTH, FOR, SIZE, RANDOM, SEQUENTIAL };

static const struct option options[] = {{"write", no_argument, NULL, WRITE},
                                        {"block", required_argument, NULL, BLOCK},
                                        {"depth", required_argument, NULL, QUEUE_DEPTH},
                                        {"for", required_argument, NULL, FOR},
                                        {"size", required_argument, NULL, SIZE},
                                        {"random", no_argument, NULL, RANDOM},
                                        {"sequential", no_argument, NULL, SEQUENTIAL},
                                        OPTIONS_COMMON};

enum order { BY_SIZE, ALL_RANDOM, ALL_SEQUENTIAL };

struct request {
  const char *target;
  bool write;
  uint32_t io_bytes[SIZES_MAX];
  unsigned sizes;
  uint32_t depth;
  double seconds;
  uint64_t bytes; /* of each row; 0: `seconds` is the limit */
  enum order order;
};

static struct request parse(int count, char **words) {
  static const uint32_t usual[] = {4096, 128 << 10, 1 << 20};
  struct request request = {.depth = DEPTH, .seconds = SECONDS};

  for (int got; (got = command_option(&command_speedtest, count, words, options)) != -1;) {
    switch (got) {
    case WRITE: request.write = true; break;
    case BLOCK:
      if (request.sizes == SIZES_MAX) command_usage(&command_speedtest, "at most %u sizes", SIZES_MAX);
      request.io_bytes[request.sizes] =
          (uint32_t)command_bytes(&command_speedtest, "--block", optarg, 512, TARGET_REQUEST_BYTES);
      if (request.io_bytes[request.sizes++] % 512 != 0)
        command_usage(&command_speedtest, "--block %s is not a multiple of 512 bytes", optarg);
      break;
    case QUEUE_DEPTH:
      request.depth = (uint32_t)command_bytes(&command_speedtest, "--depth", optarg, 1, SPEED_DEPTH_MAX);
      break;
    case FOR:
      if (!units_seconds(optarg, &request.seconds) || request.seconds <= 0 || request.seconds > 1e6)
        command_usage(&command_speedtest, "--for \"%s\" is not a time; examples are 10s, 500ms and 2h", optarg);
      break;
    case SIZE: request.bytes = command_bytes(&command_speedtest, "--size", optarg, 512, UINT64_C(1) << 56); break;
    default: request.order = got == RANDOM ? ALL_RANDOM : ALL_SEQUENTIAL;
    }
  }
  request.target = *command_words(&command_speedtest, count, words, 1, "speedtest takes one TARGET");
  if (request.sizes == 0) {
    memcpy(request.io_bytes, usual, sizeof usual);
    request.sizes = sizeof usual / sizeof usual[0];
  }
  if (request.bytes > 0) request.seconds = 0;
  return request;
}

/* ---- the blocks to read or write ---- */

struct place {
  uint64_t first_lba, blocks;
};

/* EXIT_DONE, or the reason why requests of these sizes are impossible in `blocks` blocks. */
static enum exit_status check_sizes(const struct request *request, const struct target *target, uint64_t blocks,
                                    char *why, size_t why_bytes) {
  const struct spate_block *block = target->block;

  for (unsigned i = 0; i < request->sizes; i++) {
    const uint32_t io_bytes = request->io_bytes[i];
    if (io_bytes % spate_block_bytes(block) != 0)
      (void)snprintf(why, why_bytes, "%s has logical blocks of %u bytes, and --block %u is not a multiple of them",
                     target->name, spate_block_bytes(block), io_bytes);
    else if (io_bytes >> block->block_shift > block->request_blocks_max || io_bytes >> block->block_shift > blocks)
      (void)snprintf(why, why_bytes, "%s takes no requests of %u bytes", target->name, io_bytes);
    else
      continue;
    return EXIT_USAGE;
  }
  return EXIT_DONE;
}

/* An empty file of this name was left by a run that was killed. Any other belongs to the user, and is kept. */
static enum exit_status check_path(struct volume *volume, char *why, size_t why_bytes) {
  struct spate_exfat_entry entry;
  const enum spate_error error = spate_exfat_stat(&volume->exfat, FILE_PATH, &entry);

  if (error == SPATE_E_NOT_FOUND) return EXIT_DONE;
  expect(error, FILE_PATH);
  if (!entry.directory && entry.bytes == 0) return EXIT_DONE;
  (void)snprintf(why, why_bytes, "%s already holds %s, and nothing was written: rename or remove it",
                 volume->target.name, FILE_PATH);
  return EXIT_REFUSED;
}

/* The size of the file to write into. If it is too small, or the name is in use, ends the program without a change to
 * the volume. */
static uint64_t room_for(const struct request *request, struct volume *volume) {
  struct spate_exfat_info info;
  char why[512];

  expect(spate_exfat_info(&volume->exfat, &info), volume->target.name);
  const uint64_t bytes = info.longest_free_bytes < FILE_BYTES ? info.longest_free_bytes : FILE_BYTES;
  enum exit_status status =
      check_sizes(request, &volume->target, bytes >> volume->target.block->block_shift, why, sizeof why);
  if (status == EXIT_DONE) status = check_path(volume, why, sizeof why);
  if (status == EXIT_DONE) return bytes;
  volume_close(volume);
  fail(status, "%s", why);
}

/* Reserves clusters for a new file. The test writes only to these. */
static struct place reserve(struct volume *volume, struct spate_exfat_clip *clip, uint64_t bytes) {
  struct spate_exfat_entry entry;

  if (spate_exfat_stat(&volume->exfat, FILE_PATH, &entry) == SPATE_OK)
    expect(spate_exfat_delete(&volume->exfat, FILE_PATH), FILE_PATH);
  expect(spate_exfat_arm(&volume->exfat, clip, FILE_PATH, bytes), FILE_PATH);
  return (struct place){clip->first_lba, clip->reserved_bytes >> volume->target.block->block_shift};
}

/* ---- results ---- */

static const char *size_name(uint32_t bytes, char *text) {
  if (bytes % 1024u == 0)
    (void)snprintf(text, TEXT_BYTES, "%uk", bytes / 1024u);
  else
    (void)snprintf(text, TEXT_BYTES, "%u", bytes);
  return text;
}

static const char *kind_name(const struct speed_job *job) {
  static const char *const names[2][2] = {{"read", "randread"}, {"write", "randwrite"}};

  return names[job->op == SPATE_WRITE][job->random];
}

/* The names are those of fio, where the meaning is the same. */
static void write_json(struct json *json, const struct speed_job *job, const struct speed_result *result) {
  static const struct {
    const char *name;
    double share;
  } percentiles[] = {{"50.000000", 0.5}, {"90.000000", 0.9}, {"99.000000", 0.99}, {"99.900000", 0.999}};
  char text[TEXT_BYTES];

  json_open(json, NULL, '{');
  json_string(json, "jobname", kind_name(job));
  json_open(json, "job options", '{');
  json_string(json, "rw", kind_name(job));
  json_string(json, "bs", size_name(job->io_bytes, text));
  (void)snprintf(text, sizeof text, "%u", job->depth);
  json_string(json, "iodepth", text);
  json_close(json, '}');
  json_open(json, job->op == SPATE_WRITE ? "write" : "read", '{');
  json_integer(json, "io_bytes", result->bytes);
  json_integer(json, "total_ios", result->ios);
  json_real(json, "runtime", result->seconds * 1000);
  json_real(json, "bw_bytes", (double)result->bytes / result->seconds);
  json_real(json, "iops", (double)result->ios / result->seconds);
  json_open(json, "lat_ns", '{');
  json_integer(json, "min", result->latency_min_ns);
  json_integer(json, "max", result->latency_max_ns);
  json_real(json, "mean", result->latency_mean_ns);
  json_open(json, "percentile", '{');
  for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++)
    json_integer(json, percentiles[i].name, speed_percentile_ns(result, percentiles[i].share));
  json_close(json, '}');
  json_close(json, '}');
  json_close(json, '}');
  json_close(json, '}');
}

static void print_row(const struct speed_job *job, const struct speed_result *result) {
  char size[UNITS_TEXT_BYTES], rate[UNITS_TEXT_BYTES];

  (void)printf("%-9s %8s %6u %9s/s %10.0f %10.1f %10.1f %10.1f\n", kind_name(job), units_text(job->io_bytes, size),
               job->depth, units_decimal((uint64_t)((double)result->bytes / result->seconds), rate),
               (double)result->ios / result->seconds, result->latency_mean_ns / 1000,
               (double)speed_percentile_ns(result, 0.99) / 1000, (double)result->latency_max_ns / 1000);
  (void)fflush(stdout);
}

/* ---- the command ---- */

static uint32_t depth_of(const struct request *request, const struct target *target) {
  return request->depth < target->block->depth ? request->depth : target->block->depth;
}

static struct speed_job job_of(const struct request *request, const struct target *target, struct place place,
                               uint32_t io_bytes) {
  return (struct speed_job){.op = request->write ? SPATE_WRITE : SPATE_READ,
                            .io_bytes = io_bytes,
                            .depth = depth_of(request, target),
                            .sleep = target->nvme == NULL,
                            .random =
                                request->order == ALL_RANDOM || (request->order == BY_SIZE && io_bytes < RANDOM_BELOW),
                            .first_lba = place.first_lba,
                            .blocks = place.blocks,
                            .bytes = request->bytes,
                            .seconds = request->seconds};
}

static enum spate_error run_all(const struct request *request, struct target *target, struct place place) {
  uint32_t largest = 0;
  struct spate_region region;
  struct json json = {.to = stdout};
  enum spate_error error = SPATE_OK;

  for (unsigned i = 0; i < request->sizes; i++)
    if (request->io_bytes[i] > largest) largest = request->io_bytes[i];
  const uint64_t bytes =
      ((uint64_t)largest * depth_of(request, target) + SPATE_PAGE_BYTES - 1u) & ~(uint64_t)(SPATE_PAGE_BYTES - 1u);
  void *ring = memory_take_ring(target->memory, (size_t)bytes);
  void *table = memory_take(target->memory, (size_t)SPATE_REGION_TABLE_BYTES(bytes));
  memory_region(target->memory, &region, ring, bytes, table);
  if (command_json) {
    json_open(&json, NULL, '{');
    json_open(&json, "jobs", '[');
  } else {
    (void)printf("%-9s %8s %6s %11s %10s %10s %10s %10s\n", "", "block", "depth", "rate", "IOPS", "mean us", "99 % us",
                 "max us");
  }
  for (unsigned i = 0; i < request->sizes; i++) {
    const struct speed_job job = job_of(request, target, place, request->io_bytes[i]);
    static struct speed_result result;
    error = speed_run(target->block, &job, &region, &result);
    if (error != SPATE_OK) break;
    if (command_json)
      write_json(&json, &job, &result);
    else
      print_row(&job, &result);
  }
  if (command_json) {
    json_close(&json, ']');
    json_close(&json, '}');
  }
  memory_give(target->memory, table);
  memory_give(target->memory, ring);
  return error;
}

static enum exit_status read_target(const struct request *request) {
  struct target target;
  char why[512];

  target_open(&target, request->target, TARGET_READ, 0);
  const enum exit_status status = check_sizes(request, &target, target.block->blocks, why, sizeof why);
  if (status != EXIT_DONE) fail(status, "%s", why);
  expect(run_all(request, &target, (struct place){0, target.block->blocks}), request->target);
  target_close(&target);
  return EXIT_DONE;
}

/* Removes the file after a failed run as well, if the target still can. */
static enum exit_status write_volume(const struct request *request) {
  static struct volume volume;
  static struct spate_exfat_clip clip;

  volume_open(&volume, request->target, TARGET_WRITE);
  const uint64_t bytes = room_for(request, &volume);
  enum spate_error error = run_all(request, &volume.target, reserve(&volume, &clip, bytes));
  const enum spate_error discarded = spate_exfat_discard(&clip);
  const enum spate_error unmounted = volume_unmount(&volume);
  if (error == SPATE_OK) error = discarded;
  if (error == SPATE_OK) error = unmounted;
  expect(error, request->target);
  return EXIT_DONE;
}

static enum exit_status run(int count, char **words) {
  const struct request request = parse(count, words);

  return request.write ? write_volume(&request) : read_target(&request);
}

const struct command command_speedtest = {
    "speedtest", "measure rate, requests per second and latency",
    "Usage: spate speedtest TARGET [options]\n"
    "\n"
    "Reads TARGET with requests of several sizes and shows its response times. With --write it writes only into a\n"
    "new file on the volume, of at most 1 GiB, and removes the file at the end. A drive completes reads of blocks "
    "that\n"
    "were never written, or were trimmed, faster than others.\n"
    "\n"
    "  --write                write instead of read\n"
    "  --block SIZE           of a request; may be given several times (4KiB, 128KiB, 1MiB)\n"
    "  --depth N              requests in flight (32, or the target's maximum)\n"
    "  --random               random requests of all sizes (default: of sizes below 64KiB)\n"
    "  --sequential           sequential requests of all sizes (default: of sizes from 64KiB on)\n"
    "  --for TIME             of each row (2s)\n"
    "  --size SIZE            of each row, instead of a time\n" HELP_COMMON "\n"
    "  spate speedtest /dev/nvme0n1\n"
    "  spate speedtest vfio:0000:01:00.0 --bind --block 4KiB --depth 64 --output-format=json\n"
    "  spate speedtest sim:990pro --for 100ms\n",
    run};
