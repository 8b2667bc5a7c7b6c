/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an exFAT volume on a target: in the only partition of a GPT, or directly in a target that is a partition. */
#include "../text/units.h"
#include "../volume.h"
#include "command.h"
#include "confirm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <spate/stripe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define IMAGE_BYTES_MIN (UINT64_C(16) << 20)
#define CLUSTER_MIN     (UINT32_C(1) << 20)
#define CLUSTER_MAX     (UINT32_C(32) << 20)

enum { SIZE = 1000, LABEL, CLUSTER, BLOCK, ERASE, YES };

static const struct option options[] = {{"size", required_argument, NULL, SIZE},
                                        {"label", required_argument, NULL, LABEL},
                                        {"cluster", required_argument, NULL, CLUSTER},
                                        {"block", required_argument, NULL, BLOCK},
                                        {"erase", no_argument, NULL, ERASE},
                                        {"yes", no_argument, NULL, YES},
                                        OPTIONS_COMMON};

struct request {
  const char *name;
  uint64_t size_bytes; /* of a new image; 0: not given */
  uint32_t block_bytes;
  bool erase, yes;
  struct spate_exfat_format format;
};

/* Counts characters of UTF-8. Nearly every character is one UTF-16 unit. */
static unsigned characters(const char *text) {
  unsigned count = 0;

  for (; *text != '\0'; text++)
    if (((unsigned char)*text & 0xc0u) != 0x80u) count++;
  return count;
}

static struct request parse(int count, char **words) {
  struct request request = {.block_bytes = 512, .format = {.label = "SPATE"}};

  for (int got; (got = command_option(&command_format, count, words, options)) != -1;) {
    switch (got) {
    case SIZE:
      request.size_bytes = command_bytes(&command_format, "--size", optarg, IMAGE_BYTES_MIN, UINT64_C(1) << 56);
      break;
    case LABEL:
      request.format.label = optarg;
      if (characters(optarg) > SPATE_EXFAT_LABEL_UNITS_MAX)
        command_usage(&command_format, "--label \"%s\" has more than %u characters", optarg,
                      SPATE_EXFAT_LABEL_UNITS_MAX);
      break;
    case CLUSTER:
      request.format.cluster_bytes =
          (uint32_t)command_bytes(&command_format, "--cluster", optarg, CLUSTER_MIN, CLUSTER_MAX);
      if ((request.format.cluster_bytes & (request.format.cluster_bytes - 1u)) != 0)
        command_usage(&command_format, "--cluster %s is not a power of two", optarg);
      break;
    case BLOCK:
      request.block_bytes = (uint32_t)command_bytes(&command_format, "--block", optarg, 512, 4096);
      if (request.block_bytes != 512 && request.block_bytes != 4096)
        command_usage(&command_format, "--block %s is neither 512 nor 4096", optarg);
      break;
    case ERASE: request.erase = true; break;
    default: request.yes = true;
    }
  }
  request.name = *command_words(&command_format, count, words, 1, "format takes one TARGET");
  return request;
}

/* A file below /dev would be in memory, under the name of a drive. /dev/shm is for files in memory. */
static void refuse_device_name(const char *name) {
  if (strncmp(name, "/dev/", 5) != 0 || strncmp(name, "/dev/shm/", 9) == 0) return;
  fail(EXIT_USAGE,
       "%s: no such device, and no image is made below /dev. spate doctor lists the drives of this machine; "
       "after a killed spate, spate release gives a drive back to the kernel",
       name);
}

/* The image is sparse: it takes up space when something is recorded. */
static void warn_of_space(const struct request *request, int fd) {
  char size[UNITS_TEXT_BYTES], room[UNITS_TEXT_BYTES];
  struct statvfs system;

  if (fstatvfs(fd, &system) != 0) return;
  const uint64_t free_bytes = (uint64_t)system.f_bavail * system.f_frsize;
  if (request->size_bytes > free_bytes)
    (void)fprintf(stderr,
                  "%s: it may fill to %s, and its file system has %s free: a recording ends when that is full\n",
                  request->name, units_text(request->size_bytes, size), units_decimal(free_bytes, room));
}

