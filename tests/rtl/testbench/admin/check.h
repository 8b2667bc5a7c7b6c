// SPDX-License-Identifier: Apache-2.0
//
// Checks that throw Failure with a message.
#ifndef SPATE_ADMIN_CHECK_H
#define SPATE_ADMIN_CHECK_H

#include "failure.h"

#include <cinttypes>
#include <cstdint>

namespace testbench {

[[noreturn]] void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The message has both numbers.
template <typename Seen, typename Wanted> void expect(const char *what, Seen seen, Wanted wanted) {
  if (static_cast<uint64_t>(seen) != static_cast<uint64_t>(wanted))
    fail("%s is 0x%" PRIx64 ", not 0x%" PRIx64, what, static_cast<uint64_t>(seen), static_cast<uint64_t>(wanted));
}
// The message has the first field that differs. `Record` is a struct of records_fields.h.
template <typename Record> void expect_record(const char *what, const Record &seen, const Record &wanted) {
  if (const char *field = seen.differs(wanted)) fail("%s: another %s", what, field);
}

} // namespace testbench

#endif
