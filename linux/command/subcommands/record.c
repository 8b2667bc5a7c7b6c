/* SPDX-License-Identifier: Apache-2.0 */
/* Records streams into files of a volume: the command line. */
#include "../recording/recording.h"
#include "../text/names.h"
#include "../text/progress.h"
#include "../text/stamp.h"
#include "../text/units.h"
#include "command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RING_BYTES     (UINT64_C(64) << 20)
#define RING_BYTES_MIN (UINT64_C(4) << 20)
#define RING_BYTES_MAX (UINT64_C(1) << (sizeof(size_t) > 4 ? 36 : 30))
#define RATE_MAX       1e12
#define SECONDS_MAX    1e6 /* times RATE_MAX is below 2^63 bytes */

enum { FROM = 1000, RATE, FOR, SIZE, SPLIT, KEEP, BEFORE, AFTER, EVENT, TRIGGER, RING, CHECKPOINT, MONITOR };

static const struct option options[] = {
    {"from", required_argument, NULL, FROM},       {"rate", required_argument, NULL, RATE},
    {"for", required_argument, NULL, FOR},         {"size", required_argument, NULL, SIZE},
    {"split", required_argument, NULL, SPLIT},     {"keep", required_argument, NULL, KEEP},
    {"before", required_argument, NULL, BEFORE},   {"after", required_argument, NULL, AFTER},
    {"event", required_argument, NULL, EVENT},     {"trigger", required_argument, NULL, TRIGGER},
    {"ring", required_argument, NULL, RING},       {"checkpoint", required_argument, NULL, CHECKPOINT},
    {"monitor", required_argument, NULL, MONITOR}, OPTIONS_COMMON};

#define BEFORE_SECONDS    60.0
#define AFTER_SECONDS     10.0
#define SPLIT_SECONDS_MIN 1.0
#define SPLIT_BYTES_MIN   (UINT64_C(4) << 20)

/* A time or a size: a number alone could be both. */
static void parse_split(struct recording_request *request) {
  const bool number = optarg[strspn(optarg, "0123456789.")] == '\0';
  double seconds;
  uint64_t bytes;

  request->split_seconds = 0;
  request->split_bytes = 0;
  if (!number && units_seconds(optarg, &seconds)) {
    if (seconds < SPLIT_SECONDS_MIN || seconds > SECONDS_MAX)
      command_usage(&command_record, "--split %s: a part takes at least a second", optarg);
    request->split_seconds = seconds;
  } else if (!number && units_bytes(optarg, &bytes)) {
    request->split_bytes = command_bytes(&command_record, "--split", optarg, SPLIT_BYTES_MIN, UINT64_C(1) << 56);
  } else {
    command_usage(&command_record, "--split \"%s\" is neither a time nor a size; examples are 10min and 16GiB", optarg);
  }
}

/* A share of the volume, a time or a size. */
static void parse_keep(struct recording_request *request) {
  const bool number = optarg[strspn(optarg, "0123456789.")] == '\0';
  double seconds, percent;

  request->keeps = true;
  request->keep_percent = request->keep_seconds = 0;
  request->keep_bytes = 0;
  if (units_percent(optarg, &percent)) {
    if (percent < 1 || percent > 99) command_usage(&command_record, "--keep %s is not between 1%% and 99%%", optarg);
    request->keep_percent = percent;
  } else if (!number && units_seconds(optarg, &seconds)) {
    if (seconds < 1 || seconds > SECONDS_MAX)
      command_usage(&command_record, "--keep %s: at least a second, and at most eleven days", optarg);
    request->keep_seconds = seconds;
  } else if (!number && units_bytes(optarg, &request->keep_bytes)) {
    request->keep_bytes = command_bytes(&command_record, "--keep", optarg, SPLIT_BYTES_MIN, UINT64_C(1) << 56);
  } else {
    command_usage(&command_record, "--keep \"%s\" is no size, time or share; examples are 500GiB, 2h and 90%%", optarg);
  }
}

static double parse_time(const char *option) {
  double seconds;

  if (!units_seconds(optarg, &seconds) || seconds < 0 || seconds > SECONDS_MAX)
    command_usage(&command_record, "%s \"%s\" is not a time; examples are 30s, 5min and 1h", option, optarg);
  return seconds;
}