/* Makes an empty sparse file. False: the file exists already. */
static bool make_image(const struct request *request) {
  const int fd = open(request->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

  if (fd < 0 && errno == EEXIST) return false;
  if (fd < 0) fail(EXIT_FAILED, "%s: %s", request->name, strerror(errno));
  warn_of_space(request, fd);
  if (ftruncate(fd, (off_t)request->size_bytes) != 0 || close(fd) != 0) {
    const int error = errno;
    (void)unlink(request->name);
    fail(EXIT_FAILED, "%s: cannot make a file of that size: %s", request->name, strerror(error));
  }
  return true;
}

/* An image that this run has made is removed if the run fails or is interrupted. */
static const char *volatile unfinished;
static volatile sig_atomic_t complete; /* the volume is made: a signal does not end the run any more */

static void remove_unfinished(void) {
  if (unfinished != NULL && !complete) (void)unlink(unfinished);
}

static void interrupt(int number) {
  if (complete) return;
  remove_unfinished();
  _exit(128 + number);
}

static void catch_ends(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  const struct sigaction action = {.sa_handler = interrupt};
  struct sigaction before;

  if (atexit(remove_unfinished) != 0) fail(EXIT_FAILED, "atexit failed");
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    if (sigaction(ends[i], NULL, &before) != 0 ||
        (before.sa_handler != SIG_IGN && sigaction(ends[i], &action, NULL) != 0)) /* nohup ignores SIGHUP */
      fail(EXIT_FAILED, "signals: %s", strerror(errno));
}

/* A signal that comes while the file is made waits until it is known that there is something to remove. */
static bool make_removable(const struct request *request) {
  sigset_t all, before;

  catch_ends();
  (void)sigfillset(&all);
  if (sigprocmask(SIG_SETMASK, &all, &before) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
  const bool made = make_image(request);
  if (made) unfinished = request->name;
  if (sigprocmask(SIG_SETMASK, &before, NULL) != 0) fail(EXIT_FAILED, "signals: %s", strerror(errno));
  return made;
}

static void prepare(const struct request *request, bool *made) {
  const bool there = target_exists(request->name);

  *made = false;
  if (!target_is_path(request->name) && request->size_bytes > 0)
    command_usage(&command_format, "--size is for a new image file, and %s is not a file: leave --size out",
                  request->name);
  if (there && request->size_bytes > 0)
    command_usage(&command_format, "%s exists and has a size: leave --size out", request->name);
  if (there) return;
  refuse_device_name(request->name);
  if (request->size_bytes == 0)
    command_usage(&command_format, "%s does not exist. --size 8GiB makes an image file of that size", request->name);
  *made = make_removable(request);
}

/* spate_partition_check_blank() accepts a table that Spate has made, whatever its partition holds. So check_contents()
 * refuses any partition as well. */
__attribute__((noreturn)) static void refuse_contents(const struct request *request) {
  fail(EXIT_REFUSED, "%s holds data, and nothing was written. spate format %s --erase formats it anyway", request->name,
       request->name);
}

static void check_contents(const struct request *request, struct volume *volume) {
  enum spate_error error = spate_partition_check_blank(volume->target.block, volume->scratch);

  if (error == SPATE_OK && spate_partition_find(volume->target.block, volume->scratch, &volume->partition) == SPATE_OK)
    error = SPATE_E_FOREIGN;
  const bool found = confirm_describe(&volume->target);
  /* With --erase, a target that cannot be read may be formatted. */
  if (error != SPATE_OK && error != SPATE_E_FOREIGN && !request->erase) expect(error, request->name);
  if (found || error != SPATE_OK) error = SPATE_E_FOREIGN;
  if (error == SPATE_E_FOREIGN && !request->erase) refuse_contents(request);
  (void)fprintf(stderr, "%s: %s\n", request->name,
                error == SPATE_E_FOREIGN ? "its contents will be lost"
                                         : "no partition and no file system was found on it");
  confirm(request->name, "format", request->yes);
}

/* Makes an array of members that are not one yet. */
static void make_stripe(const struct request *request, struct target *target) {
  const bool found = confirm_describe(target);
  if (found && !request->erase) refuse_contents(request);
  (void)fprintf(stderr, "%s: its members become an array%s\n", request->name,
                found ? ", and their contents will be lost" : "");
  confirm(request->name, "format", request->yes);
  const enum spate_error error = target_make_stripe(target, request->erase);
  if (error == SPATE_E_FOREIGN) refuse_contents(request);
  expect(error, request->name);
}

#define CLUSTERS_MIN 16u

static uint64_t block_bytes(const struct spate_block *block) { return block->blocks << block->block_shift; }

/* The size of the target. A stripe that is still to be made uses from each member what the smallest one has behind its
 * superblock. */
static uint64_t target_bytes(const struct target *target) {
  uint64_t least = UINT64_MAX;

  if (target->block != NULL) return block_bytes(target->block);
  for (unsigned i = 0; i < target->member_count; i++) {
    const uint64_t bytes = block_bytes(target->members[i].block);
    if (bytes < least) least = bytes;
  }
  if (least < SPATE_STRIPE_DATA_OFFSET_BYTES) return 0;
  least -= SPATE_STRIPE_DATA_OFFSET_BYTES;
  return (least - least % SPATE_STRIPE_CHUNK_BYTES) * target->member_count;
}

static void check_room(const struct request *request, const struct target *target) {
  const uint64_t bytes = target_bytes(target);

  if (bytes < IMAGE_BYTES_MIN || bytes / CLUSTERS_MIN < request->format.cluster_bytes)
    fail(EXIT_USAGE, "%s is too small: at least 16 MiB and %u clusters are needed; nothing was written", request->name,
         CLUSTERS_MIN);
}

static void random_bytes(void *to, size_t bytes) {
  if (getrandom(to, bytes, 0) != (ssize_t)bytes) fail(EXIT_FAILED, "getrandom: %s", strerror(errno));
}

/* Makes a place for the volume. A target that is a partition gets no table, because no system looks for a table inside
 * a partition. */
static void make_place(const struct request *request, struct volume *volume) {
  const uint32_t align_bytes =
      request->format.cluster_bytes > CLUSTER_MIN ? request->format.cluster_bytes : CLUSTER_MIN;
  struct spate_block *block = volume->target.block;
  struct spate_partition_ids ids;

  random_bytes(&ids, sizeof ids);
  expect(volume->target.partition.number > 0
             ? spate_partition_whole_disk(block, volume->scratch, request->erase, &volume->partition)
             : spate_partition_write(block, volume->scratch, &ids, align_bytes, request->erase, &volume->partition),
         request->name);
}

static void write_volume(struct request *request, struct volume *volume) {
  random_bytes(&request->format.serial, sizeof request->format.serial);
  make_place(request, volume);
  request->format.media_lba = volume->target.partition.offset_bytes >> volume->target.block->block_shift;
  volume->config.first_lba = volume->partition.first_lba;
  volume->config.blocks = volume->partition.blocks;
  expect(spate_exfat_format(&volume->config, &request->format), request->name);
  expect(spate_block_flush(volume->target.block), request->name);
}

/* Linux mounts the volume whatever its partition type; Windows requires the right type. */
static void say_type(const struct target *target) {
  const struct target_partition *partition = &target->partition;

  if (partition->number == 0 || partition->basic_data) return;
  if (partition->type[0] == '\0') {
    (void)fprintf(stderr,
                  "%s: its type in the partition table is not known. Windows shows the volume only if it is Microsoft "
                  "basic data\n",
                  target->name);
    return;
  }
  (void)fprintf(stderr,
                "%s: its type in the partition table is %s, not Microsoft basic data: Windows will not show the "
                "volume. %s changes the type\n",
                target->name, partition->type,
                strlen(partition->type) > 4 ? "sfdisk --part-type DISK NUMBER EBD0A0A2-B9E5-4433-87C0-68B6B72699C7"
                                            : "sfdisk --part-type DISK NUMBER 7");
}

/* Has the kernel read the new table. Otherwise the partition has no device node until the device is plugged in again.
 * EINVAL: the kernel reads no partition tables on this kind of device. */
static void reread_partitions(const char *name) {
  const int fd = open(name, O_RDONLY | O_CLOEXEC);

  if (fd < 0 || (ioctl(fd, BLKRRPART) != 0 && errno != EINVAL))
    (void)fprintf(stderr,
                  "spate: the kernel has not read the new partition table: %s. blockdev --rereadpt %s reads it\n",
                  strerror(errno), name);
  if (fd >= 0) (void)close(fd);
}

static enum exit_status run(int count, char **words) {
  static struct volume volume;
  struct request request = parse(count, words);
  struct spate_exfat_info info;
  char size[UNITS_TEXT_BYTES], cluster[UNITS_TEXT_BYTES];
  bool made;

  prepare(&request, &made);
  target_open(&volume.target, request.name, TARGET_MAKE, request.block_bytes);
  const bool new_stripe = volume.target.block == NULL;
  check_room(&request, &volume.target);
  if (new_stripe) make_stripe(&request, &volume.target);
  volume_memory(&volume);
  if (!made && !new_stripe) check_contents(&request, &volume);
  write_volume(&request, &volume);
  expect(spate_exfat_mount(&volume.exfat, &volume.config, NULL), request.name);
  expect(spate_exfat_info(&volume.exfat, &info), request.name);
  const bool has_table = volume.target.kind == TARGET_DEVICE && volume.target.partition.number == 0;
  say_type(&volume.target);
  volume_close(&volume);
  complete = 1;
  if (has_table) reread_partitions(request.name);
  (void)fprintf(stderr, "%s: exFAT volume %s, %s free in clusters of %s\n", request.name, info.label,
                units_text(info.free_bytes, size), units_text(info.cluster_bytes, cluster));
  return EXIT_DONE;
}

const struct command command_format = {
    "format", "make a volume on an image file or a drive",
    "Usage: spate format TARGET [options]\n"
    "\n"
    "Makes a GPT with one partition and an exFAT volume in it. Linux, Windows and macOS mount it without further\n"
    "software. A TARGET that is itself a partition (/dev/sda1, vfio:0000:01:00.0/n1p3) becomes the volume, without a\n"
    "table in it; the rest of the drive stays as it is.\n"
    "The contents of TARGET are lost. A target that holds data is refused without --erase.\n"
    "\n"
    "  --size SIZE            make an image file of this size: --size 8GiB. It is sparse: it takes up space as it "
    "fills\n"
    "  --label NAME           of the volume, up to 11 characters (SPATE)\n"
    "  --cluster SIZE         1MiB to 32MiB (default: by the size of the volume)\n"
    "  --block 512|4096       logical block size of an image file (512)\n"
    "  --erase                format a target that holds data\n"
    "  --yes                  do not ask\n" HELP_COMMON "\n"
    "  spate format rec.img --size 8GiB\n"
    "  spate format /dev/nvme0n1 --label FLIGHT12 --erase\n",
    run};
