/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stream needs on a drive: the smallest ring that does not overrun and the reason for its size, the queue depth,
 * how long the drive sustains the rate, its temperature. Computed from the drive's profile without simulating commands.
 * tests/bench/simulated/test_plan_recorder.c runs the recorder on the simulated drive and compares.
 */
#include "plan.h"
#include "bus/link.h"
#include "json.h"
#include "nand/media.h"
#include "profiles/profile_text.h"
#include "units.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FITS = 0, OVERRUNS = 1, WRONG = 2 };

#define PIECE_BYTES_MIN UINT64_C(4096)
#define PIECE_BYTES_MAX (UINT64_C(64) << 20)
#define BYTES_MAX       UINT64_C(100000000000000000)
#define RATE_MIN        1e6
#define RATE_MAX        1e12
#define RATE_STEP       1e7 /* resolution of a proposed rate */

struct plan {
  const struct sim_profile *profile;
  struct sim_link_config link;
  struct sim_media_stream stream;
  bool ring_given, filled_given, retain, json;
  const char *keep;    /* as given; NULL: the recording does not go round */
  uint64_t keep_bytes; /* of a recording that goes round; 0: it does not */
  double keep_s;       /* the same as a time */
  struct sim_media_outlook outlook;
  uint32_t depth;
  uint64_t ring_bytes;   /* needed by the stream */
  double loss_bytes;     /* the most that a power cut can take */
  double rate_that_fits; /* if the requested rate does not fit: the highest that does; 0: none */
};

static const char *program, *common_options; /* as the user typed it; help lines */

static const char usage[] =
    " --profile FILE --rate RATE [options]\n"
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
    "  --list              the profiles\n";

static const char more_usage[] =
    "\n"
    "Sizes are decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB, TiB).\n"
    "Exit status: 0 the stream is sustained, 1 it overruns, 2 wrong options.\n"
    "\n"
    "Why a ring? A drive is faster than the stream on average, but not always: not while it writes its own tables,\n"
    "while it flushes, after its SLC cache has run out, or when it is hot. Data that arrives meanwhile waits in the\n"
    "ring.\n"
    "\n";

static void show_help(void) {
  (void)printf("Usage: %s%s%s%s", program, usage, common_options, more_usage);
  (void)printf("  %s --profile 970evoplus --rate 1.6GB/s\n", program);
  (void)printf("  %s --profile 980pro --rate 2.5GB/s --generation 3 --ring 1GiB\n", program);
  (void)printf("  %s --profile 980pro --rate 1.9GB/s --filled 1 --output-format=json\n", program);
  (void)printf("  %s --profile 980pro --rate 500MB/s --keep 30min\n", program);
  (void)printf("  %s --profile ./my.profile --rate 1.9GB/s\n", program);
}

static _Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void fail(const char *format, ...) {
  va_list arguments;

  (void)fprintf(stderr, "%s: ", program);
  va_start(arguments, format);
  (void)vfprintf(stderr, format, arguments);
  va_end(arguments);
  (void)fprintf(stderr, "\nSee %s --help.\n", program);
  exit(WRONG);
}

/* ---- options ---- */

static double rate(const char *option, const char *word) {
  double bytes_per_s;

  if (!units_rate(word, &bytes_per_s)) fail("--%s: \"%s\" is not a rate; 2.0GB/s and 900MB/s are", option, word);
  if (bytes_per_s < RATE_MIN || bytes_per_s > RATE_MAX)
    fail("--%s: \"%s\" is not between 1 MB/s and 1 TB/s", option, word);
  return bytes_per_s;
}

static uint64_t size(const char *option, const char *word, uint64_t least, uint64_t most) {
  char least_text[UNITS_TEXT_BYTES], most_text[UNITS_TEXT_BYTES];
  uint64_t bytes;

  if (!units_bytes(word, &bytes)) fail("--%s: \"%s\" is not a size; 500GB and 512MiB are", option, word);
  if (bytes < least || bytes > most)
    fail("--%s: \"%s\" is not between %s and %s", option, word, units_text(least, least_text),
         units_text(most, most_text));
  return bytes;
}

/* A number without a unit. */
static double number(const char *option, const char *word, double least, double most) {
  char *end;
  const double value = strtod(word, &end);

  if (end == word || *end != '\0') fail("--%s: \"%s\" is not a number", option, word);
  if (!(value >= least && value <= most)) fail("--%s: \"%s\" is not between %g and %g", option, word, least, most);
  return value;
}