static void parse_option(struct recording_request *request, int option) {
  double value;

  switch (option) {
  case FROM:
    if (request->source_count == SPATE_STREAMS_MAX)
      command_usage(&command_record, "at most %u sources", SPATE_STREAMS_MAX);
    request->sources[request->source_count++] = optarg;
    break;
  case RATE:
    if (!units_rate(optarg, &request->rate) || request->rate < 1 || request->rate > RATE_MAX)
      command_usage(&command_record, "--rate \"%s\" is not a rate; examples are 500MB/s and 1.2GiB/s", optarg);
    break;
  case FOR:
    if (!units_seconds(optarg, &request->seconds) || request->seconds <= 0 || request->seconds > SECONDS_MAX)
      command_usage(&command_record, "--for \"%s\" is not a time; examples are 10s, 500ms and 2h", optarg);
    break;
  case SIZE: request->size_bytes = command_bytes(&command_record, "--size", optarg, 1, UINT64_C(1) << 56); break;
  case SPLIT: parse_split(request); break;
  case KEEP: parse_keep(request); break;
  case BEFORE: request->before_seconds = parse_time("--before"); break;
  case AFTER: request->after_seconds = parse_time("--after"); break;
  case EVENT: request->event = optarg; break;
  case TRIGGER: request->trigger = optarg; break;
  case RING:
    request->ring_bytes = command_bytes(&command_record, "--ring", optarg, RING_BYTES_MIN, RING_BYTES_MAX);
    break;
  case MONITOR: request->monitor = optarg; break;
  default:
    if (!units_seconds(optarg, &value) || value < 0.001 || value > 60)
      command_usage(&command_record, "--checkpoint \"%s\" is not between 1ms and 60s", optarg);
    request->checkpoint_ms = (uint32_t)(value * 1000);
  }
}

/* Refuses what no system, or only some, could open. */
static void check_name(const char *pattern) {
  char name[SPATE_RECORDER_PATH_BYTES_MAX];
  const char *problem = stamp_name(pattern, time(NULL), name, sizeof name);

  if (problem == NULL && (*name == '\0' || name[strlen(name) - 1u] == '/')) problem = "names a folder, and not a file";
  if (problem == NULL) problem = names_problem(name);
  if (problem != NULL) command_usage(&command_record, "\"%s\" %s. Choose another name", pattern, problem);
}

static void check_names(const struct recording_request *request) {
  check_name(request->event != NULL ? request->event : "event");
  for (unsigned i = 0; i < request->count; i++)
    check_name(request->paths[i]);
}

#define PART_NAME  "_00000001"
#define EVENT_NAME "_20261127T101500Z"
#define AGAIN_NAME "_1_1000" /* the number of a stream, and that of an event whose name is in use */

/* The library keeps these paths in the list of the loop. */
static void check_lengths(const struct recording_request *request) {
  char name[SPATE_RECORDER_PATH_BYTES_MAX];
  const size_t more = strlen(AGAIN_NAME);
  size_t most = SPATE_LOOP_PATH_BYTES_MAX - 1u - sizeof PART_NAME;

  if (request->event == NULL) most = SPATE_LOOP_PATH_BYTES_MAX - 1u - strlen(EVENT_NAME) - more;
  for (unsigned i = 0; i < request->count; i++)
    if (strlen(request->paths[i]) > most)
      command_usage(&command_record, "with --keep, a PATH has at most %u bytes: \"%s\" has %u", (unsigned)most,
                    request->paths[i], (unsigned)strlen(request->paths[i]));
  if (request->event == NULL || stamp_name(request->event, time(NULL), name, sizeof name) != NULL) return;
  if (strlen(name) + more >= SPATE_LOOP_PATH_BYTES_MAX)
    command_usage(&command_record, "--event has at most %u bytes: \"%s\" has %u",
                  (unsigned)(SPATE_LOOP_PATH_BYTES_MAX - 1u - more), name, (unsigned)strlen(name));
}

