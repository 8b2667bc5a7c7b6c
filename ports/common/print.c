/* SPDX-License-Identifier: Apache-2.0 */
/* A field is processed in three steps: parse its format, take its arguments, print its text. Only print_format() takes
 * arguments. */
#include "print.h"

#include "../board.h"
#include <string.h>

struct output {
  void (*emit)(void *context, const char *text, size_t bytes);
  void *context;
  size_t bytes;
};

enum argument { ARGUMENT_UNKNOWN, ARGUMENT_NONE, ARGUMENT_NUMBER, ARGUMENT_TEXT, ARGUMENT_POINTER };

struct field {
  bool left, zero, plus;
  bool width_is_argument, precision_is_argument, has_precision;
  bool wide; /* the argument has 64 bits */
  char kind;
  size_t width, precision;
};

static void put(struct output *out, const char *text, size_t bytes) {
  if (bytes) out->emit(out->context, text, bytes);
  out->bytes += bytes;
}

static void pad(struct output *out, char with, size_t count) {
  char run[16];
  memset(run, with, sizeof run);
  for (; count > sizeof run; count -= sizeof run)
    put(out, run, sizeof run);
  put(out, run, count);
}

static void put_text(struct output *out, const struct field *field, const char *text) {
  size_t bytes = 0;
  while ((!field->has_precision || bytes < field->precision) && text[bytes])
    bytes++;
  size_t blanks = field->width > bytes ? field->width - bytes : 0;
  if (!field->left) pad(out, ' ', blanks);
  put(out, text, bytes);
  if (field->left) pad(out, ' ', blanks);
}

static void put_number(struct output *out, const struct field *field, uint64_t value, const char *sign, unsigned base,
                       const char *digits) {
  char text[20];
  size_t length = 0;
  for (; value; value /= base)
    text[sizeof text - ++length] = digits[value % base];

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

static const char *parse_count(const char *at, size_t *count, bool *is_argument) {
  *is_argument = *at == '*';
  if (*is_argument) return at + 1;
  for (; *at >= '0' && *at <= '9'; at++)
    *count = *count * 10 + (size_t)(*at - '0');
  return at;
}

/* An argument shorter than int is promoted to int, and printed as that. */
static const char *parse_length(const char *at, bool *wide) {
  size_t bytes = sizeof(int);
  while (*at == 'h')
    at++;
  if (*at == 'z' || *at == 't')
    bytes = sizeof(size_t), at++;
  else if (*at == 'j')
    bytes = sizeof(intmax_t), at++;
  else if (at[0] == 'l' && at[1] == 'l')
    bytes = sizeof(long long), at += 2;
  else if (*at == 'l')
    bytes = sizeof(long), at++;
  *wide = bytes == sizeof(uint64_t);
  return at;
}

/* Parses a field, from after the '%' to its letter or to the end of the format. */
static const char *parse_field(const char *at, struct field *field) {
  *field = (struct field){0};
  for (;; at++) {
    if (*at == '-')
      field->left = true;
    else if (*at == '0')
      field->zero = true;
    else if (*at == '+')
      field->plus = true;
    else
      break;
  }
  at = parse_count(at, &field->width, &field->width_is_argument);
  if (*at == '.') {
    field->has_precision = true;
    at = parse_count(at + 1, &field->precision, &field->precision_is_argument);
  }
  at = parse_length(at, &field->wide);
  field->kind = *at;
  return at;
}

static bool is_signed(const struct field *field) { return field->kind == 'd' || field->kind == 'i'; }

static enum argument argument_of(const struct field *field) {
  switch (field->kind) {
  case '%': return ARGUMENT_NONE;
  case 's': return ARGUMENT_TEXT;
  case 'p': return ARGUMENT_POINTER;
  case 'c':
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X': return ARGUMENT_NUMBER;
  default: return ARGUMENT_UNKNOWN;
  }
}

/* `number` has the bits of a 64-bit argument, or of an int that was extended according to the field's sign. */
static void put_field(struct output *out, const struct field *field, uint64_t number, const char *text) {
  static const char lower[] = "0123456789abcdef";
  static const char upper[] = "0123456789ABCDEF";
  bool negative = is_signed(field) && (int64_t)number < 0;
  switch (field->kind) {
  case '%': put(out, "%", 1); break;
  case 's': put_text(out, field, text); break;
  case 'c': {
    struct field one = *field;
    one.has_precision = false;
    put_text(out, &one, (char[2]){(char)number, 0});
    break;
  }
  case 'x': put_number(out, field, number, "", 16, lower); break;
  case 'X': put_number(out, field, number, "", 16, upper); break;
  case 'p': put_number(out, field, number, "0x", 16, lower); break;
  case 'u': put_number(out, field, number, "", 10, lower); break;
  default: put_number(out, field, negative ? 0 - number : number, negative ? "-" : field->plus ? "+" : "", 10, lower);
  }
}

static size_t positive(int count) { return count > 0 ? (size_t)count : 0; }

size_t print_format(void (*emit)(void *context, const char *text, size_t bytes), void *context, const char *format,
                    va_list arguments) {
  struct output out = {emit, context, 0};
  while (*format) {
    size_t plain = 0;
    while (format[plain] && format[plain] != '%')
      plain++;
    put(&out, format, plain);
    format += plain;
    if (!*format) break;

    struct field field;
    const char *end = parse_field(format + 1, &field);
    if (field.width_is_argument) field.width = positive(va_arg(arguments, int));
    if (field.precision_is_argument) field.precision = positive(va_arg(arguments, int));
    uint64_t number = 0;
    const char *text = NULL;
    switch (argument_of(&field)) {
    case ARGUMENT_NUMBER:
      if (field.wide)
        number = va_arg(arguments, uint64_t);
      else if (is_signed(&field))
        number = (uint64_t)(int64_t)va_arg(arguments, int);
      else
        number = va_arg(arguments, unsigned);
      break;
    case ARGUMENT_TEXT: text = va_arg(arguments, const char *); break;
    case ARGUMENT_POINTER: number = (uintptr_t)va_arg(arguments, void *); break;
    case ARGUMENT_NONE: break;
    case ARGUMENT_UNKNOWN: /* unchanged, from the '%' on */
      put(&out, format, (size_t)(end - format));
      format = end;
      continue;
    }
    put_field(&out, &field, number, text);
    format = end + 1;
  }
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

struct target {
  char *text;
  size_t left; /* without the NUL */
};

static void emit_to_target(void *context, const char *text, size_t bytes) {
  struct target *target = context;
  if (bytes > target->left) bytes = target->left;
  memcpy(target->text, text, bytes);
  target->text += bytes;
  target->left -= bytes;
}

size_t print_into(char *buffer, size_t bytes, const char *format, ...) {
  struct target target = {buffer, bytes ? bytes - 1 : 0};
  va_list arguments;
  va_start(arguments, format);
  size_t length = print_format(emit_to_target, &target, format, arguments);
  va_end(arguments);
  if (bytes) *target.text = 0;
  return length;
}
