/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences: the texts, with the values of a finding in place of the placeholders. */
#include "../nvme/quirks.h"
#include "internal.h"

struct sentence {
  char *to;
  size_t bytes, used; /* one byte is kept for the NUL */
};

static void put(struct sentence *sentence, char character) {
  if (sentence->used + 1u < sentence->bytes) sentence->to[sentence->used++] = character;
}

static void put_text(struct sentence *sentence, const char *text) {
  for (; *text != '\0'; text++)
    put(sentence, *text);
}

static void put_number(struct sentence *sentence, uint64_t number, unsigned base) {
  char digits[24];
  unsigned count = 0;

  do {
    digits[count++] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  while (count > 0)
    put(sentence, digits[--count]);
}

/* The noun, which ends before '}', in the form that belongs to the number. */
static void put_noun(struct sentence *sentence, const char *noun, bool is_plural) {
  put(sentence, ' ');
  while (*noun != '}' && *noun != '\0')
    put(sentence, *noun++);
  if (is_plural) put(sentence, 's');
}

static void put_bytes(struct sentence *sentence, uint64_t bytes) {
  static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
  unsigned unit = 0;

  while (unit + 1u < sizeof units / sizeof units[0] && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    unit++;
  }
  put_number(sentence, bytes, 10);
  put_text(sentence, units[unit]);
  if (unit == 0) put_noun(sentence, "byte", bytes != 1);
}

static void put_speed(struct sentence *sentence, uint64_t code) {
  const uint32_t mts = spate_pcie_speed_mts((uint8_t)(code < UINT8_MAX ? code : UINT8_MAX));

  if (mts == 0) {
    put_text(sentence, "an unknown speed");
    return;
  }
  put_number(sentence, mts / 1000u, 10);
  if (mts % 1000u != 0) {
    put(sentence, '.');
    put_number(sentence, mts % 1000u / 100u, 10);
  }
  put_text(sentence, " GT/s");
}

static const char *const correctable[32] = {
    [0] = "receiver error",
    [6] = "bad TLP",
    [7] = "bad DLLP",
    [8] = "replay number rollover",
    [12] = "replay timeout",
    [13] = "advisory non-fatal error",
    [14] = "corrected internal error",
    [15] = "header log overflow",
};

static const char *const uncorrectable[32] = {
    [4] = "data link protocol error",
    [5] = "surprise down",
    [12] = "poisoned TLP",
    [13] = "flow control error",
    [14] = "completion timeout",
    [15] = "completer abort",
    [16] = "unexpected completion",
    [17] = "receiver overflow",
    [18] = "malformed TLP",
    [19] = "ECRC error",
    [20] = "unsupported request",
    [21] = "ACS violation",
    [22] = "internal error",
    [23] = "blocked multicast TLP",
    [24] = "blocked AtomicOp",
    [25] = "blocked TLP prefix",
    [26] = "blocked poisoned TLP",
};

/* enum nvme_need */
static const char *const needs[32] = {
    "a pause of 2.3 s after CC.EN is cleared",
    "no Write Zeroes",
    "no TRIM",
    "namespaces are not recognised by EUI64 and NGUID",
    "submission queues of medium priority",
    "64 queue entries although CAP.MQES is 0",
    "no function level reset while CC.EN is 1",
};
_Static_assert(NVME_NEEDS == 7, "one text each");

static void put_bits(struct sentence *sentence, uint64_t bits, const char *const names[32]) {
  bool first = true;

  for (unsigned i = 0; i < 32; i++) {
    if ((bits >> i & 1u) == 0) continue;
    if (!first) put_text(sentence, ", ");
    put_text(sentence, names[i] != NULL ? names[i] : "kind not known");
    first = false;
  }
}

static bool ends(const char *help) {
  return (*help == '.' || *help == ':' || *help == '?') && (help[1] == ' ' || help[1] == '\0');
}

/* What the library says about an error, up to the advice: the findings have their own. */
static void put_error(struct sentence *sentence, uint64_t code) {
  const char *help = spate_error_help((enum spate_error)code);

  if (help[0] >= 'A' && help[0] <= 'Z' && help[1] >= 'a') put(sentence, (char)(*help++ - 'A' + 'a'));
  for (; *help != '\0' && !ends(help); help++)
    put(sentence, *help);
}

static void put_kind(struct sentence *sentence, char kind, uint64_t number) {
  static const char *const aspm[] = {"no state", "L0s", "L1", "L0s and L1"};

  switch (kind) {
  case 'x':
    put_text(sentence, "0x");
    put_number(sentence, number, 16);
    break;
  case 'b': put_bytes(sentence, number); break;
  case 's': put_speed(sentence, number); break;
  case 'a': put_text(sentence, aspm[number & 3u]); break;
  case 'd':
    put(sentence, 'D');
    put_number(sentence, number, 10);
    break;
  case 'c': put_bits(sentence, number, correctable); break;
  case 'u': put_bits(sentence, number, uncorrectable); break;
  case 'q': put_bits(sentence, number, needs); break;
  case 'e': put_error(sentence, number); break;
  default: put_number(sentence, number, 10); break;
  }
}

/* Writes the value for a placeholder, whose text after the opening bracket is `place`. Returns the text after it. */
static const char *put_place(struct sentence *sentence, const char *place, const struct spate_doctor_finding *finding) {
  const char *end = place;
  uint64_t number = finding == NULL ? 0 : finding->numbers[(unsigned)(*place - '0') % SPATE_DOCTOR_NUMBERS];

  while (*end != '}' && *end != '\0')
    end++;
  if (finding == NULL)
    put_text(sentence, "...");
  else if (*place == 'n')
    put_text(sentence, finding->name == NULL ? "unknown" : finding->name);
  else
    put_kind(sentence, place[1], number);
  if (place[1] == '|') put_noun(sentence, place + 2, number != 1);
  return *end == '}' ? end + 1 : end;
}

char *spate_doctor_write(char *to, size_t bytes, const char *text, const struct spate_doctor_finding *finding) {
  struct sentence sentence = {.to = to, .bytes = bytes};

  while (*text != '\0') {
    if (*text == '{')
      text = put_place(&sentence, text + 1, finding);
    else
      put(&sentence, *text++);
  }
  if (bytes > 0) to[sentence.used] = '\0';
  return to;
}

char *spate_doctor_problem(char *to, size_t bytes, enum spate_doctor_code code,
                           const struct spate_doctor_finding *finding) {
  return spate_doctor_write(to, bytes, spate_doctor_text_of(code)->problem, finding);
}

char *spate_doctor_advice(char *to, size_t bytes, enum spate_doctor_code code,
                          const struct spate_doctor_finding *finding) {
  return spate_doctor_write(to, bytes, spate_doctor_text_of(code)->advice, finding);
}

const char *spate_doctor_name(enum spate_doctor_code code) { return spate_doctor_text_of(code)->name; }

enum spate_doctor_severity spate_doctor_severity_of(enum spate_doctor_code code) {
  return spate_doctor_text_of(code)->severity;
}

const char *spate_doctor_severity_name(enum spate_doctor_severity severity) {
  static const char *const names[] = {"note", "warning", "error", "not done"};

  return (unsigned)severity < sizeof names / sizeof names[0] ? names[severity] : "unknown";
}

void spate_doctor_report(struct spate_doctor *doctor, const struct spate_doctor_finding *finding) {
  const enum spate_doctor_severity severity = spate_doctor_severity_of(finding->code);

  if (severity != SPATE_DOCTOR_UNDONE && severity > doctor->worst) doctor->worst = severity;
  doctor->found(doctor->context, finding);
}
