/* SPDX-License-Identifier: Apache-2.0 */
#include "print.h"

#include "../board.h"
#include <string.h>

struct output {
  void (*emit)(void *context, const char *text, size_t bytes);
  void *context;
  size_t bytes;
};

struct field {
  bool left, zero, plus;
  size_t width;
  size_t precision;
  bool has_precision;
  uint8_t value_bytes; /* of an integer argument */
};

static void put(struct output *out, const char *text, size_t bytes) {
  if (bytes) out->emit(out->context, text, bytes);
  out->bytes += bytes;
}

static void pad(struct output *out, char with, size_t count) {
  char run[16];
  memset(run, with, sizeof run);
  for (; count > sizeof run; count -= sizeof run) put(out, run, sizeof run);
  put(out, run, count);
}

static void put_text(struct output *out, const struct field *field, const char *text) {
  size_t bytes = 0;
  while ((!field->has_precision || bytes < field->precision) && text[bytes]) bytes++;
  size_t blanks = field->width > bytes ? field->width - bytes : 0;
  if (!field->left) pad(out, ' ', blanks);
  put(out, text, bytes);
  if (field->left) pad(out, ' ', blanks);
}

static void put_number(struct output *out, const struct field *field, uint64_t value, const char *sign, unsigned base,
                       const char *digits) {
  char text[20];
  size_t length = 0;
  for (; value; value /= base) text[sizeof text - ++length] = digits[value % base];

  size_t least = field->has_precision ? field->precision : 1;
  size_t signs = strlen(sign);
  size_t zeros = least > length ? least - length : 0;
  size_t all = signs + zeros + length;
  size_t blanks = field->width > all ? field->width - all : 0;
  if (field->zero && !field->left && !field->has_precision) {
    zeros += blanks;
    blanks = 0;
  }
  if (!field->left) pad(out, ' ', blanks);
  put(out, sign, signs);
  pad(out, '0', zeros);
  put(out, text + sizeof text - length, length);
  if (field->left) pad(out, ' ', blanks);
}

static const char *parse_count(const char *at, size_t *count, va_list *arguments) {
  *count = 0;
  if (*at == '*') {
    int value = va_arg(*arguments, int);
    *count = value > 0 ? (size_t)value : 0;
    return at + 1;
  }
  for (; *at >= '0' && *at <= '9'; at++) *count = *count * 10 + (size_t)(*at - '0');
  return at;
}

static const char *parse_field(const char *at, struct field *field, va_list *arguments) {
  *field = (struct field){.value_bytes = sizeof(int)};
  for (;; at++) {
    if (*at == '-') field->left = true;
    else if (*at == '0') field->zero = true;
    else if (*at == '+') field->plus = true;
    else break;
  }
  at = parse_count(at, &field->width, arguments);
  if (*at == '.') {
    field->has_precision = true;
    at = parse_count(at + 1, &field->precision, arguments);
  }
  for (; *at == 'h'; at++) continue; /* promoted to int, and printed as it was given */
  if (at[0] == 'l' && at[1] == 'l') return field->value_bytes = sizeof(long long), at + 2;
  if (*at == 'l') return field->value_bytes = sizeof(long), at + 1;
  if (*at == 'z' || *at == 't') return field->value_bytes = sizeof(size_t), at + 1;
  if (*at == 'j') return field->value_bytes = sizeof(intmax_t), at + 1;
  return at;
}

static uint64_t take_unsigned(const struct field *field, va_list *arguments) {
  return field->value_bytes == sizeof(unsigned) ? va_arg(*arguments, unsigned) : va_arg(*arguments, uint64_t);
}

static int64_t take_signed(const struct field *field, va_list *arguments) {
  return field->value_bytes == sizeof(int) ? va_arg(*arguments, int) : va_arg(*arguments, int64_t);
}

/* One conversion; false: not one of ours. */
static bool convert(struct output *out, const struct field *field, char kind, va_list *arguments) {
  static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
  switch (kind) {
  case 'c': {
    char one = (char)va_arg(*arguments, int);
    struct field single = *field;
    single.has_precision = false;
    put_text(out, &single, (char[2]){one, 0});
    return true;
  }
  case 's': put_text(out, field, va_arg(*arguments, const char *)); return true;
  case 'u': put_number(out, field, take_unsigned(field, arguments), "", 10, lower); return true;
  case 'x': put_number(out, field, take_unsigned(field, arguments), "", 16, lower); return true;
  case 'X': put_number(out, field, take_unsigned(field, arguments), "", 16, upper); return true;
  case 'p': put_number(out, field, (uintptr_t)va_arg(*arguments, void *), "0x", 16, lower); return true;
  case 'd':
  case 'i': {
    int64_t value = take_signed(field, arguments);
    const char *sign = value < 0 ? "-" : field->plus ? "+" : "";
    put_number(out, field, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, sign, 10, lower);
    return true;
  }
  case '%': put(out, "%", 1); return true;
  default: return false;
  }
}

size_t print_format(void (*emit)(void *context, const char *text, size_t bytes), void *context, const char *format,
                    va_list arguments) {
  struct output out = {emit, context, 0};
  va_list remaining;
  va_copy(remaining, arguments);
  while (*format) {
    size_t plain = 0;
    while (format[plain] && format[plain] != '%') plain++;
    put(&out, format, plain);
    format += plain;
    if (!*format) break;
    struct field field;
    const char *kind = parse_field(format + 1, &field, &remaining);
    if (*kind && convert(&out, &field, *kind, &remaining)) {
      format = kind + 1;
    } else {
      put(&out, format, (size_t)(kind - format));
      format = kind;
    }
  }
  va_end(remaining);
  return out.bytes;
}

static void emit_to_board(void *context, const char *text, size_t bytes) {
  (void)context;
  board_write(text, bytes);
}

void print(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)print_format(emit_to_board, NULL, format, arguments);
  va_end(arguments);
}

struct buffer {
  char *text;
  size_t left; /* without the NUL */
};

static void emit_to_buffer(void *context, const char *text, size_t bytes) {
  struct buffer *buffer = context;
  if (bytes > buffer->left) bytes = buffer->left;
  memcpy(buffer->text, text, bytes);
  buffer->text += bytes;
  buffer->left -= bytes;
}

size_t print_into(char *text, size_t bytes, const char *format, ...) {
  struct buffer buffer = {text, bytes ? bytes - 1 : 0};
  va_list arguments;
  va_start(arguments, format);
  size_t length = print_format(emit_to_buffer, &buffer, format, arguments);
  va_end(arguments);
  if (bytes) *buffer.text = 0;
  return length;
}
