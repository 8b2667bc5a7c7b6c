/* SPDX-License-Identifier: Apache-2.0 */
/* Reports what is wrong between the root port and the namespace, and what to do. Writes nothing. */
#include "../doctor/checkup.h"

#include "../device/sysfs.h"
#include "../target/admin.h"
#include "command.h"

#include <string.h>
#include <unistd.h>

enum { SYSFS = 1000, LIST };

static const struct option options[] = {
    {"sysfs", required_argument, NULL, SYSFS}, {"list", no_argument, NULL, LIST}, OPTIONS_COMMON};

static enum spate_doctor_severity worst;

static void check(enum checkup_kind kind, enum checkup_use use, const char *address) {
  static struct checkup checkup;

  checkup_begin(&checkup, kind, use, address);
  checkup_run(&checkup);
  if (checkup.doctor.worst > worst) worst = checkup.doctor.worst;
  if (kind != CHECKUP_MACHINE || checkup.finding_count > 0) checkup_print(&checkup);
}

/* 0000:01:00.0, vfio:0000:01:00.0, pci:0000:01:00.0, /dev/nvme0n1. */
static enum checkup_use drive_named(const char *word, char *address) {
  const struct target target = {.name = word, .kind = strchr(word, '/') != NULL ? TARGET_DEVICE : TARGET_DRIVE};
  const enum checkup_use use = strncmp(word, "vfio:", 5) == 0  ? CHECKUP_VFIO
                               : strncmp(word, "pci:", 4) == 0 ? CHECKUP_PCI
                                                               : CHECKUP_KERNEL;

  if (sysfs_address(word, address) || admin_pci_address(&target, address)) return use;
  if (access(word, F_OK) != 0 && strchr(word, '/') != NULL) fail(EXIT_FAILED, "%s does not exist", word);
  command_usage(&command_doctor,
                "\"%s\" is not an NVMe drive; examples are 0000:01:00.0, vfio:0000:01:00.0 and /dev/nvme0n1", word);
}

static void see(void *context, enum checkup_kind kind, const char *address) {
  (void)context;
  check(kind, CHECKUP_KERNEL, address);
}

static void check_all(void) {
  static struct checkup machine;

  if (checkup_discover(see, NULL) > 0) return;
  checkup_begin(&machine, CHECKUP_MACHINE, CHECKUP_KERNEL, "");
  checkup_found(&machine, SPATE_DOCTOR_NO_DRIVE, NULL, 0, 0);
  worst = machine.doctor.worst;
  checkup_print(&machine);
}

static enum exit_status run(int count, char **words) {
  enum checkup_use use = CHECKUP_KERNEL;
  char address[SYSFS_ADDRESS_BYTES] = "";
  bool list = false;

  for (int option; (option = command_option(&command_doctor, count, words, options)) != -1;) {
    if (option == SYSFS) sysfs_root = optarg;
    if (option == LIST) list = true;
  }
  if (count - optind > 1 || (list && count > optind))
    command_usage(&command_doctor, "doctor takes one TARGET, or none for all drives");
  if (list) {
    checkup_print_codes(command_json);
    return EXIT_DONE;
  }
  if (count > optind) use = drive_named(words[optind], address);
  checkup_print_begin(command_json);
  if (address[0] != '\0')
    check(CHECKUP_DRIVE, use, address);
  else
    check_all();
  check(CHECKUP_MACHINE, use, "");
  checkup_print_end(worst);
  return worst > SPATE_DOCTOR_NOTE ? EXIT_FOUND : EXIT_DONE;
}

const struct command command_doctor = {
    "doctor", "report what is wrong between the root port and the drive, and what to do",
    "Usage: spate doctor [TARGET] [options]\n"
    "\n"
    "Checks the path from the root port to the namespace: link, payload sizes, addresses, bus mastering, errors\n"
    "before and after it has read 256 MiB, controller, health, namespaces. Each finding is one sentence that says\n"
    "what is wrong and one that says what to do. Writes nothing to the drive, to configuration space or to files.\n"
    "\n"
    "TARGET is an NVMe drive: 0000:01:00.0 or /dev/nvme0n1. As vfio:0000:01:00.0 or pci:0000:01:00.0, the\n"
    "requirements of these targets are checked as well. Without TARGET, all NVMe drives are checked, and the ports\n"
    "with nothing below them.\n"
    "\n"
    "Without root it makes the checks that it can, and says which it could not make and what they need. The exit\n"
    "status is 0 when nothing is wrong, notes aside, and 5 when there is a warning or an error.\n"
    "\n"
    "  --list                 list all possible findings, with what to do\n"
    "  --sysfs FOLDER         check this copy of another machine's /sys, and send no command to a drive\n" HELP_COMMON
    "\n"
    "  spate doctor\n"
    "  spate doctor 0000:01:00.0\n"
    "  spate doctor vfio:0000:01:00.0 --output-format=json\n"
    "  spate doctor /dev/nvme0n1\n",
    run};
