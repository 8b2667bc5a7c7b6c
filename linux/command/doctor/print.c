/* SPDX-License-Identifier: Apache-2.0 */
/* Prints checkups as text and as JSON. */
#include "../text/json.h"
#include "../text/units.h"
#include "checkup.h"

#include <stdio.h>
#include <string.h>

static struct json json;

static const char *where(const struct checkup *checkup, const struct spate_doctor_finding *finding) {
  return finding->function == NULL ? checkup->address
                                   : checkup->path.addresses[finding->function - checkup->path.functions];
}

/* ---- for people ---- */

static void print_heading(const struct checkup *checkup) {
  static const char *const kinds[] = {"drive", "port", "machine"};
  char bytes[UNITS_TEXT_BYTES];

  (void)printf("%s%s%s", kinds[checkup->kind], checkup->address[0] == '\0' ? "" : " ", checkup->address);
  if (checkup->identified) (void)printf("  %s, serial %s", checkup->identity.model, checkup->identity.serial);
  if (checkup->driver[0] != '\0') (void)printf("  driver %s", checkup->driver);
  if (checkup->disk[0] != '\0') (void)printf("  /dev/%s", checkup->disk);
  (void)printf("\n");
  for (unsigned i = 0; i < checkup->path.count && checkup->kind == CHECKUP_DRIVE; i++) {
    const struct spate_pcie_link *link = &checkup->path.functions[i].link;
    const uint32_t now = spate_pcie_speed_mts(link->speed), most = spate_pcie_speed_mts(link->speed_max);
    (void)printf("  path     %s", checkup->path.addresses[i]);
    if (now != 0 && most != 0)
      (void)printf("  %g GT/s x%u of %g GT/s x%u", now / 1000.0, link->width, most / 1000.0, link->width_max);
    (void)printf("\n");
  }
  if (checkup->transferred_bytes != 0) (void)printf("  read     %s\n", units_text(checkup->transferred_bytes, bytes));
}

static void print_text(const struct checkup *checkup) {
  char text[SPATE_DOCTOR_SENTENCE_BYTES];
  bool any = false;

  print_heading(checkup);
  for (unsigned i = 0; i < checkup->finding_count; i++) {
    const struct spate_doctor_finding *finding = &checkup->findings[i].finding;
    const enum spate_doctor_severity severity = spate_doctor_severity_of(finding->code);
    any = any || severity == SPATE_DOCTOR_WARNING || severity == SPATE_DOCTOR_ERROR;
    (void)printf("  %-8s ", spate_doctor_severity_name(severity));
    if (finding->function != NULL) (void)printf("%s: ", where(checkup, finding));
    (void)printf("%s\n", spate_doctor_problem(text, sizeof text, finding->code, finding));
    (void)printf("           %s\n", spate_doctor_advice(text, sizeof text, finding->code, finding));
  }
  if (!any) (void)printf("  nothing wrong was found\n");
}

/* ---- for programs ---- */

static void print_link(const struct spate_pcie_link *link) {
  if (link->speed == 0) return;
  json_real(&json, "link_gt_per_s", spate_pcie_speed_mts(link->speed) / 1000.0);
  json_integer(&json, "link_lanes", link->width);
  json_real(&json, "link_gt_per_s_max", spate_pcie_speed_mts(link->speed_max) / 1000.0);
  json_integer(&json, "link_lanes_max", link->width_max);
}

static void print_code(enum spate_doctor_code code, const struct spate_doctor_finding *finding) {
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  json_string(&json, "code", spate_doctor_name(code));
  json_string(&json, "severity", spate_doctor_severity_name(spate_doctor_severity_of(code)));
  json_string(&json, "problem", spate_doctor_problem(text, sizeof text, code, finding));
  json_string(&json, "advice", spate_doctor_advice(text, sizeof text, code, finding));
}

static void print_json(const struct checkup *checkup) {
  static const char *const kinds[] = {"drive", "port", "machine"};

  json_open(&json, NULL, '{');
  json_string(&json, "kind", kinds[checkup->kind]);
  if (checkup->address[0] != '\0') json_string(&json, "pci_address", checkup->address);
  if (checkup->identified) {
    json_string(&json, "model", checkup->identity.model);
    json_string(&json, "serial", checkup->identity.serial);
  }
  if (checkup->driver[0] != '\0') json_string(&json, "driver", checkup->driver);
  if (checkup->disk[0] != '\0') json_string(&json, "disk", checkup->disk);
  json_integer(&json, "read_bytes", checkup->transferred_bytes);
  json_open(&json, "path", '[');
  for (unsigned i = 0; i < checkup->path.count; i++) {
    json_open(&json, NULL, '{');
    json_string(&json, "pci_address", checkup->path.addresses[i]);
    print_link(&checkup->path.functions[i].link);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_open(&json, "findings", '[');
  for (unsigned i = 0; i < checkup->finding_count; i++) {
    const struct spate_doctor_finding *finding = &checkup->findings[i].finding;
    json_open(&json, NULL, '{');
    print_code(finding->code, finding);
    if (finding->function != NULL) json_string(&json, "at", where(checkup, finding));
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_close(&json, '}');
}

/* ---- both ---- */

void checkup_print_begin(bool as_json) {
  json = (struct json){.to = as_json ? stdout : NULL};
  if (!as_json) return;
  json_open(&json, NULL, '{');
  json_open(&json, "checkups", '[');
}

void checkup_print(const struct checkup *checkup) {
  if (json.to != NULL)
    print_json(checkup);
  else
    print_text(checkup);
}

void checkup_print_end(enum spate_doctor_severity worst) {
  if (json.to == NULL) return;
  json_close(&json, ']');
  json_string(&json, "worst", spate_doctor_severity_name(worst));
  json_close(&json, '}');
}

void checkup_print_codes(bool as_json) {
  char text[SPATE_DOCTOR_SENTENCE_BYTES];

  json = (struct json){.to = stdout};
  if (as_json) json_open(&json, NULL, '[');
  for (unsigned i = 0; i < SPATE_DOCTOR_COUNT; i++) {
    const enum spate_doctor_code code = (enum spate_doctor_code)i;
    if (as_json) {
      json_open(&json, NULL, '{');
      print_code(code, NULL);
      json_close(&json, '}');
      continue;
    }
    (void)printf("%-24s %-8s %s\n", spate_doctor_name(code), spate_doctor_severity_name(spate_doctor_severity_of(code)),
                 spate_doctor_problem(text, sizeof text, code, NULL));
    (void)printf("%34s%s\n", "", spate_doctor_advice(text, sizeof text, code, NULL));
  }
  if (as_json) json_close(&json, ']');
}
