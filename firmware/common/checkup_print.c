/* SPDX-License-Identifier: Apache-2.0 */
#include "checkup_print.h"

#include <print.h>

static void print_place(const struct spate_pcie_address *at) {
  if (at != NULL) print("%02x:%02x.%x: ", at->bus, at->device, at->function);
}

void checkup_print_fact(void *context, const struct spate_checkup_fact *fact) {
  (void)context;
  print("  %-8s ", fact->name);
  print_place(fact->at);
  print("%s\n", fact->text);
}

void checkup_print_finding(void *context, const struct spate_doctor_finding *finding) {
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  (void)context;
  print("  %-8s ", spate_doctor_severity_name(spate_doctor_severity_of(finding->code)));
  print_place(finding->function == NULL ? NULL : &finding->function->address);
  print("%s\n", spate_doctor_problem(text, sizeof text, finding->code, finding));
  print("           %s\n", spate_doctor_advice(text, sizeof text, finding->code, finding));
}
