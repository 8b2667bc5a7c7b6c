/* SPDX-License-Identifier: Apache-2.0 */
/* The version, by semantic versioning. It is defined only here: CMake and the tools read these three lines. */
#ifndef SPATE_VERSION_H
#define SPATE_VERSION_H

#define SPATE_VERSION_MAJOR 0
#define SPATE_VERSION_MINOR 1
#define SPATE_VERSION_PATCH 0

/* The same as text: "0.1.0". */
#define SPATE_VERSION SPATE_VERSION_OF(SPATE_VERSION_MAJOR, SPATE_VERSION_MINOR, SPATE_VERSION_PATCH)

#define SPATE_VERSION_OF(major, minor, patch)   SPATE_VERSION_TEXT(major, minor, patch)
#define SPATE_VERSION_TEXT(major, minor, patch) #major "." #minor "." #patch

#endif
