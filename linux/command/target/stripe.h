/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several targets as one: RAID 0 in the layout of Linux md. target.c opens the members and closes them, because it
 * knows the kinds of targets.
 */
#ifndef SPATE_COMMAND_STRIPE_H
#define SPATE_COMMAND_STRIPE_H

#include "target.h"

#include <spate/stripe.h>

struct stripe_names {
  char names[SPATE_STRIPE_MEMBERS_MAX][512];
  unsigned count;
};

/* Splits A,B,... into the names of the members. Ends the program if these cannot be members of one stripe. `name`: the
 * target's, for messages. */
void stripe_split(struct stripe_names *names, const char *name, const char *words);

/* Makes one target of its members, which are open. Closing it closes no member. */
void stripe_open(struct target *target, enum target_access access);

#endif