static void list_profiles(FILE *to) {
  for (unsigned i = 0; sim_profile_at(i); i++)
    (void)fprintf(to, "  %-12s %s\n", sim_profile_at(i)->name, sim_profile_at(i)->model);
}

static const struct sim_profile *profile_named(const char *word) {
  char why[SIM_PROFILE_WHY_BYTES];
  const struct sim_profile *profile = sim_profile_open(word, why);

  if (profile) return profile;
  (void)fprintf(stderr, "%s: %s\n", program, why);
  exit(WRONG);
}

enum {
  PROFILE,
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
  FORMAT,
  LIST
};

static const struct option options[] = {
    {"profile", required_argument, NULL, PROFILE},
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
    {"output-format", required_argument, NULL, FORMAT},
    {"list", no_argument, NULL, LIST},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static uint16_t payload_of(const char *word) {
  const double bytes = number("payload", word, 128, 512);

  if (bytes != 128 && bytes != 256 && bytes != 512) fail("--payload: 128, 256 or 512");
  return (uint16_t)bytes;
}

static uint8_t lanes_of(const char *word) {
  const double lanes = number("lanes", word, 1, 16);

  if (lanes != 1 && lanes != 2 && lanes != 4 && lanes != 8 && lanes != 16) fail("--lanes: 1, 2, 4, 8 or 16");
  return (uint8_t)lanes;
}

static uint64_t whole(const char *option, const char *word, double least, double most) {
  const double value = number(option, word, least, most);

  if (value != floor(value)) fail("--%s: \"%s\" is not a whole number", option, word);
  return (uint64_t)value;
}

#define KEEP_S_MAX 1e9

/* A share of the drive, a time or a size: a number alone could be each. */
static void complete_keep(struct plan *plan) {
  const char *word = plan->keep;
  const bool alone = word[strspn(word, "0123456789.")] == '\0';
  double value;
  uint64_t bytes;

  if (units_percent(word, &value)) {
    if (value < 1 || value > 99) fail("--keep %s is not between 1%% and 99%%", word);
    plan->keep_bytes = (uint64_t)((double)plan->profile->capacity_bytes * value / 100);
  } else if (!alone && units_seconds(word, &value)) {
    if (value < 1 || value > KEEP_S_MAX) fail("--keep %s: keep at least a second, such as 30min", word);
    plan->keep_bytes = (uint64_t)(plan->stream.rate * value);
  } else if (!alone && units_bytes(word, &bytes)) {
    plan->keep_bytes = size("keep", word, PIECE_BYTES_MIN, BYTES_MAX);
  } else {
    fail("--keep \"%s\" is no size, time or share; examples are 500GB, 2h and 90%%", word);
  }
}

static void take_option(struct plan *plan, int option) {
  struct sim_media_stream *stream = &plan->stream;

  switch (option) {
  case PROFILE: plan->profile = profile_named(optarg); break;
  case RATE: stream->rate = rate("rate", optarg); break;
  case BYTES: stream->bytes = size("bytes", optarg, PIECE_BYTES_MIN, BYTES_MAX); break;
  case FILLED:
    stream->filled = number("filled", optarg, 0, 1);
    plan->filled_given = true;
    break;
  case KEEP: plan->keep = optarg; break;
  case RETAIN: plan->retain = true; break;
  case CHECKPOINT: stream->checkpoint_ms = (uint32_t)whole("checkpoint-ms", optarg, 0, 3600000); break;
  case PIECE: stream->piece_bytes = (uint32_t)size("piece", optarg, PIECE_BYTES_MIN, PIECE_BYTES_MAX); break;
  case GENERATION: plan->link.generation = (uint8_t)whole("generation", optarg, 1, 5); break;
  case LANES: plan->link.lanes = lanes_of(optarg); break;
  case PAYLOAD: plan->link.payload_bytes = payload_of(optarg); break;
  case FETCH: plan->link.fetch_mb_per_s = (uint32_t)(rate("fetch", optarg) / 1e6); break;
  case FORMAT:
    if (strcmp(optarg, "json") != 0) fail("--output-format %s: there is only json", optarg);
    plan->json = true;
    break;
  case RING:
    stream->ring_bytes = size("ring", optarg, 1, BYTES_MAX);
    plan->ring_given = true;
    break;
  case LIST: list_profiles(stdout); exit(FITS);
  case 'h': show_help(); exit(FITS);
  default: exit(WRONG); /* getopt has printed the error */
  }
}

static void parse_options(struct plan *plan, int count, char **words) {
  int option;

  while ((option = getopt_long(count, words, "h", options, NULL)) != -1) {
    if (option == '?') {
      (void)fprintf(stderr, "See %s --help.\n", program);
      exit(WRONG);
    }
    take_option(plan, option);
  }
  if (optind < count) fail("\"%s\" is not an option", words[optind]);
  if (plan->keep != NULL && plan->filled_given)
    fail("--filled and --keep: a recording that is kept without end fills the drive. Leave one of them out");
  if (!plan->profile) fail("which drive? --profile NAME; --list shows them");
  if (plan->stream.rate <= 0) fail("how fast is the stream? --rate, as 1.6GB/s");
}

/* ---- computation ---- */

/* A recording that goes round has written every block of the drive, and is not trimmed: it is that of a full drive. */
static void fill_drive(struct plan *plan) {
  const uint64_t capacity_bytes = plan->profile->capacity_bytes;

  complete_keep(plan);
  if (plan->keep_bytes > capacity_bytes)
    fail("--keep %s is %.4g GB at this rate, and the drive has %.0f GB. Keep less, or take a larger drive", plan->keep,
         (double)plan->keep_bytes / 1e9, (double)capacity_bytes / 1e9);
  plan->keep_s = (double)plan->keep_bytes / plan->stream.rate;
  plan->stream.filled = 1;
}

static void complete_options(struct plan *plan) {
  if (plan->keep != NULL) fill_drive(plan);
  const struct sim_profile *profile = plan->profile;
  struct sim_media_stream *stream = &plan->stream;
  const double capacity = (double)profile->capacity_bytes;
  const double room = stream->filled < 1 ? capacity * (1 - stream->filled) : capacity;

  if (plan->link.generation == 0 || plan->link.generation > profile->generation)
    plan->link.generation = profile->generation;
  if (plan->link.lanes == 0 || plan->link.lanes > profile->lanes) plan->link.lanes = profile->lanes;
  stream->link_rate = sim_link_down_max(&plan->link);
  if (stream->rate > stream->link_rate)
    fail("%.2f GB/s do not go over this link: Gen%u x%u at MPS %u carries %.2f GB/s to the drive", stream->rate / 1e9,
         plan->link.generation, plan->link.lanes, plan->link.payload_bytes, stream->link_rate / 1e9);
  if (stream->bytes == 0) stream->bytes = (uint64_t)room;
  if ((double)stream->bytes > room)
    fail("%.1f GB do not fit: %.1f GB are free. --filled 1 writes over a full drive", (double)stream->bytes / 1e9,
         room / 1e9);
  if (stream->piece_bytes > stream->bytes) stream->piece_bytes = (uint32_t)stream->bytes;
}

static void compute(struct plan *plan) {
  const struct sim_profile *profile = plan->profile;
  const struct sim_media_stream *stream = &plan->stream;
  double checkpoint_s;

  sim_media_outlook(&plan->outlook, profile, stream);
  plan->depth = sim_media_depth(profile, stream->link_rate, plan->link.latency_ns, stream->piece_bytes);
  checkpoint_s = stream->checkpoint_ms * 1e-3 + (double)plan->outlook.flush_ps_max * 1e-12;
  plan->loss_bytes = stream->rate * (checkpoint_s + profile->fua_ns * 1e-9) + (double)plan->depth * stream->piece_bytes;
  plan->ring_bytes = plan->outlook.ring_needed_bytes;
  if (plan->retain) plan->ring_bytes += (uint64_t)(stream->rate * checkpoint_s);
}

static bool fits(const struct plan *plan) {
  if (plan->ring_given) return plan->ring_bytes <= plan->stream.ring_bytes;
  return !plan->outlook.falls_behind;
}

static double rate_that_fits(const struct plan *asked) {
  uint64_t fitting = 0, too_fast = (uint64_t)(asked->stream.rate / RATE_STEP) + 1u; /* in steps */

  while (too_fast - fitting > 1u) {
    struct plan plan = *asked;
    const uint64_t between = fitting + (too_fast - fitting) / 2u;
    plan.stream.rate = (double)between * RATE_STEP;
    compute(&plan);
    if (fits(&plan))
      fitting = between;
    else
      too_fast = between;
  }
  return (double)fitting * RATE_STEP;
}

static const char *reason(const struct plan *plan) {
  const struct sim_media_outlook *outlook = &plan->outlook;

  if (outlook->worst_throttled) return "the drive is hot and throttles";
  if (outlook->worst_paused) return "the drive flushes, or writes its own tables";
  switch (outlook->worst) {
  case SIM_MEDIA_SLC: break;
  case SIM_MEDIA_FOLDING: return "the SLC cache has run out and is being folded";
  case SIM_MEDIA_DIRECT:
    return plan->profile->slc_bytes > 0 ? "the SLC cache has run out"
                                        : "the drive has no SLC cache, and its flash takes no more than this";
  case SIM_MEDIA_COLLECTING: return "the drive is full and collects garbage";
  }
  return "requests are on their way";
}

/* ---- output ---- */

static void print_bytes(const char *what, double bytes) {
  static const struct {
    const char *name;
    double worth;
  } binary[] = {{"GiB", 0x1p30}, {"MiB", 0x1p20}, {"KiB", 0x1p10}, {"B", 1}};
  unsigned i = 0;

  while (i < 3 && bytes < binary[i].worth)
    i++;
  (void)printf("%s%.4g %s", what, bytes / binary[i].worth, binary[i].name);
}

static void print_time(const char *what, double seconds) {
  if (seconds >= 120)
    (void)printf("%s%u min %u s", what, (unsigned)seconds / 60, (unsigned)seconds % 60);
  else
    (void)printf("%s%.4g s", what, seconds);
}

static void print_ring(const struct plan *plan) {
  const struct sim_media_outlook *outlook = &plan->outlook;
  const struct sim_media_stream *stream = &plan->stream;

  print_bytes("ring         ", (double)plan->ring_bytes);
  print_time(", fullest after ", outlook->worst_s);
  (void)printf(": %s\n", reason(plan));
  if (outlook->falls_behind)
    (void)printf(
        "             and a longer recording needs more: in the long run this drive is slower than the stream\n");
  if (plan->retain) (void)printf("             includes data that is not flushed yet, which the ring retains\n");
  if (!plan->ring_given) return;
  print_bytes("your ring    ", (double)stream->ring_bytes);
  if (plan->ring_bytes <= stream->ring_bytes)
    (void)printf(" is enough\n");
  else if (isfinite(outlook->sustained_s)) {
    print_time(" overruns after ", outlook->sustained_s);
    (void)printf(" and %.1f GB\n", outlook->sustained_s * stream->rate / 1e9);
  } else {
    (void)printf(" holds the stream, but not the data to be retained as well\n");
  }
}

static void print_rate(const struct plan *plan) {
  const char *what = plan->ring_given ? "your ring holds" : "this drive sustains";

  if (fits(plan)) return;
  if (plan->rate_that_fits > 0)
    (void)printf("what fits    %.2f GB/s is the most that %s\n", plan->rate_that_fits / 1e9, what);
  else
    (void)printf("what fits    nothing: even %.0f MB/s is more than %s\n", RATE_STEP / 1e6, what);
}

#define DAY_S 86400.0

static double drive_writes_per_day(const struct plan *plan) {
  return plan->stream.rate * DAY_S / (double)plan->profile->capacity_bytes;
}

/* How long the drive may take nothing at all without an overrun of the ring. */
static double stall_s(const struct plan *plan) { return (double)plan->outlook.ring_needed_bytes / plan->stream.rate; }

static void print_keep(const struct plan *plan) {
  if (plan->keep_bytes == 0) return;
  print_time("keeps        the last ", plan->keep_s);
  (void)printf(" in %.4g GB\n", (double)plan->keep_bytes / 1e9);
  (void)printf("writes       %.4g TB a day: the whole drive %.3g times a day\n", plan->stream.rate * DAY_S / 1e12,
               drive_writes_per_day(plan));
  if (!plan->outlook.falls_behind)
    (void)printf("stalls       %.3g ms at the longest, which the ring bridges\n", stall_s(plan) * 1e3);
}

static void print_plan(const struct plan *plan) {
  const struct sim_profile *profile = plan->profile;
  const struct sim_media_outlook *outlook = &plan->outlook;
  const struct sim_media_stream *stream = &plan->stream;

  (void)printf("drive        %s, %.0f GB, %.0f %% already written\n", profile->model,
               (double)profile->capacity_bytes / 1e9, stream->filled * 100);
  (void)printf("link         Gen%u x%u, MPS %u: %.2f GB/s to the drive\n", plan->link.generation, plan->link.lanes,
               plan->link.payload_bytes, stream->link_rate / 1e9);
  (void)printf("stream       %.3g GB/s, %.4g GB", stream->rate / 1e9, (double)stream->bytes / 1e9);
  print_time(" in ", (double)stream->bytes / stream->rate);
  (void)printf("\n%s\n", fits(plan) ? "sustained    yes" : "sustained    NO");
  print_keep(plan);
  print_ring(plan);
  print_rate(plan);
  (void)printf("queue depth  %u requests", plan->depth);
  print_bytes(" of ", stream->piece_bytes);
  (void)printf("\n");
  if (isfinite(outlook->edge_s)) {
    print_time("SLC cache    runs out after ", outlook->edge_s);
    (void)printf(" and %.1f GB\n", outlook->edge_s * stream->rate / 1e9);
  }
  if (stream->checkpoint_ms > 0) {
    (void)printf("power cut    %.1f ms at most for a flush", (double)outlook->flush_ps_max * 1e-9);
    print_bytes("; costs at most ", plan->loss_bytes);
    (void)printf("\n");
  }
  (void)printf("temperature  %.0f C at most, with %.3g K/W to air of %.0f C", outlook->temperature_max_c,
               profile->heat_resistance, profile->ambient_c);
  if (outlook->throttled_s > 0)
    print_time("; throttles for ", outlook->throttled_s);
  else
    (void)printf("; throttles at %.0f C", profile->throttle_c);
  (void)printf("\n");
}

static void print_json(const struct plan *plan) {
  const struct sim_media_outlook *outlook = &plan->outlook;
  const struct sim_media_stream *stream = &plan->stream;
  struct json json = {.to = stdout};

  json_open(&json, NULL, '{');
  json_string(&json, "profile", plan->profile->name);
  json_real(&json, "rate_bytes_per_s", stream->rate);
  json_integer(&json, "bytes", stream->bytes);
  json_real(&json, "filled", stream->filled);
  json_real(&json, "link_bytes_per_s", stream->link_rate);
  if (plan->keep_bytes > 0) {
    json_integer(&json, "keep_bytes", plan->keep_bytes);
    json_real(&json, "keep_s", plan->keep_s);
    json_real(&json, "bytes_per_day", stream->rate * DAY_S);
    json_real(&json, "drive_writes_per_day", drive_writes_per_day(plan));
    json_real(&json, "stall_s", stall_s(plan));
  }
  json_bool(&json, "sustained", fits(plan));
  json_bool(&json, "falls_behind", outlook->falls_behind);
  json_integer(&json, "ring_needed_bytes", plan->ring_bytes);
  json_real(&json, "ring_worst_s", outlook->worst_s);
  json_string(&json, "ring_reason", reason(plan));
  if (plan->ring_given) {
    json_integer(&json, "ring_bytes", stream->ring_bytes);
    json_real(&json, "sustained_s", outlook->sustained_s);
  }
  if (!fits(plan)) json_real(&json, "rate_that_fits_bytes_per_s", plan->rate_that_fits);
  json_integer(&json, "piece_bytes", stream->piece_bytes);
  json_integer(&json, "queue_depth", plan->depth);
  json_real(&json, "slc_edge_s", outlook->edge_s);
  json_real(&json, "flush_ms_max", (double)outlook->flush_ps_max * 1e-9);
  json_real(&json, "power_cut_loss_bytes", plan->loss_bytes);
  json_real(&json, "temperature_max_c", outlook->temperature_max_c);
  json_real(&json, "throttled_s", outlook->throttled_s);
  json_close(&json, '}');
}

int plan_run(const char *name, const char *common, int count, char **words) {
  struct plan plan = {
      .link = {.payload_bytes = 256, .read_request_bytes = 512, .latency_ns = 250, .dllp_percent = 2},
      .stream = {.piece_bytes = 512 * 1024, .checkpoint_ms = 500},
  };

  program = name;
  common_options = common;
  parse_options(&plan, count, words);
  complete_options(&plan);
  compute(&plan);
  if (!fits(&plan)) plan.rate_that_fits = rate_that_fits(&plan);
  if (plan.json)
    print_json(&plan);
  else
    print_plan(&plan);
  return fits(&plan) ? FITS : OVERRUNS;
}
