/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers that have to wait: each stream keeps its span once, as soon as it can, and what nothing is kept of is told.
 * The test takes the place of the loops, the volume and those who ask. */
#include <spate/loop.h>

#include <string.h>

#define STREAMS   2u
#define CALLS_MAX 64u

static struct {
  double now_s;
  unsigned requests;                 /* that have not been taken yet */
  int client;                        /* of these */
  enum spate_error answers[STREAMS]; /* of the loops */
  bool open[STREAMS];                /* a span is */
  unsigned taken;                    /* names up to this number exist */
  unsigned looks;
  struct {
    unsigned stream;
    char path[SPATE_RECORDER_PATH_BYTES_MAX];
    uint64_t before_ms, after_ms;
  } calls[CALLS_MAX];
  unsigned count;
  char reply[32768];
  bool done;
} world;

static enum spate_error fake_trigger(struct spate_loop *loop, const char *path, uint64_t before_ms, uint64_t after_ms,
                                     bool *extended);
static enum spate_error fake_stat(struct spate_exfat *volume, const char *path, struct spate_exfat_entry *entry);
#define spate_loop_trigger fake_trigger
#define spate_exfat_stat   fake_stat
#include "../../linux/command/recording/reply.c"
#include "../../linux/command/recording/triggers.c"
#include "../../linux/command/text/fail.c"
#include "../../linux/command/text/failure.c"
#include "../../linux/command/text/json.c"
#include "../../linux/command/text/stamp.c"
#undef spate_loop_trigger
#undef spate_exfat_stat

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static struct session session;
enum progress_style progress_style = PROGRESS_JSON;

double progress_seconds(const struct progress *progress) {
  (void)progress;
  return world.now_s;
}

void progress_clear(const struct progress *progress) { (void)progress; }

static enum spate_error fake_trigger(struct spate_loop *loop, const char *path, uint64_t before_ms, uint64_t after_ms,
                                     bool *extended) {
  const unsigned stream = loop == &session.recordings[0].looping.loop ? 0 : 1;

  assert_true(world.count < CALLS_MAX);
  world.calls[world.count].stream = stream;
  world.calls[world.count].before_ms = before_ms;
  world.calls[world.count].after_ms = after_ms;
  (void)snprintf(world.calls[world.count].path, sizeof world.calls[0].path, "%s", path);
  world.count++;
  *extended = world.open[stream];
  return world.answers[stream];
}

/* Of event.raw, event_2.raw and so on. */
static enum spate_error fake_stat(struct spate_exfat *volume, const char *path, struct spate_exfat_entry *entry) {
  unsigned number = 1;

  (void)volume;
  world.looks++;
  *entry = (struct spate_exfat_entry){.bytes = 1};
  (void)sscanf(path, "event_%u", &number);
  return number <= world.taken ? SPATE_OK : SPATE_E_NOT_FOUND;
}

enum spate_error folders_make(struct folders *folders, struct spate_exfat *volume, const char *path) {
  (void)folders;
  (void)volume;
  (void)path;
  fail_msg("no folder is missing");
  return SPATE_OK;
}

bool control_signalled(struct control *control) {
  (void)control;
  return false;
}

bool control_next(struct control *control, double now_s, struct control_request *request) {
  (void)control;
  (void)now_s;
  *request = (struct control_request){.kind = CONTROL_TRIGGER, .client = world.client};
  if (world.requests == 0) return false;
  world.requests--;
  return true;
}

void control_reply(const struct control_request *request, bool done, const char *text) {
  (void)request;
  world.done = done;
  (void)snprintf(world.reply, sizeof world.reply, "%s", text);
}

/* ---- */

static int standard_error;

/* What is told from here on: standard error goes to a file. */
static void listen_to(FILE *to) {
  (void)fflush(stderr);
  standard_error = dup(STDERR_FILENO);
  assert_true(standard_error >= 0 && dup2(fileno(to), STDERR_FILENO) >= 0);
}

static void read_told(FILE *from, char *told, size_t bytes) {
  (void)fflush(stderr);
  assert_true(dup2(standard_error, STDERR_FILENO) >= 0 && close(standard_error) == 0);
  assert_int_equal(fseek(from, 0, SEEK_SET), 0);
  told[fread(told, 1, bytes - 1u, from)] = '\0';
  (void)fclose(from);
}

