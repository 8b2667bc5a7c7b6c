/* SPDX-License-Identifier: Apache-2.0 */
/* The names, sentences and advice of the findings. */
#include "doctor_fixture.h"

#include <regex.h>

static void check_sentence(const char *name, const char *text) {
  const size_t length = strlen(text);

  if (length < 12 || length + 1 >= SPATE_DOCTOR_SENTENCE_BYTES || text[length - 1] != '.')
    fail_msg("%s: \"%s\" is not a sentence", name, text);
  if (strpbrk(text, "{}") != NULL) fail_msg("%s: \"%s\" has a placeholder without a value", name, text);
  if (strstr(text, "  ") != NULL) fail_msg("%s: \"%s\" has two spaces in a row", name, text);
  for (const char *at_text = text; *at_text != '\0'; at_text++)
    if (*at_text < ' ' || *at_text > '~')
      fail_msg("%s: \"%s\" has a character that is not printable ASCII", name, text);
}

static void every_finding_has_texts(void **state) {
  (void)state;
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  for (unsigned code = 0; code < SPATE_DOCTOR_COUNT; code++) {
    const struct spate_doctor_finding finding = {
        .code = (enum spate_doctor_code)code, .numbers = {1, 2, 3, 4}, .name = "a name"};
    const char *name = spate_doctor_name(finding.code);
    assert_non_null(name);
    assert_string_not_equal(name, "UNKNOWN");
    for (unsigned other = 0; other < code; other++)
      assert_string_not_equal(name, spate_doctor_name(other));
    assert_string_not_equal(spate_doctor_severity_name(spate_doctor_severity_of(finding.code)), "unknown");
    for (unsigned with = 0; with < 2; with++) {
      check_sentence(name, spate_doctor_problem(text, sizeof text, finding.code, with ? &finding : NULL));
      check_sentence(name, spate_doctor_advice(text, sizeof text, finding.code, with ? &finding : NULL));
    }
  }
  assert_string_equal(spate_doctor_name(SPATE_DOCTOR_COUNT), "UNKNOWN");
  assert_string_equal(spate_doctor_severity_name((enum spate_doctor_severity)9), "unknown");
}

static const char *problem(enum spate_doctor_code code, uint64_t first, uint64_t second) {
  static char text[SPATE_DOCTOR_SENTENCE_BYTES];
  const struct spate_doctor_finding finding = {.code = code, .numbers = {first, second}, .name = "a name"};

  return spate_doctor_problem(text, sizeof text, code, &finding);
}

/* One is followed by a singular, and every other number by a plural. */
static void nouns_agree_with_their_numbers(void **state) {
  (void)state;
  static regex_t plural;
  static const char name[] = "Namespace 1"; /* this number counts nothing */

  assert_int_equal(regcomp(&plural, "(^|[^0-9a-zA-Z.])1 ([a-z]+ )?[a-z]{2,}s([^a-z]|$)", REG_EXTENDED | REG_NOSUB), 0);
  assert_int_equal(regexec(&plural, "There are 1 lanes.", 0, NULL, 0), 0);
  for (unsigned code = 0; code < SPATE_DOCTOR_COUNT; code++) {
    const char *text = problem((enum spate_doctor_code)code, 1, 1);
    if (strncmp(text, name, strlen(name)) == 0) continue;
    if (regexec(&plural, text, 0, NULL, 0) == 0) fail_msg("%s", text);
  }
  regfree(&plural);
  assert_string_equal(problem(SPATE_DOCTOR_LINK_NARROW, 1, 4), "The link has 1 lane, and both ends support 4.");
  assert_string_equal(problem(SPATE_DOCTOR_LINK_NARROW, 2, 4), "The link has 2 lanes, and both ends support 4.");
  assert_string_equal(problem(SPATE_DOCTOR_MEDIA_ERRORS, 21, 0), "The drive counted 21 media errors.");
  assert_string_equal(problem(SPATE_DOCTOR_MEMORY_LOCK_SMALL, 0, 0),
                      "You may lock 0 bytes of memory, and vfio: needs more for its queues and ring.");
}

static void sentences_are_truncated_to_the_buffer(void **state) {
  (void)state;
  char text[8] = "1234567";

  (void)spate_doctor_problem(text, 4, SPATE_DOCTOR_LINK_DOWN, NULL);
  assert_string_equal(text, "The");
  assert_int_equal(text[4], '5');
  (void)spate_doctor_problem(text, 0, SPATE_DOCTOR_LINK_DOWN, NULL);
  assert_string_equal(text, "The");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_finding_has_texts),
      cmocka_unit_test(nouns_agree_with_their_numbers),
      cmocka_unit_test(sentences_are_truncated_to_the_buffer),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
