/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"
#include "units.h"

#include <getopt.h>
#include <math.h>
#include <spate/dma.h>
#include <stdlib.h>
#include <string.h>

/* ---- processors ---- */

#define HOSTS 4u

/* The cost under Linux differs by size and way of writing. The caller knows it (bench/lab/kernel.py), and that of a
 * board (bench/lab/boards.py). An instruction of the host `board` takes a picosecond: its costs are times. */
#define PS_PER_NS 1000u
static const struct lab_host *hosts(void) {
  static struct lab_host table[HOSTS] = {
      {.name = "a53", .what = "Cortex-A53, 1.2 GHz, this library on bare metal"},
      {.name = "linux",
       .what = "Linux, at --command-ns a command",
       .cost = {.clock_mhz = 1000,
                .instructions_per_100_cycles = 100,
                .poll_instructions = 100,
                .write_ns = 40,
                .read_ns = 40}},
      {.name = "board",
       .what = "a board, at the times of the options --cpu-...",
       .cost = {.clock_mhz = 1000, .instructions_per_100_cycles = PS_PER_NS * 100u, .read_ns = 250}},
      {.name = "none", .what = "no processor cost, as with logic"},
  };

  table[0].cost = sim_host_a53;
  return table;
}

static const struct lab_host *host_find(const char *name) {
  for (unsigned i = 0; i < HOSTS; i++)
    if (strcmp(hosts()[i].name, name) == 0) return &hosts()[i];
  lab_fail("there is no host \"%s\": a53, linux, board or none", name);
}

/* ---- values ---- */

/* A share or a temperature has no unit. A size or a rate may have one. */
static double number(const char *name, const char *word) {
  double value;

  if (!units_rate(word, &value))
    lab_fail("--%s \"%s\": not a number, with a unit (500MB, 8GiB, 1.8GB/s) or without", name, word);
  return value;
}

static uint64_t whole(const char *name, const char *word) {
  double value = number(name, word);

  if (value > 9e15) lab_fail("--%s \"%s\": too large", name, word);
  return (uint64_t)llround(value);
}

/* ---- the table ---- */

enum kind { TEXT, WHOLE, REAL, FLAG, HOST };

struct field {
  const char *name;
  size_t offset;
  enum kind kind;
};

#define FIELD(name, member, kind)                                                                                      \
  { name, offsetof(struct lab_options, member), kind }

static const struct field fields[] = {
    FIELD("profile", profile, TEXT),
    FIELD("host", host, HOST),
    FIELD("command-ns", command_ns, WHOLE),
    FIELD("cpu-submit-ps", submit_ps, WHOLE),
    FIELD("cpu-complete-ps", complete_ps, WHOLE),
    FIELD("cpu-doorbell-ns", doorbell_ns, WHOLE),
    FIELD("cpu-push-ps", push_ps, WHOLE),
    FIELD("cpu-turn-ps", turn_ps, WHOLE),
    FIELD("cpu-piece-ps", piece_ps, WHOLE),
    FIELD("cpu-checkpoint-ps", checkpoint_ps, WHOLE),
    FIELD("seed", seed, WHOLE),
    FIELD("gen", generation, WHOLE),
    FIELD("lanes", lanes, WHOLE),
    FIELD("mps", payload_bytes, WHOLE),
    FIELD("mrrs", read_request_bytes, WHOLE),
    FIELD("link-percent", link_percent, WHOLE),
    FIELD("fetch", fetch_rate, REAL),
    FIELD("drives", drives, WHOLE),
    FIELD("chunk", chunk_bytes, WHOLE),
    FIELD("filled", filled, REAL),
    FIELD("celsius", celsius, REAL),
    FIELD("ambient", ambient, REAL),
    FIELD("op", op, TEXT),
    FIELD("block", block_bytes, WHOLE),
    FIELD("depth", depth, WHOLE),
    FIELD("bytes", bytes, WHOLE),
    FIELD("turn", turn_bytes, WHOLE),
    FIELD("samples", samples, WHOLE),
    FIELD("file", file_bytes, WHOLE),
    FIELD("cluster", cluster_bytes, WHOLE),
    FIELD("ring", ring_bytes, WHOLE),
    FIELD("checkpoint-ms", checkpoint_ms, WHOLE),
    FIELD("read-back", read_back, FLAG),
    FIELD("verify", verify, FLAG),
    FIELD("keep", keep_bytes, WHOLE),
    FIELD("rate", rate, REAL),
    FIELD("slow-rate", slow_rate, REAL),
    FIELD("react-ms", react_ms, WHOLE),
    FIELD("format", format, TEXT),
    FIELD("expand", expand, FLAG),
    FIELD("sync-ms", sync_ms, WHOLE),
};

#define FIELDS (sizeof fields / sizeof fields[0])

static void *member(struct lab_options *options, const struct field *field) {
  return (uint8_t *)options + field->offset;
}

static void set(struct lab_options *options, const struct field *field, const char *word) {
  void *to = member(options, field);

  switch (field->kind) {
  case TEXT: *(const char **)to = word; break;
  case WHOLE: *(uint64_t *)to = whole(field->name, word); break;
  case REAL: *(double *)to = number(field->name, word); break;
  case FLAG: *(bool *)to = true; break;
  case HOST: *(const struct lab_host **)to = host_find(word); break;
  }
}

