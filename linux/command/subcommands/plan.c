/* SPDX-License-Identifier: Apache-2.0 */
/* Computes what a stream needs on a drive with a profile: the ring, the queue depth, how long the drive sustains it. */
#include "../plan/plan.h"

#include "../text/units.h"
#include "command.h"

#include <math.h>
#include <profiles/profile_text.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES_MIN UINT64_C(4096)
#define PIECE_BYTES_MAX (UINT64_C(64) << 20)
#define BYTES_MAX       UINT64_C(100000000000000000)
#define RATE_MIN        1e6
#define RATE_MAX        1e12
#define KEEP_S_MAX      1e9

enum {
  PROFILE = 1000,
  RATE,
  BYTES,
  FILLED,
  KEEP,
  RING,
  RETAIN,
  CHECKPOINT,
  PIECE,
  GENERATION,
  LANES,
  PAYLOAD,
  FETCH,
  LIST
};

/* Not the options of drives: OPTIONS_COMMON. */
static const struct option options[] = {{"profile", required_argument, NULL, PROFILE},
                                        {"rate", required_argument, NULL, RATE},
                                        {"bytes", required_argument, NULL, BYTES},
                                        {"filled", required_argument, NULL, FILLED},
                                        {"keep", required_argument, NULL, KEEP},
                                        {"ring", required_argument, NULL, RING},
                                        {"retain", no_argument, NULL, RETAIN},
                                        {"checkpoint-ms", required_argument, NULL, CHECKPOINT},
                                        {"piece", required_argument, NULL, PIECE},
                                        {"generation", required_argument, NULL, GENERATION},
                                        {"lanes", required_argument, NULL, LANES},
                                        {"payload", required_argument, NULL, PAYLOAD},
                                        {"fetch", required_argument, NULL, FETCH},
                                        {"output-format", required_argument, NULL, OPTION_JSON},
                                        {"list", no_argument, NULL, LIST},
                                        {"help", no_argument, NULL, OPTION_HELP},
                                        {NULL, 0, NULL, 0}};

/* ---- values of options ---- */

static double rate(const char *option, const char *word) {
  double bytes_per_s;

  if (!units_rate(word, &bytes_per_s))
    command_usage(&command_plan, "%s \"%s\" is not a rate; examples are 500MB/s and 1.2GiB/s", option, word);
  if (bytes_per_s < RATE_MIN || bytes_per_s > RATE_MAX)
    command_usage(&command_plan, "%s %s is not between 1 MB/s and 1 TB/s", option, word);
  return bytes_per_s;
}

/* A number without a unit. */
static double number(const char *option, const char *word, double least, double most) {
  char *end;
  const double value = strtod(word, &end);

  if (end == word || *end != '\0') command_usage(&command_plan, "%s \"%s\" is not a number", option, word);
  if (!(value >= least && value <= most))
    command_usage(&command_plan, "%s %s is not between %g and %g", option, word, least, most);
  return value;
}

static uint64_t whole(const char *option, const char *word, double least, double most) {
  const double value = number(option, word, least, most);

  if (value != floor(value)) command_usage(&command_plan, "%s %s is not a whole number", option, word);
  return (uint64_t)value;
}

static uint16_t payload_of(const char *word) {
  const double bytes = number("--payload", word, 128, 512);

  if (bytes != 128 && bytes != 256 && bytes != 512) command_usage(&command_plan, "--payload is 128, 256 or 512");
  return (uint16_t)bytes;
}

static uint8_t lanes_of(const char *word) {
  const double lanes = number("--lanes", word, 1, 16);

  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16)
    command_usage(&command_plan, "--lanes is 1, 2, 4, 8 or 16");
  return (uint8_t)lanes;
}

static const struct sim_profile *profile_named(const char *word) {
  char why[SIM_PROFILE_WHY_BYTES];
  const struct sim_profile *profile = sim_profile_open(word, why);

  if (profile == NULL) fail(EXIT_USAGE, "%s", why);
  return profile;
}

__attribute__((noreturn)) static void list_profiles(void) {
  for (unsigned i = 0; sim_profile_at(i) != NULL; i++)
    (void)printf("  %-12s %s\n", sim_profile_at(i)->name, sim_profile_at(i)->model);
  exit(EXIT_DONE);
}

/* ---- the command line ---- */

struct request {
  struct plan plan;
  const char *keep; /* as given; NULL: the recording does not go round */
  bool filled_given;
};

