/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line says about every target. A file of its own, because the kinds of targets read it, too. */
#include "target.h"

bool target_bind;
unsigned target_depth;