/* The times of the host `board` belong to the recorder: the requests of `raw` would leave out the largest of them. */
static void check_board(const struct lab_options *options) {
  const bool times =
      options->submit_ps > 0 && options->complete_ps > 0 && options->turn_ps > 0 && options->piece_ps > 0;
  const uint64_t sum = options->submit_ps | options->complete_ps | options->doorbell_ns | options->push_ps |
                       options->turn_ps | options->piece_ps | options->checkpoint_ps;
  const bool board = strcmp(options->host->name, "board") == 0;

  if (!board && sum > 0) lab_fail("--cpu-...: only with --host board");
  if (board && !times)
    lab_fail("--host board: needs --cpu-submit-ps, --cpu-complete-ps, --cpu-turn-ps and --cpu-piece-ps");
  if (sum > UINT32_MAX) lab_fail("--cpu-...: must be below 4 ms");
  if (board && strcmp(options->experiment, "files") != 0) lab_fail("--host board: only for the experiment files");
}

static void check(const struct lab_options *options) {
  const uint64_t block_bytes = options->block_bytes;
  const bool part_of_a_page = block_bytes == 512u || block_bytes == 1024u || block_bytes == 2048u;

  if (block_bytes == 0 || (block_bytes % SPATE_PAGE_BYTES != 0 && !part_of_a_page))
    lab_fail("--block: must be a multiple of %u, or 512, 1024 or 2048", SPATE_PAGE_BYTES);
  if (part_of_a_page && strcmp(options->op, "alternate") == 0)
    lab_fail("--block: must be at least %u bytes with --op alternate, which compares pages", SPATE_PAGE_BYTES);
  if ((strcmp(options->host->name, "linux") == 0) != (options->command_ns > 0))
    lab_fail("--command-ns: is required with --host linux, and not allowed with other hosts");
  check_board(options);
  if (options->depth == 0) lab_fail("--depth: at least 1");
  if (options->drives == 0 || options->drives > SIM_DRIVES_MAX) lab_fail("--drives: 1 to %u", SIM_DRIVES_MAX);
  if (options->bytes < options->block_bytes) lab_fail("--bytes: at least one block");
  if (options->filled > 1) lab_fail("--filled: must be a share from 0 to 1");
  if (options->samples == 0) lab_fail("--samples: at least 1");
  if (options->keep_bytes > 0 && strcmp(options->experiment, "files") != 0)
    lab_fail("--keep: only for the experiment files");
  if (options->keep_bytes > 0 && options->read_back)
    lab_fail("--keep: its parts are not read back, but --verify walks them");
  if (options->ring_bytes < 2 * options->block_bytes) lab_fail("--ring: at least two blocks");
}

void lab_options_parse(struct lab_options *options, int count, char **words) {
  struct option table[FIELDS + 1];

  *options = (struct lab_options){.profile = "ideal",
                                  .host = host_find("a53"),
                                  .seed = 1,
                                  .payload_bytes = 256,
                                  .read_request_bytes = 512,
                                  .link_percent = 2,
                                  .drives = 1,
                                  .op = "write",
                                  .block_bytes = UINT64_C(1) << 20,
                                  .depth = 16,
                                  .bytes = UINT64_C(8) << 30,
                                  .turn_bytes = UINT64_C(128) << 20,
                                  .samples = 100,
                                  .file_bytes = UINT64_C(16) << 30,
                                  .cluster_bytes = UINT64_C(1) << 20,
                                  .ring_bytes = UINT64_C(64) << 20,
                                  .checkpoint_ms = 500,
                                  .react_ms = 200,
                                  .format = "exfat"};
  for (size_t i = 0; i < FIELDS; i++)
    table[i] = (struct option){.name = fields[i].name, .has_arg = fields[i].kind == FLAG ? 0 : 1};
  table[FIELDS] = (struct option){0};
  for (;;) {
    int index = 0;
    int got = getopt_long(count, words, "", table, &index);
    if (got == -1) break;
    if (got != 0) exit(2); /* getopt has printed the error */
    set(options, &fields[index], optarg);
  }
  if (optind + 1 != count) lab_fail("usage: EXPERIMENT --option value ...: one experiment, not %d", count - optind);
  options->experiment = words[optind];
  check(options);
}

void lab_options_write(const struct lab_options *options, struct json *json) {
  struct lab_options copy = *options;

  json_open(json, "options", '{');
  for (size_t i = 0; i < FIELDS; i++) {
    const void *from = member(&copy, &fields[i]);
    switch (fields[i].kind) {
    case TEXT: json_string(json, fields[i].name, *(const char *const *)from); break;
    case WHOLE: json_integer(json, fields[i].name, *(const uint64_t *)from); break;
    case REAL: json_real(json, fields[i].name, *(const double *)from); break;
    case FLAG: json_bool(json, fields[i].name, *(const bool *)from); break;
    case HOST: json_string(json, fields[i].name, (*(const struct lab_host *const *)from)->name); break;
    }
  }
  json_close(json, '}');
}
