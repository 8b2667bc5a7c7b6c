/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a volume's user may rely on, and from which event on. The promises follow from what the library told its caller.
 * They are kept by path, and compared with the volume that a cut has left.
 */
#ifndef SPATE_TESTS_PROMISES_H
#define SPATE_TESTS_PROMISES_H

#include "exfat_oracle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROMISE_PATH_BYTES_MAX 600u
#define PROMISE_CHANGES_MAX    8u

enum presence { ABSENT, PRESENT, EITHER };

/* A file's expected bytes: all data of its source, in order. A file may hold less. */
struct content {
  struct content *next;
  uint8_t *bytes;
  uint64_t size, capacity;
  /* The progress of a file's contents, after each event that changed it. */
  struct content_step {
    uint64_t since, ticks;
    uint64_t pushed_bytes, completed_bytes;
  } * steps;
  size_t step_count, step_capacity;
};

void content_put(struct content *content, uint64_t offset, const uint8_t *bytes, uint64_t count);
/* Recorded only if it differs from the last step. */
void content_step(struct content *content, struct content_step step);

struct promise {
  uint64_t since; /* from this event on, until the path's next promise */
  enum presence presence;
  uint64_t bytes_min, bytes_max;
  struct content *content; /* NULL: any contents */
  uint32_t twin;           /* EITHER: exactly one of this path and the twin exists; UINT32_MAX: none */
  uint32_t folder;         /* EITHER: this path exists exactly if that one is a directory; UINT32_MAX: none */
  bool joins;              /* it is still a directory, or a file with this content */
};

struct promised_path {
  char path[PROMISE_PATH_BYTES_MAX];
  struct promise *promises;
  size_t count, capacity;
};

/* What the cuts at all events cost, in bytes pushed and not in the file. */
struct promise_loss {
  uint64_t states, bytes_sum, bytes_max;
  uint64_t broken_short;   /* states with less in a file than was promised, or without the file */
  uint64_t broken_foreign; /* ... with bytes in a file that are not its source's */
  uint64_t broken_volume;  /* ... with an inconsistent volume */
  uint64_t unmountable;
};

struct promises {
  struct promised_path *paths;
  uint32_t path_count, path_capacity;
  const char *changes[PROMISE_CHANGES_MAX]; /* files whose bytes are not promised */
  uint32_t change_count;
  struct content *contents;
  /* A byte that had completed this long before the cut is in the file; UINT64_MAX: not promised. */
  uint64_t window_ticks;
  uint64_t *ticks; /* of each event */
  size_t tick_count, tick_capacity;
  /* What a PC did since the cut: it renamed, moved or deleted (`to` empty) a file, or a directory with all that is in
   * it, and wrote a file. Empty: nothing. */
  struct promise_by_pc {
    char from[1024], to[1024], written[1024]; /* as long as the oracle's */
    uint64_t marks_clean;                     /* 1: it marked the volume clean, which still has to be recovered */
    uint64_t formats;                         /* 1: it formatted the volume */
  } by_pc;
  char broken[512]; /* the first broken promise of the current state; empty: none */
  struct promise_loss loss;
  bool short_of, foreign; /* of the current state */
};

void promises_free(struct promises *promises);
struct content *promises_content(struct promises *promises);

/* The last promise of a path, or NULL. */
const struct promise *promises_last(const struct promises *promises, const char *path);
/* The bytes of this file change in place. */
void promises_changes(struct promises *promises, const char *path);
void promises_add(struct promises *promises, const char *path, struct promise promise);
/* A file or directory, with everything below it, has one of two names, and later the second. */
void promises_moving(struct promises *promises, uint64_t since, const char *from, const char *to);
void promises_moved(struct promises *promises, uint64_t since, const char *from, const char *to);
/* The files of a folder, which were created in the order of the promises, become one file. At any instant all of them
 * are there, or the file with all their bytes; later the file. */
void promises_joining(struct promises *promises, uint64_t since, const char *folder);
void promises_joined(struct promises *promises, uint64_t since, const char *folder);
void promises_tick(struct promises *promises, uint64_t event, uint64_t ticks);

/* A hash of everything that a state after event `at` is compared with. Equal: the same verdict on the same image. */
uint64_t promises_hash(const struct promises *promises, uint64_t at);

__attribute__((format(printf, 2, 3))) void promises_broken(struct promises *promises, const char *format, ...);

/* Compare what was read with all promises of event `at`, and check that nothing else exists. Before recovery a renamed
 * file may exist under both names. */
void promises_check(struct promises *promises, const struct oracle *oracle, uint64_t at, bool recovered);

#endif
