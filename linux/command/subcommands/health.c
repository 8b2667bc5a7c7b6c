/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the health of a drive as the drive reports it, and its link. Writes nothing. */
#include "../device/sysfs.h"
#include "../target/admin.h"
#include "../text/json.h"
#include "../text/units.h"
#include "command.h"

#include <inttypes.h>
#include <spate/doctor.h>
#include <stdio.h>
#include <string.h>

#define UNIT_BYTES 512000u /* the log counts in units of 1000 × 512 bytes */

static const struct option options[] = {OPTIONS_COMMON};

struct report {
  struct spate_nvme_identity identity;
  struct spate_nvme_health health;
  char address[SYSFS_ADDRESS_BYTES]; /* on PCI; empty: the drive has none */
  char speed[32], speed_max[32];
  char width[8], width_max[8];
};

static void read_link(const char *address, const char *name, char *text, size_t text_bytes) {
  char path[SYSFS_PATH_BYTES];

  sysfs_path(path, address, name);
  if (!sysfs_read(path, text, text_bytes)) (void)snprintf(text, text_bytes, "unknown");
}

static struct report gather(struct target *target) {
  struct report report = {.address = ""};
  char why[ADMIN_WHY_BYTES];

  if (!admin_identity(target, &report.identity, why) || !admin_health(target, &report.health, why))
    fail(EXIT_FAILED, "%s", why);
  if (!admin_pci_address(target, report.address)) report.address[0] = '\0';
  if (report.address[0] == '\0') return report;
  read_link(report.address, "current_link_speed", report.speed, sizeof report.speed);
  read_link(report.address, "max_link_speed", report.speed_max, sizeof report.speed_max);
  read_link(report.address, "current_link_width", report.width, sizeof report.width);
  read_link(report.address, "max_link_width", report.width_max, sizeof report.width_max);
  return report;
}

static void print_warning(void *context, const struct spate_doctor_finding *finding) {
  char problem[SPATE_DOCTOR_SENTENCE_BYTES], advice[SPATE_DOCTOR_SENTENCE_BYTES];

  (void)context;
  if (spate_doctor_severity_of(finding->code) == SPATE_DOCTOR_NOTE) return;
  (void)printf("WARNING       %s %s\n", spate_doctor_problem(problem, sizeof problem, finding->code, finding),
               spate_doctor_advice(advice, sizeof advice, finding->code, finding));
}

static void print_text(const char *name, const struct report *report) {
  const struct spate_nvme_health *health = &report->health;
  char read[UNITS_TEXT_BYTES], written[UNITS_TEXT_BYTES];

  (void)printf("drive         %s: %s, serial %s, firmware %s\n", name, report->identity.model, report->identity.serial,
               report->identity.firmware);
  if (report->address[0] != '\0')
    (void)printf("link          %s x%s; the drive supports %s x%s\n", report->speed, report->width, report->speed_max,
                 report->width_max);
  (void)printf("temperature   %d C", health->temperature_c);
  if (report->identity.warning_temperature_c > 0)
    (void)printf(", its limit is %d C", report->identity.warning_temperature_c);
  (void)printf("\nwear          %u %% of its life used, %u %% of the spare blocks left (threshold %u %%)\n",
               health->used_percent, health->spare_percent, health->spare_threshold_percent);
  (void)printf("transferred   %s read, %s written\n", units_decimal(health->read_units * UNIT_BYTES, read),
               units_decimal(health->written_units * UNIT_BYTES, written));
  (void)printf("power         %" PRIu64 " hours, %" PRIu64 " cycles, %" PRIu64 " of them without a shutdown\n",
               health->power_on_hours, health->power_cycles, health->unsafe_shutdowns);
  (void)printf("media errors  %" PRIu64 "\n", health->media_errors);
  struct spate_doctor doctor = {.found = print_warning};
  spate_doctor_judge_drive(&doctor, &(struct spate_doctor_drive){.identity = &report->identity, .health = health});
}

static void print_json(const char *name, const struct report *report) {
  const struct spate_nvme_health *health = &report->health;
  struct json json = {.to = stdout};

  json_open(&json, NULL, '{');
  json_string(&json, "target", name);
  json_string(&json, "model", report->identity.model);
  json_string(&json, "serial", report->identity.serial);
  json_string(&json, "firmware", report->identity.firmware);
  if (report->address[0] != '\0') {
    json_string(&json, "pci_address", report->address);
    json_string(&json, "link_speed", report->speed);
    json_string(&json, "link_speed_max", report->speed_max);
    json_string(&json, "link_width", report->width);
    json_string(&json, "link_width_max", report->width_max);
  }
  json_real(&json, "celsius", health->temperature_c);
  json_integer(&json, "critical_warning", health->critical_warning);
  json_integer(&json, "used_percent", health->used_percent);
  json_integer(&json, "spare_percent", health->spare_percent);
  json_integer(&json, "spare_threshold_percent", health->spare_threshold_percent);
  json_integer(&json, "read_bytes", health->read_units * UNIT_BYTES);
  json_integer(&json, "written_bytes", health->written_units * UNIT_BYTES);
  json_integer(&json, "power_on_hours", health->power_on_hours);
  json_integer(&json, "power_cycles", health->power_cycles);
  json_integer(&json, "unsafe_shutdowns", health->unsafe_shutdowns);
  json_integer(&json, "media_errors", health->media_errors);
  json_close(&json, '}');
}

static enum exit_status run(int count, char **words) {
  struct target target;

  while (command_option(&command_health, count, words, options) != -1) {
  }
  const char *name = *command_words(&command_health, count, words, 1, "health takes one TARGET");
  target_open(&target, name, TARGET_READ, 0);
  const struct report report = gather(&target);
  target_close(&target);
  if (command_json)
    print_json(name, &report);
  else
    print_text(name, &report);
  return EXIT_DONE;
}

const struct command command_health = {
    "health", "show a drive's temperature, wear, errors and link",
    "Usage: spate health TARGET [options]\n"
    "\n"
    "Shows what an NVMe drive reports: temperature, wear, errors, hours; and the speed and width of its link.\n"
    "Writes nothing. For a block device (/dev/nvme0n1) it needs root.\n"
    "\n" HELP_COMMON "\n"
    "  spate health /dev/nvme0n1\n"
    "  spate health vfio:0000:01:00.0 --bind\n",
    run};