static int set_up(void **state) {
  static const char *const paths[STREAMS] = {"left.raw", "right.raw"};

  (void)state;
  memset(&world, 0, sizeof world);
  memset(&session, 0, sizeof session);
  world.client = 7;
  session.count = STREAMS;
  session.loops.before_ms = 60000;
  session.loops.after_ms = 10000;
  for (unsigned i = 0; i < STREAMS; i++)
    (void)snprintf(session.recordings[i].path, sizeof session.recordings[i].path, "%s", paths[i]);
  return 0;
}

static void turn(double now_s) {
  world.now_s = now_s;
  world.count = 0;
  triggers_work(&session);
}

static struct reply reply_of(unsigned stream) {
  char *text = world.reply;
  struct reply reply = {0};

  for (unsigned i = 0; i <= stream; i++)
    assert_true(reply_take(&text, &reply));
  return reply;
}

static void a_stream_that_has_to_wait_keeps_the_same_span_later_and_the_other_one_does_not_keep_it_twice(void **state) {
  (void)state;
  world.requests = 1;
  world.answers[1] = SPATE_E_BUSY;
  turn(1);
  assert_int_equal(world.count, 2);
  assert_true(world.done);
  char copy[sizeof world.reply];
  memcpy(copy, world.reply, sizeof copy);
  const struct reply left = reply_of(0);
  assert_int_equal(left.state, REPLY_KEPT);
  assert_string_equal(left.path, world.calls[0].path);
  memcpy(world.reply, copy, sizeof copy);
  assert_int_equal(reply_of(1).state, REPLY_WAITING);

  turn(2);
  assert_int_equal(world.count, 1);
  assert_int_equal(world.calls[0].stream, 1);
  world.answers[1] = SPATE_OK;
  turn(4);
  assert_int_equal(world.count, 1);
  assert_int_equal(world.calls[0].before_ms, 63000);
  assert_int_equal(world.calls[0].after_ms, 7000);
  turn(5);
  assert_int_equal(world.count, 0);
  assert_int_equal(session.recordings[0].looping.unkept + session.recordings[1].looping.unkept, 0);
}

/* A name says when the trigger came, not when there was room for it. */
static void a_name_is_that_of_the_triggers_time(void **state) {
  char wanted[64];

  (void)state;
  session.loops.waiting[0] = (struct trigger){.time = 86400, .streams = 1};
  session.loops.waiting_count = 1;
  turn(1);
  assert_int_equal(world.count, 1);
  assert_null(stamp_name("left_%Y%m%dT%H%M%SZ.raw", 86400, wanted, sizeof wanted));
  assert_string_equal(world.calls[0].path, wanted);
}

static void an_error_of_a_trigger_that_waited_is_told(void **state) {
  char told[4096];
  FILE *file = tmpfile();

  (void)state;
  world.requests = 1;
  world.answers[1] = SPATE_E_NO_SPACE;
  turn(1);
  world.answers[1] = SPATE_E_MEDIA;
  listen_to(file);
  turn(2);
  read_told(file, told, sizeof told);
  assert_non_null(strstr(told, "spate: right.raw: the trigger keeps nothing: MEDIA"));
  assert_non_null(strstr(told, "\"event\": \"not_kept\",\"what\": \"right.raw\""));
  assert_null(strstr(told, "left.raw"));
  assert_int_equal(session.recordings[1].looping.unkept, 1);
  turn(3);
  assert_int_equal(world.count, 0);
}

static void a_trigger_that_waits_until_the_end_is_told(void **state) {
  char told[4096];
  FILE *file = tmpfile();

  (void)state;
  world.requests = 1;
  world.answers[0] = world.answers[1] = SPATE_E_NO_SPACE;
  turn(1);
  world.answers[0] = SPATE_OK; /* in time */
  listen_to(file);
  triggers_end(&session);
  read_told(file, told, sizeof told);
  assert_non_null(strstr(told, "right.raw: the trigger keeps nothing: NO_SPACE. The recording ended while it waited"));
  assert_null(strstr(told, "left.raw"));
  assert_int_equal(session.recordings[0].looping.unkept, 0);
  assert_int_equal(session.recordings[1].looping.unkept, 1);
}

static void a_trigger_that_comes_with_the_end_is_taken(void **state) {
  (void)state;
  world.requests = 3;
  triggers_end(&session);
  assert_int_equal(world.count, 3u * STREAMS);
  assert_true(world.done);
}

