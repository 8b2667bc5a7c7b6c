/* SPDX-License-Identifier: Apache-2.0 */
#include "qtest.h"
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS_MAX   64
#define CONFIG          QTEST_CONFIG_BASE
#define CONNECT_SECONDS 20

__attribute__((noreturn)) static void give_up(const char *what) {
  perror(what);
  abort();
}

void qtest_prepare(struct qtest *qtest) {
  *qtest = (struct qtest){.emulator = -1};
  (void)snprintf(qtest->folder, sizeof qtest->folder, "/tmp/spate-qtest-XXXXXX");
  if (mkdtemp(qtest->folder) == NULL) give_up("mkdtemp");
}

void qtest_image(const struct qtest *qtest, const char *name, uint64_t bytes, char *path, size_t path_bytes) {
  (void)snprintf(path, path_bytes, "%s/%s", qtest->folder, name);
  const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ftruncate(file, (off_t)bytes) != 0) give_up(path);
  (void)close(file);
}

static void hear(struct qtest *qtest, char *answer, size_t answer_bytes) {
  if (fgets(answer, (int)answer_bytes, qtest->answers) == NULL || strncmp(answer, "OK", 2) != 0) give_up("qtest");
}

uint64_t qtest_read(struct qtest *qtest, uint64_t address, char width) {
  char answer[64];
  if (dprintf(qtest->socket, "read%c 0x%" PRIx64 "\n", width, address) < 0) give_up("qtest read");
  hear(qtest, answer, sizeof answer);
  return strtoull(answer + 2, NULL, 0);
}

void qtest_write(struct qtest *qtest, uint64_t address, uint64_t value, char width) {
  char answer[64];
  if (dprintf(qtest->socket, "write%c 0x%" PRIx64 " 0x%" PRIx64 "\n", width, address, value) < 0)
    give_up("qtest write");
  hear(qtest, answer, sizeof answer);
}

__attribute__((noreturn)) static void run_emulator(const char *const *arguments, const char *socket_path,
                                                   const char *memory_path) {
  char qtest[128], memory[192];
  const char *all[ARGUMENTS_MAX];
  unsigned count = 0;

  (void)snprintf(qtest, sizeof qtest, "unix:%s", socket_path);
  (void)snprintf(memory, sizeof memory, "memory-backend-file,id=m0,size=%" PRIu64 ",mem-path=%s,share=on",
                 QTEST_MEMORY_BYTES, memory_path);
  const char *const fixed[] = {"qemu-system-aarch64",
                               "-M",
                               "virt,highmem=off",
                               "-accel",
                               "tcg",
                               "-cpu",
                               "cortex-a53",
                               "-S",
                               "-display",
                               "none",
                               "-nodefaults",
                               "-qtest",
                               qtest,
                               "-qtest-log",
                               "none",
                               "-object",
                               memory,
                               "-machine",
                               "memory-backend=m0",
                               "-m",
                               "96M"};
  for (unsigned i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
    all[count++] = fixed[i];
  for (unsigned i = 0; arguments[i] != NULL && count < ARGUMENTS_MAX - 1; i++)
    all[count++] = arguments[i];
  all[count] = NULL;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* no emulator outlives a test that crashed */
  (void)execvp(all[0], (char *const *)(uintptr_t)all);
  give_up("qemu-system-aarch64");
}

/* Size BAR 0, place it, and turn on memory decoding and bus mastering. */
static void open_device(struct qtest *qtest) {
  if (qtest_read(qtest, CONFIG + 8, 'l') >> 8 != 0x010802) give_up("no NVMe controller at 01.0");
  qtest_write(qtest, CONFIG + 0x10, UINT32_MAX, 'l');
  qtest->bar_bytes = ~(qtest_read(qtest, CONFIG + 0x10, 'l') & 0xfffffff0u) + 1u;
  qtest->bar_bytes &= UINT32_MAX;
  qtest_write(qtest, CONFIG + 0x10, QTEST_BAR_BASE, 'l');
  qtest_write(qtest, CONFIG + 0x14, 0, 'l');
  qtest_write(qtest, CONFIG + 4, 6, 'w');
}

void qtest_start(struct qtest *qtest, const char *const *arguments) {
  char socket_path[96], memory_path[96];
  struct sockaddr_un address = {.sun_family = AF_UNIX};

  (void)snprintf(socket_path, sizeof socket_path, "%s/qtest", qtest->folder);
  qtest_image(qtest, "memory", QTEST_MEMORY_BYTES, memory_path, sizeof memory_path);
  const int memory = open(memory_path, O_RDWR);
  qtest->memory = mmap(NULL, QTEST_MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (memory < 0 || qtest->memory == MAP_FAILED) give_up(memory_path);
  (void)close(memory);

  memcpy(address.sun_path, socket_path, strlen(socket_path) + 1);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const struct timeval patience = {.tv_sec = CONNECT_SECONDS};
  if (listener < 0 || bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 1) != 0 || setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
    give_up(socket_path);
  qtest->emulator = fork();
  if (qtest->emulator < 0) give_up("fork");
  if (qtest->emulator == 0) run_emulator(arguments, socket_path, memory_path);
  qtest->socket = accept(listener, NULL, NULL);
  (void)close(listener);
  qtest->answers = qtest->socket < 0 ? NULL : fdopen(qtest->socket, "r");
  if (qtest->answers == NULL) give_up("QEMU did not start");
  if (!qtest->untouched) open_device(qtest);
}

void qtest_stop(struct qtest *qtest) {
  static const char *const files[] = {"qtest", "memory", "image", "image2", "image3"};
  char path[96];

  if (qtest->emulator > 0) {
    (void)kill(qtest->emulator, SIGTERM);
    (void)waitpid(qtest->emulator, NULL, 0);
    (void)fclose(qtest->answers);
    (void)munmap(qtest->memory, QTEST_MEMORY_BYTES);
  }
  for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++) {
    (void)snprintf(path, sizeof path, "%s/%s", qtest->folder, files[i]);
    (void)unlink(path);
  }
  (void)rmdir(qtest->folder);
}
