/* SPDX-License-Identifier: Apache-2.0 */
/* Says what a recording loses while it loses it, on standard error: how much, when, and why. */
#ifndef SPATE_COMMAND_LOSSES_H
#define SPATE_COMMAND_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

struct session;
struct recording;
struct progress;

/* What was told of one recording. Zeros at the beginning. */
struct losses {
  uint64_t source_bytes, datagrams, drive_bytes, unknown_bytes;
  uint64_t gaps;       /* seconds, not always whole, in which something was lost */
  double told_seconds; /* when the last line was printed */
};

/* What a recording has lost so far: counted by the source, by the kernel, and by the recorder. */
uint64_t losses_bytes(const struct recording *recording);
uint64_t losses_datagrams(const struct recording *recording);

/* Prints a line for each recording that has lost something since its last line: at once, then once a second at most.
 * With `rest` also what this second would hold back. */
void losses_tell(struct session *session, const struct progress *progress, bool rest);

/* Prints a line when the target's file was removed or truncated, or its device is gone. False: continuing is useless.
 */
bool losses_look_at_target(struct session *session, const struct progress *progress);

#endif