static void take_option(struct request *request, int option) {
  struct plan *plan = &request->plan;
  struct sim_media_stream *stream = &plan->stream;

  switch (option) {
  case PROFILE: plan->profile = profile_named(optarg); break;
  case RATE: stream->rate = rate("--rate", optarg); break;
  case BYTES: stream->bytes = command_bytes(&command_plan, "--bytes", optarg, PIECE_BYTES_MIN, BYTES_MAX); break;
  case FILLED:
    stream->filled = number("--filled", optarg, 0, 1);
    request->filled_given = true;
    break;
  case KEEP: request->keep = optarg; break;
  case RING:
    stream->ring_bytes = command_bytes(&command_plan, "--ring", optarg, 1, BYTES_MAX);
    plan->ring_given = true;
    break;
  case RETAIN: plan->retain = true; break;
  case CHECKPOINT: stream->checkpoint_ms = (uint32_t)whole("--checkpoint-ms", optarg, 0, 3600000); break;
  case PIECE:
    stream->piece_bytes = (uint32_t)command_bytes(&command_plan, "--piece", optarg, PIECE_BYTES_MIN, PIECE_BYTES_MAX);
    break;
  case GENERATION: plan->link.generation = (uint8_t)whole("--generation", optarg, 1, 5); break;
  case LANES: plan->link.lanes = lanes_of(optarg); break;
  case PAYLOAD: plan->link.payload_bytes = payload_of(optarg); break;
  case FETCH: plan->link.fetch_mb_per_s = (uint32_t)(rate("--fetch", optarg) / 1e6); break;
  default: list_profiles();
  }
}

static struct request parse(int count, char **words) {
  struct request request = {
      .plan = {.link = {.payload_bytes = 256, .read_request_bytes = 512, .latency_ns = 250, .dllp_percent = 2},
               .stream = {.piece_bytes = 512 * 1024, .checkpoint_ms = 500}}};

  for (int got; (got = command_option(&command_plan, count, words, options)) != -1;)
    take_option(&request, got);
  if (optind < count) command_usage(&command_plan, "\"%s\" is not an option", words[optind]);
  if (request.keep != NULL && request.filled_given)
    command_usage(&command_plan,
                  "--filled and --keep: a recording that is kept without end fills the drive. Leave one of them out");
  if (request.plan.profile == NULL) command_usage(&command_plan, "which drive? --profile NAME; --list shows them");
  if (request.plan.stream.rate <= 0) command_usage(&command_plan, "how fast is the stream? --rate, as 1.6GB/s");
  return request;
}

/* ---- what the options leave open ---- */

/* A share of the drive, a time or a size: a number alone could be each. */
static uint64_t kept_bytes(const struct plan *plan, const char *word) {
  const bool alone = word[strspn(word, "0123456789.")] == '\0';
  double value;
  uint64_t bytes;

  if (units_percent(word, &value)) {
    if (value < 1 || value > 99) command_usage(&command_plan, "--keep %s is not between 1%% and 99%%", word);
    return (uint64_t)((double)plan->profile->capacity_bytes * value / 100);
  }
  if (!alone && units_seconds(word, &value)) {
    if (value < 1 || value > KEEP_S_MAX)
      command_usage(&command_plan, "--keep %s: keep at least a second, such as 30min", word);
    return (uint64_t)(plan->stream.rate * value);
  }
  if (alone || !units_bytes(word, &bytes))
    command_usage(&command_plan, "--keep \"%s\" is no size, time or share; examples are 500GB, 2h and 90%%", word);
  return command_bytes(&command_plan, "--keep", word, PIECE_BYTES_MIN, BYTES_MAX);
}

/* A recording that goes round has written every block of the drive, and is not trimmed: it is that of a full drive. */
static void fill_drive(struct plan *plan, const char *keep) {
  const uint64_t capacity_bytes = plan->profile->capacity_bytes;

  plan->keep_bytes = kept_bytes(plan, keep);
  if (plan->keep_bytes > capacity_bytes)
    command_usage(&command_plan,
                  "--keep %s is %.4g GB at this rate, and the drive has %.0f GB. Keep less, or take a larger drive",
                  keep, (double)plan->keep_bytes / 1e9, (double)capacity_bytes / 1e9);
  plan->stream.filled = 1;
}