/* Older parts than --keep says are deleted, so a trigger never finds them. */
static void check_times(struct recording_request *request) {
  const double keep_seconds = request->keep_seconds;

  if (keep_seconds > 0 && request->before_seconds > keep_seconds)
    command_usage(&command_record,
                  "--before is longer than --keep: what is older than --keep is deleted. Keep at least as long");
  if (request->before_seconds < 0)
    request->before_seconds = keep_seconds > 0 && keep_seconds < BEFORE_SECONDS ? keep_seconds : BEFORE_SECONDS;
  if (request->after_seconds < 0) request->after_seconds = AFTER_SECONDS;
}

static void check_loop(const struct recording_request *request) {
  for (unsigned i = 0; request->keeps && i < request->count; i++)
    if (stamp_has_fields(request->paths[i]))
      command_usage(
          &command_record,
          "\"%s\" has fields of a time: with --keep each start would begin another loop, and the parts of the "
          "last one would stay. Fields belong in --event",
          request->paths[i]);
  if (request->keeps && request->split_seconds > 0)
    command_usage(&command_record, "with --keep, parts have a size: --split 64MiB");
  if (!request->keeps && (request->event != NULL || request->trigger != NULL || request->before_seconds >= 0 ||
                          request->after_seconds >= 0))
    command_usage(&command_record, "--before, --after, --event and --trigger need a recording without end: add --keep");
}

/* The same file: exFAT does not tell capitals from small letters, and slashes only divide. */
static bool are_one(const char *a, const char *b) {
  while (*a == '/')
    a++;
  while (*b == '/')
    b++;
  for (; *a != '\0' || *b != '\0'; a++, b++) {
    while (a[0] == '/' && a[1] == '/')
      a++;
    while (b[0] == '/' && b[1] == '/')
      b++;
    if (tolower((unsigned char)*a) != tolower((unsigned char)*b)) return false;
  }
  return true;
}

/* Refuses a path or a source that is named twice. Only synthetic may be named twice: each is a sensor of its own. */
static void check_twice(const struct recording_request *request) {
  for (unsigned i = 0; i < request->count; i++)
    for (unsigned j = 0; j < i; j++) {
      if (are_one(request->paths[i], request->paths[j]))
        command_usage(&command_record, "%s is named twice", request->paths[i]);
      if (strcmp(request->sources[i], request->sources[j]) == 0 && !recording_is_synthetic(request->sources[i]))
        command_usage(&command_record, "--from %s is named twice", request->sources[i]);
    }
}

static struct recording_request parse(int count, char **words) {
  struct recording_request request = {.ring_bytes = RING_BYTES, .before_seconds = -1, .after_seconds = -1};

  for (int option; (option = command_option(&command_record, count, words, options)) != -1;)
    parse_option(&request, option);
  if (count - optind < 2) command_usage(&command_record, "record takes a TARGET and the PATH of the file to make");
  request.target = words[optind];
  for (int i = optind + 1; i < count; i++) {
    if (request.count == SPATE_STREAMS_MAX)
      command_usage(&command_record, "at most %u files at once", SPATE_STREAMS_MAX);
    request.paths[request.count++] = words[i];
  }
  if (request.source_count == 0 && request.count == 1) request.sources[request.source_count++] = "-";
  if (request.source_count != request.count)
    command_usage(&command_record, "%u file%s and %u source%s: name a source with --from for each file", request.count,
                  request.count == 1 ? "" : "s", request.source_count, request.source_count == 1 ? "" : "s");
  check_names(&request);
  check_twice(&request);
  check_loop(&request);
  if (request.keeps) check_lengths(&request);
  check_times(&request);
  return request;
}

static enum exit_status run(int count, char **words) {
  static struct session session;
  const struct recording_request request = parse(count, words);
  struct progress clock;

  if (request.monitor != NULL) session.monitor = monitor_open(request.monitor); /* before the target is touched */
  recording_begin(&session, &request);
  progress_begin(&clock, "", 0);
  recording_work(&session, &request);
  const enum exit_status status = recording_end(&session, progress_seconds(&clock), command_json);
  monitor_close(session.monitor);
  return status;
}

