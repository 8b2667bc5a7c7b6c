// SPDX-License-Identifier: Apache-2.0
#include "check.h"

#include <cstdarg>
#include <cstdio>
#include <string>

namespace testbench {

namespace {

std::string formatted(const char *format, std::va_list values) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, values);
  return text;
}

} // namespace

void fail(const char *format, ...) {
  std::va_list values;
  va_start(values, format);
  const std::string text = formatted(format, values);
  va_end(values);
  throw Failure(text);
}

void check(bool holds, const char *format, ...) {
  if (holds) return;
  std::va_list values;
  va_start(values, format);
  const std::string text = formatted(format, values);
  va_end(values);
  throw Failure(text);
}

} // namespace testbench