static void complete(struct plan *plan) {
  const struct sim_profile *profile = plan->profile;
  struct sim_media_stream *stream = &plan->stream;
  const double capacity = (double)profile->capacity_bytes;
  const double room = stream->filled < 1 ? capacity * (1 - stream->filled) : capacity;

  if (plan->link.generation == 0 || plan->link.generation > profile->generation)
    plan->link.generation = profile->generation;
  if (plan->link.lanes == 0 || plan->link.lanes > profile->lanes) plan->link.lanes = profile->lanes;
  stream->link_rate = sim_link_down_max(&plan->link);
  if (stream->rate > stream->link_rate)
    command_usage(
        &command_plan, "%.2f GB/s do not go over this link: Gen%u x%u at MPS %u carries %.2f GB/s to the drive",
        stream->rate / 1e9, plan->link.generation, plan->link.lanes, plan->link.payload_bytes, stream->link_rate / 1e9);
  if (stream->bytes == 0) stream->bytes = (uint64_t)room;
  if ((double)stream->bytes > room)
    command_usage(&command_plan, "%.1f GB do not fit: %.1f GB are free. --filled 1 writes over a full drive",
                  (double)stream->bytes / 1e9, room / 1e9);
  if (stream->piece_bytes > stream->bytes) stream->piece_bytes = (uint32_t)stream->bytes;
}

static enum exit_status run(int count, char **words) {
  struct request request = parse(count, words);
  struct plan *plan = &request.plan;

  if (request.keep != NULL) fill_drive(plan, request.keep);
  complete(plan);
  plan_compute(plan);
  if (command_json)
    plan_print_json(plan);
  else
    plan_print(plan);
  return plan_fits(plan) ? EXIT_DONE : EXIT_FAILED;
}

const struct command command_plan = {
    "plan", "compute what a stream needs on a drive: ring, queue depth, how long it lasts",
    "Usage: spate plan --profile FILE --rate RATE [options]\n"
    "\n"
    "What a stream needs on a drive: the smallest ring that does not overrun, the queue depth, how long the drive\n"
    "sustains the rate, and how hot it gets.\n"
    "\n"
    "  --profile FILE      the drive: a name that --list shows, or a file, as ./my.profile\n"
    "  --rate RATE         of the stream, such as 1.6GB/s or 900MB/s\n"
    "  --bytes SIZE        to record, such as 500GB or 2TB; default: the free space, or all of a full drive\n"
    "  --filled SHARE      share of the drive that is already written and not trimmed, 0 to 1; 1: a full drive\n"
    "  --keep SIZE|TIME|90%  record without end and keep 500GB, 2h or 90% of the drive (spate record --keep), which "
    "is\n"
    "                      then full all the time: without --filled\n"
    "  --ring SIZE         the ring that you have, such as 512MiB: says how long it lasts\n"
    "  --retain            the ring keeps data until it is flushed, so that a power loss of the drive loses nothing\n"
    "  --checkpoint-ms N   interval of flushes and of new lengths in the directory (500); 0: none\n"
    "  --piece SIZE        what the source pushes at a time (512KiB)\n"
    "  --generation N      of the link, if it is slower than the drive\n"
    "  --lanes N           of the link, if it has fewer than the drive\n"
    "  --payload N         MPS of the link: 128, 256 or 512 (256)\n"
    "  --fetch RATE        the highest rate at which your bridge reads memory, if it limits the link\n"
    "  --list              the profiles\n"
    "  --output-format=json   one JSON document on standard output\n" HELP_OF_HELP "\n"
    "Sizes are decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB, TiB).\n"
    "Exit status: 0 the stream is sustained, 1 it overruns, 2 wrong options.\n"
    "\n"
    "Why a ring? A drive is faster than the stream on average, but not always: not while it writes its own tables,\n"
    "while it flushes, after its SLC cache has run out, or when it is hot. Data that arrives meanwhile waits in the\n"
    "ring.\n"
    "\n"
    "  spate plan --profile 970evoplus --rate 1.6GB/s\n"
    "  spate plan --profile 980pro --rate 2.5GB/s --generation 3 --ring 1GiB\n"
    "  spate plan --profile 980pro --rate 1.9GB/s --filled 1 --output-format=json\n"
    "  spate plan --profile 980pro --rate 500MB/s --keep 30min\n"
    "  spate plan --profile ./my.profile --rate 1.9GB/s\n",
    run};