static void more_triggers_than_can_wait_are_refused(void **state) {
  (void)state;
  world.answers[0] = world.answers[1] = SPATE_E_BUSY;
  for (unsigned i = 0; i <= LOOPS_WAITING_MAX; i++) {
    world.requests = 1;
    turn(i + 1.0);
    assert_int_equal(world.done, i < LOOPS_WAITING_MAX);
  }
  assert_string_equal(reply_of(1).error, "BUSY");
  assert_int_equal(session.recordings[0].looping.unkept, 0); /* the client was told */
}

/* A thousand files of earlier runs, and then one after the other. */
static void a_free_name_takes_few_looks(void **state) {
  (void)state;
  session.count = 1;
  session.loops.event = "event.raw";
  world.taken = 1000;
  world.requests = 1;
  turn(1);
  assert_string_equal(world.calls[0].path, "event_1001.raw");
  assert_true(world.looks <= 22);
  for (unsigned number = 1001; number < 1100; number++) {
    world.taken = number;
    world.looks = 0;
    world.requests = 1;
    turn(number);
    assert_int_equal(world.looks, 1);
  }
  assert_string_equal(world.calls[0].path, "event_1100.raw");
}

static void only_the_event_is_a_pattern(void **state) {
  (void)state;
  session.count = 1;
  (void)snprintf(session.recordings[0].path, sizeof session.recordings[0].path, "a.b/50%%Y");
  session.loops.waiting[0] = (struct trigger){.time = 0, .streams = 1};
  session.loops.waiting_count = 1;
  turn(1);
  assert_string_equal(world.calls[0].path, "a.b/50%Y_19700101T000000Z");
  session.loops.event = "50%%_%Y.raw";
  session.loops.waiting[0] = (struct trigger){.time = 0, .streams = 1};
  session.loops.waiting_count = 1;
  turn(2);
  assert_string_equal(world.calls[0].path, "50%_1970.raw");
}

static void all_replies_fit(void **state) {
  char text[CONTROL_TEXT_BYTES] = "", path[SPATE_RECORDER_PATH_BYTES_MAX];
  size_t longest = 0;

  (void)state;
  for (unsigned i = 0; i < SPATE_E_COUNT; i++) {
    const enum spate_error error = (enum spate_error)i;
    const size_t bytes = strlen(spate_error_name(error)) + strlen(spate_error_help(error));
    if (bytes > longest) longest = bytes;
  }
  assert_true(longest + sizeof "extended\t\t\t\t\t\n" <= 512);
  memset(path, 'p', sizeof path - 1u);
  path[sizeof path - 1u] = '\0';
  for (unsigned i = 0; i < SPATE_STREAMS_MAX; i++)
    reply_put(text, &(struct reply){.state = REPLY_FAILED, .stream = path, .path = path, .error = "E", .help = "help"});
  char *rest = text;
  struct reply reply;
  for (unsigned i = 0; i < SPATE_STREAMS_MAX; i++) {
    assert_true(reply_take(&rest, &reply));
    assert_string_equal(reply.path, path);
    assert_string_equal(reply.help, "help");
  }
  assert_false(reply_take(&rest, &reply));
}

static void what_is_no_reply_is_not_taken(void **state) {
  static const char *const wrong[] = {
      "", "kept", "kept\n", "kept\ta\tb\tc\td\n", "lost\ta\tb\tc\td\t\n", "kept\ta\tb\tc\td\t"};

  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char text[64];
    char *rest = text;
    struct reply reply;
    (void)snprintf(text, sizeof text, "%s", wrong[i]);
    assert_false(reply_take(&rest, &reply));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(
          a_stream_that_has_to_wait_keeps_the_same_span_later_and_the_other_one_does_not_keep_it_twice, set_up),
      cmocka_unit_test_setup(a_name_is_that_of_the_triggers_time, set_up),
      cmocka_unit_test_setup(an_error_of_a_trigger_that_waited_is_told, set_up),
      cmocka_unit_test_setup(a_trigger_that_waits_until_the_end_is_told, set_up),
      cmocka_unit_test_setup(a_trigger_that_comes_with_the_end_is_taken, set_up),
      cmocka_unit_test_setup(more_triggers_than_can_wait_are_refused, set_up),
      cmocka_unit_test_setup(a_free_name_takes_few_looks, set_up),
      cmocka_unit_test_setup(only_the_event_is_a_pattern, set_up),
      cmocka_unit_test_setup(all_replies_fit, set_up),
      cmocka_unit_test_setup(what_is_no_reply_is_not_taken, set_up),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
