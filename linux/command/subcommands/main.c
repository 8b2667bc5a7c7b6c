/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spate/version.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {
    &command_format,    &command_record,  &command_ls,      &command_info,    &command_verify,    &command_check,
    &command_extract,   &command_replay,  &command_recover, &command_rm,      &command_join,      &command_protect,
    &command_trigger,   &command_monitor, &command_health,  &command_doctor,  &command_speedtest,
#ifdef SPATE_SIM
    &command_plan, /* it needs the profiles of the virtual drives */
#endif
    &command_calibrate, &command_trim,    &command_erase,   &command_release,
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static void help(FILE *to) {
  (void)fputs("spate records streams onto drives as files that any PC opens.\n"
              "\n"
              "Usage: spate COMMAND TARGET ...\n"
              "\n",
              to);
  for (size_t i = 0; i < COMMANDS; i++)
    (void)fprintf(to, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  (void)fputs("\n"
              "TARGET is one of these:\n"
              "\n"
              "  rec.img            an image file; rec.img/p2: partition 2 of it\n"
              "  /dev/nvme0n1       a block device\n"
              "  vfio:0000:01:00.0  an NVMe drive under the library's own driver, behind an IOMMU\n"
              "  pci:0000:01:00.0   the same on a machine without an IOMMU\n"
              "  vfio:0000:01:00.0/n2, pci:0000:01:00.0/n1p3\n"
              "                     namespace 2; partition 3 of namespace 1\n"
              "  sim:990pro:FILE    a virtual drive; FILE keeps its contents\n"
              "  stripe:A,B         several of these as one\n"
              "\n"
              "A first recording, on an image file, without root:\n"
              "\n"
              "  spate format rec.img --size 8GiB\n"
              "  spate record rec.img run1.raw --from synthetic --rate 500MB/s --for 10s\n"
              "  spate ls rec.img\n"
              "  spate verify rec.img run1.raw\n"
              "  spate extract rec.img run1.raw out.raw\n"
              "\n"
              "spate COMMAND --help explains a command, spate --version prints the version.\n"
              "Exit status: 0 done, 1 failed, 2 usage, 3 refused and nothing changed, 4 data were lost,\n"
              "5 doctor found something wrong.\n",
              to);
}

/* Opens /dev/null for missing standard files, so that no file opened later becomes standard input, output or error. */
static void fill_standard_files(void) {
  int fd;

  do
    fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) (void)close(fd);
}

/* Ignores SIGPIPE: it would end the program before it gives a drive back. write() reports the closed pipe instead. */
static void ignore_closed_pipes(void) {
  const struct sigaction ignore = {.sa_handler = SIG_IGN};

  if (sigaction(SIGPIPE, &ignore, NULL) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
}

int main(int count, char **words) {
  fill_standard_files();
  ignore_closed_pipes();
  if (count < 2) {
    help(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0 || strcmp(words[1], "help") == 0) {
    help(stdout);
    return EXIT_DONE;
  }
  if (strcmp(words[1], "--version") == 0) {
    (void)puts("spate " SPATE_VERSION);
    return EXIT_DONE;
  }
  for (size_t i = 0; i < COMMANDS; i++)
    if (strcmp(words[1], commands[i]->name) == 0) {
      const enum exit_status status = commands[i]->run(count - 1, words + 1);
      if (fflush(stdout) != 0 || ferror(stdout)) fail(EXIT_FAILED, "standard output cannot be written");
      return (int)status;
    }
  (void)fprintf(stderr, "spate: unknown command \"%s\". See spate --help.\n", words[1]);
  return EXIT_USAGE;
}
