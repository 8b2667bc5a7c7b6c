/* SPDX-License-Identifier: Apache-2.0 */
#include "direct.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

/* The smallest step of transfers with O_DIRECT; 0: there is none. A kernel before 6.1 does not say: a page is assumed.
 */
static uint32_t smallest_step_bytes(int fd) {
  struct statx status;

  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) != 0 || (status.stx_mask & STATX_DIOALIGN) == 0)
    return DIRECT_ALIGN;
  return status.stx_dio_mem_align <= DIRECT_ALIGN ? status.stx_dio_offset_align : 0;
}

/* A file system without O_DIRECT refuses to open with EINVAL, and may have made the file by then. */
int direct_open(const char *path, int flags, unsigned mode, uint32_t step_bytes, bool *direct) {
  int fd = open(path, flags | O_DIRECT | O_CLOEXEC, mode);

  if (direct != NULL) *direct = false;
  if (fd >= 0) {
    const uint32_t smallest = smallest_step_bytes(fd);
    const bool fits = smallest > 0 && smallest <= step_bytes;
    const int present = fits ? 0 : fcntl(fd, F_GETFL);
    if (!fits && (present < 0 || fcntl(fd, F_SETFL, present & ~O_DIRECT) != 0)) {
      const int error = errno;
      (void)close(fd);
      errno = error;
      return -1;
    }
    if (direct != NULL) *direct = fits;
    return fd;
  }
  return errno == EINVAL ? open(path, (flags & ~O_EXCL) | O_CLOEXEC, mode) : -1;
}