const struct command command_record = {
    "record", "record streams into files",
    "Usage: spate record TARGET PATH [options]\n"
    "       spate record TARGET PATH PATH... --from SOURCE --from SOURCE... [options]\n"
    "\n"
    "Records standard input, or the source that --from names, into a new file PATH of the volume. Every half second\n"
    "the length of the file on the drive is updated, so a power cut costs about a second. Ctrl-C closes the file\n"
    "properly. Fields in PATH are filled in with the time in UTC at which the file begins: %Y %m %d %H %M %S, %j (day\n"
    "of the year), %s (seconds since 1970); %% is a percent sign.\n"
    "\n"
    "  --from SOURCE          - (standard input), a file, a FIFO, or one of the following. Files, FIFOs and pipes "
    "wait\n"
    "                         while the ring is full; the other sources count the data that they lose\n"
    "           synthetic     a simulated sensor that sends chunks, which spate verify can check\n"
    "           udp:[ADDRESS:]PORT  the payloads of datagrams, one after the other. If ADDRESS is a multicast group:\n"
    "                         udp:239.1.1.1:5000?if=eth0&source=10.0.0.7 joins it on this interface, and takes only\n"
    "                         what this sender sends; both may be left out\n"
    "           ring:NAME     shared memory that another program fills, without a copy (libspate-ring). spate waits\n"
    "                         until it exists. ring:/PATH is a file or a device such as /dev/udmabuf0;\n"
    "                         vfio: and pci: do not copy memory of u-dma-buf either\n"
    "  --rate RATE            of the sensor: 500MB/s (default: as fast as the target accepts it)\n"
    "  --for TIME             stop after 10s, 500ms, 2h\n"
    "  --size SIZE            stop after this many bytes\n"
    "  --split TIME|SIZE      a file for each 10min or 16GiB, all streams cut at the same instant, without a gap. The\n"
    "                         next files are PATH_0002, _0003, ..., unless PATH has fields of a time. A file by size\n"
    "                         ends before the piece (1MiB) that would exceed it, and takes whole clusters of the "
    "drive\n"
    "  --keep SIZE|TIME|90%   record without end: keep the last 500GiB, 2h or 90% of the volume in parts PATH_00000001 "
    "and so\n"
    "                         on, and delete the oldest one before the next. --split SIZE is the size of a part\n"
    "  --before TIME          how much a trigger keeps of the time before it, as one file, without a copy (1min);\n"
    "                         at most --keep, if that is a time\n"
    "  --after TIME           and of the time after it (10s). Triggers: spate trigger TARGET, SIGUSR1, --trigger\n"
    "  --event PATH           the file that a trigger keeps (PATH_%Y%m%dT%H%M%SZ)\n"
    "  --trigger FILE         also trigger by a line in this FIFO, or by a datagram: udp:[ADDRESS:]PORT\n"
    "  --ring SIZE            memory between source and target, for each source (64MiB)\n"
    "  --checkpoint TIME      time between checkpoints, which make the data durable (500ms)\n"
    "  --monitor ADDRESS      show the recording at http://ADDRESS/ and to Prometheus: PORT, 127.0.0.1:PORT, "
    "[::1]:PORT;\n"
    "                         other computers reach it only at another address\n" HELP_COMMON "\n"
    "  spate record rec.img run1.raw --from synthetic --rate 500MB/s --for 10s\n"
    "  ffmpeg -i rtsp://camera -f rawvideo - | spate record /dev/nvme0n1 flight/camera.raw\n"
    "  spate record /dev/nvme0n1 radar.raw --from udp:192.168.1.2:5000 --for 10min\n"
    "  spate record /dev/nvme0n1 'CAM_%Y%m%dT%H%M%SZ.raw' --from udp:5000 --split 10min\n"
    "  spate record /dev/nvme0n1 cam/loop.raw --from udp:5000 --keep 90% --before 5min --after 2min\n"
    "  spate record /dev/nvme0n1 left.raw right.raw --from /tmp/left.fifo --from /tmp/right.fifo\n"
    "\n"
    "Exit status: 0 recorded, 1 failed, 2 usage, 3 refused and nothing changed, 4 data were lost.\n",
    run};
