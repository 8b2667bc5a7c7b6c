/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVMe drive whose every answer comes from an input: the hosted port of fuzz_nvme.c, which includes this file.
 *
 * Without misbehaviour it works, so that an input makes progress. The next byte of the input is the number of turns
 * without misbehaviour, or the misbehaviour of this turn. Misbehaviour has one limit: the drive reads and writes only
 * memory that the host named. If the host names memory that it must not, the program ends.
 */
#include <spate/bytes.h>
#include <spate_board.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTERS        UINT64_C(0x40000000)
#define REGISTERS_BYTES  UINT64_C(0x2000)
#define TICKS_PER_MS     UINT64_C(1000)
#define PAGE             UINT64_C(4096)
#define DEVICE_QUEUES    2u
#define PENDING_MAX      512u
#define SPANS_MAX        32u
#define HOST_CALLS_MAX   4000000u
#define CALM_TURNS       0x60u /* a smaller byte is a number of turns without misbehaviour */
#define TEMPLATE_SERIAL  "HOSTILE"
#define STATUS_NO_QUEUE  0x4101u
#define STATUS_NO_OPCODE 0x4001u

enum misbehaviour {
  PAUSE,
  OUT_OF_ORDER,
  ERROR_STATUS,
  TWICE,
  WRONG_ID,
  WRONG_QUEUE,
  WRONG_PHASE,
  LOSE,
  JUMP_IN_TIME,
  FATAL,
  RESET,
  LINK_DROP,
  POWER_CUT,
  JUNK_ENTRY,
  GARBAGE_HEAD,
  SPOILED_PAGE,
  EVENT,
  LONG_PAUSE,
  GARBAGE_REGISTER,
  STALE,
  MISBEHAVIOURS
};

struct span { /* memory that the host may name */
  const uint8_t *start;
  uint64_t bytes;
};

struct ring {
  uint64_t address;
  uint32_t entries, head, tail;
  uint16_t cq;
  bool phase;
};

struct pending {
  uint32_t dwords[16];
  uint16_t queue;
};

static struct {
  const uint8_t *input;
  size_t left;
  uint32_t calm, pause;
  uint32_t calls;
  uint64_t ticks, jumped_ticks; /* of all ticks, those of jumps in time, which no number of polls covers */
  uint64_t cap;
  uint32_t cc, csts, aqa, ready_after;
  uint64_t asq, acq;
  bool gone, off_bus; /* off_bus: until the host restores it; gone: for good */
  bool spoil, garbage_head, garbage_register;
  struct ring sq[DEVICE_QUEUES + 1], cq[DEVICE_QUEUES + 1];
  bool created[DEVICE_QUEUES + 1]; /* its completion queue was, since the last reset */
  struct pending pending[PENDING_MAX];
  unsigned pending_count;
  uint32_t last_ids[8], last_at; /* with their queue: commands that completed */
  uint64_t power_cycles;
  /* of each queue's namespace, as the host read it; [0]: as Identify reported it */
  uint8_t block_shift[DEVICE_QUEUES + 1];
  uint64_t transfer_bytes[DEVICE_QUEUES + 1]; /* MDTS, in the same way */
  const uint8_t *identity;                    /* the buffer of the last Identify Controller */
  bool identity_asked;                        /* since then the host has read no entry */
  struct span spans[SPANS_MAX];
  unsigned span_count;
} device;

/* Events of I/O queues, which the including program handles. */
static void ring_created(uint16_t queue);              /* the host created and zeroed a completion ring */
static void said_success(uint16_t queue, uint16_t id); /* an entry with status success was written */
static void fetched(uint16_t queue, uint16_t id);      /* a command was fetched */
static void about_to_act(void);                        /* the host is about to act on an entry that it has read */

__attribute__((noreturn)) static void die(const char *what) {
  (void)fprintf(stderr, "%s\n", what);
  abort();
}

static uint8_t take8(void) {
  if (device.left == 0) return 0;
  device.left--;
  return *device.input++;
}

static uint16_t take16(void) {
  const uint16_t low = take8();
  return (uint16_t)(low | take8() << 8);
}

static uint32_t take32(void) {
  const uint32_t low = take16();
  return low | (uint32_t)take16() << 16;
}

/* The misbehaviour of this turn; MISBEHAVIOURS: none. */
static enum misbehaviour turn(void) {
  if (device.calm > 0 || device.left == 0) {
    if (device.calm > 0) device.calm--;
    return MISBEHAVIOURS;
  }
  const uint8_t byte = take8();
  if (byte >= CALM_TURNS) return (enum misbehaviour)((byte - CALM_TURNS) % MISBEHAVIOURS);
  device.calm = byte;
  return MISBEHAVIOURS;
}

/* ---- memory ---- */

static void allow(const void *start, uint64_t bytes) {
  if (device.span_count == SPANS_MAX) die("more memory than the test has room for");
  device.spans[device.span_count++] = (struct span){start, bytes};
}

/* Memory that a device would read or write. */
static uint8_t *device_memory(uint64_t address, uint64_t bytes) {
  for (unsigned i = 0; i < device.span_count; i++) {
    const uint64_t at = address - (uintptr_t)device.spans[i].start;
    if (at < device.spans[i].bytes && bytes <= device.spans[i].bytes - at) return (uint8_t *)(uintptr_t)address;
  }
  die("the host names memory that is not the drive's");
}

static void touch(uint64_t address, uint64_t bytes, bool write) {
  uint8_t *at = device_memory(address, bytes);
  if (write) {
    at[0] = at[bytes - 1] = 0xda;
  } else {
    (void)*(const volatile uint8_t *)at;
    (void)*(const volatile uint8_t *)(at + bytes - 1);
  }
}

/* Data of a command, one PRP at a time. Each is within the memory that the host named. */
static void move(const uint32_t *dwords, uint64_t bytes, bool write) {
  const uint64_t first = spate_get64(&dwords[6]), second = spate_get64(&dwords[8]);
  const uint64_t here = PAGE - first % PAGE < bytes ? PAGE - first % PAGE : bytes;
  if (first % 4 != 0) die("PRP1 is not aligned");
  touch(first, here, write);
  bytes -= here;
  if (bytes == 0) return;
  if (second % (bytes <= PAGE ? PAGE : 8) != 0) die("PRP2 is not aligned");
  if (bytes <= PAGE) {
    touch(second, bytes, write);
    return;
  }
  for (uint64_t list = second; bytes > 0;) {
    const uint64_t entry = spate_get64(device_memory(list, 8));
    if (entry % PAGE != 0) die("a PRP list entry has an offset");
    if (list % PAGE == PAGE - 8 && bytes > PAGE) {
      list = entry;
      continue;
    }
    const uint64_t piece = bytes < PAGE ? bytes : PAGE;
    touch(entry, piece, write);
    bytes -= piece;
    list += 8;
  }
}

/* ---- completions ---- */

static void post(uint16_t queue, const uint32_t entry[4], bool wrong_phase) {
  struct ring *cq = &device.cq[device.sq[queue].cq];
  if (cq->entries == 0) return;
  uint8_t *at = device_memory(cq->address + (uint64_t)cq->tail * 16, 16);
  const bool phase = cq->phase != wrong_phase;
  for (unsigned i = 0; i < 3; i++)
    spate_put32(at + 4 * i, entry[i]);
  spate_put32(at + 12, (entry[3] & ~UINT32_C(0x10000)) | (phase ? UINT32_C(0x10000) : 0));
  /* In the next pass through the ring the wrong phase is the right one. */
  if (entry[3] >> 17 == 0 && entry[2] >> 16 == queue && queue != 0) said_success(queue, (uint16_t)entry[3]);
  if (++cq->tail < cq->entries) return;
  cq->tail = 0;
  cq->phase = !cq->phase;
}

static void complete(uint16_t queue, uint16_t id, uint16_t status, uint32_t result) {
  const uint32_t head = device.garbage_head ? take16() : device.sq[queue].head;
  const uint32_t entry[4] = {result, 0, (uint32_t)queue << 16 | head, (uint32_t)status << 17 | id};
  device.garbage_head = false;
  device.last_ids[device.last_at++ % 8] = (uint32_t)queue << 16 | id;
  post(queue, entry, false);
}

static void spoil(uint8_t *page, uint32_t bytes) {
  if (!device.spoil) return;
  device.spoil = false;
  for (unsigned i = take8() & 15u; i > 0; i--) {
    const uint16_t at = take16();
    page[at % bytes] = take8();
  }
}

/* ---- the answers of a drive that behaves ---- */

static uint16_t identify(const uint32_t *dwords) {
  uint8_t *page = device_memory(spate_get64(&dwords[6]), PAGE);
  memset(page, 0, PAGE);
  switch (dwords[10] & 0xff) {
  case 0:
    spate_put64(page, 0x10000);
    page[25] = 1;
    page[26] = device.block_shift[0] == 12;
    spate_put32(page + 128, UINT32_C(9) << 16);
    spate_put32(page + 132, UINT32_C(12) << 16);
    break;
  case 1:
    memset(page + 4, ' ', 68);
    memcpy(page + 4, TEMPLATE_SERIAL, sizeof TEMPLATE_SERIAL - 1);
    page[77] = 3; /* 32 KiB */
    spate_put16(page + 128, 1);
    spate_put16(page + 130, 5);
    spate_put16(page + 256, 2);
    spate_put32(page + 272, 4);
    spate_put32(page + 276, 2);
    spate_put32(page + 516, 2);
    spate_put16(page + 520, 0xc);
    page[525] = 1;
    break;
  case 2: spate_put32(page, 1); break;
  default: return STATUS_NO_OPCODE;
  }
  spoil(page, PAGE);
  return 0;
}

/* The host reads the page when it acts on an entry, perhaps before the drive has written the page. Then MDTS has its
 * old contents. Until the next Identify the largest value so far counts. */
static void note_transfer_bytes(void) {
  if (device.identity == NULL) return;
  const uint8_t mdts = device.identity[77];
  const uint64_t bytes =
      mdts == 0 || mdts > 19 ? UINT64_MAX : PAGE << mdts; /* from 4 GiB on, the driver treats it as no limit */
  if (device.identity_asked || bytes > device.transfer_bytes[0]) device.transfer_bytes[0] = bytes;
  device.identity_asked = false;
}

static uint16_t get_log(const uint32_t *dwords) {
  const uint32_t bytes = ((dwords[10] >> 16) + 1) * 4;
  if (bytes != 512) { /* the caller's request */
    if (bytes > device.transfer_bytes[0]) die("a log page larger than MDTS");
    move(dwords, bytes, true);
    return 0;
  }
  uint8_t *page = device_memory(spate_get64(&dwords[6]), bytes);
  memset(page, 0, bytes);
  spate_put16(page + 1, 310);
  spate_put64(page + 112, device.power_cycles);
  spoil(page, bytes);
  return 0;
}

/* A drive that was misled about the doorbells carries out old Create commands again: the entries that it wrote since
 * then still count. A ring is new at the first Create after a reset, and if the host has zeroed it. */
static bool is_new_ring(uint32_t id) {
  const struct ring *cq = &device.cq[id];
  if (!device.created[id]) return true;
  const uint8_t *at = device_memory(cq->address, cq->entries * UINT64_C(16));
  for (uint64_t i = 0; i < cq->entries * UINT64_C(16); i++)
    if (at[i] != 0) return false;
  return true;
}

static uint16_t create_queue(const uint32_t *dwords, bool submission) {
  const uint32_t id = dwords[10] & 0xffff, entries = (dwords[10] >> 16) + 1;
  struct ring *ring = submission ? device.sq : device.cq;
  if (id == 0 || id > DEVICE_QUEUES) return STATUS_NO_QUEUE;
  (void)device_memory(spate_get64(&dwords[6]), entries * (submission ? 64u : 16u));
  ring[id] = (struct ring){.address = spate_get64(&dwords[6]), .entries = entries, .phase = true, .cq = (uint16_t)id};
  if (!submission) {
    if (is_new_ring(id)) ring_created((uint16_t)id);
    device.created[id] = true;
  }
  return 0;
}

static uint16_t delete_queue(const uint32_t *dwords, bool submission) {
  const uint32_t id = dwords[10] & 0xffff;
  if (id == 0 || id > DEVICE_QUEUES) return STATUS_NO_QUEUE;
  (submission ? device.sq : device.cq)[id].entries = 0;
  return 0;
}

static uint16_t admin(const uint32_t *dwords, uint32_t *result) {
  switch (dwords[0] & 0xff) {
  case 0x00: return delete_queue(dwords, true);
  case 0x01: return create_queue(dwords, true);
  case 0x02: return get_log(dwords);
  case 0x04: return delete_queue(dwords, false);
  case 0x05: return create_queue(dwords, false);
  case 0x06: return identify(dwords);
  case 0x08: return 0;
  case 0x09:
    if ((dwords[10] & 0xff) == 7) *result = (DEVICE_QUEUES - 1) * 0x10001u;
    if ((dwords[10] & 0xff) == 0x16) (void)device_memory(spate_get64(&dwords[6]), 512);
    if ((dwords[10] & 0xff) == 0x0d && (dwords[11] & 1) != 0)
      (void)device_memory((uint64_t)dwords[14] << 32 | dwords[13], 16 * (uint64_t)dwords[15]);
    return 0;
  case 0x0a: *result = device.spoil ? take32() : 1; return 0;
  case 0x80: return 0;
  default: return STATUS_NO_OPCODE;
  }
}

static uint16_t io(uint16_t queue, const uint32_t *dwords) {
  const uint64_t bytes = (uint64_t)((dwords[12] & 0xffff) + 1) << device.block_shift[queue];
  const uint8_t opcode = (uint8_t)dwords[0];
  if ((opcode == 1 || opcode == 2) && bytes > device.transfer_bytes[queue]) die("a transfer larger than MDTS");
  switch (opcode) {
  case 0:
  case 8: return 0;
  case 1: move(dwords, bytes, false); return 0;
  case 2: move(dwords, bytes, true); return 0;
  case 9: (void)device_memory(spate_get64(&dwords[6]), 16 * (uint64_t)((dwords[10] & 0xff) + 1)); return 0;
  default: die("an I/O command that the driver never sends");
  }
}

/* ---- its turns ---- */

static void forget(void) {
  memset(device.sq, 0, sizeof device.sq);
  memset(device.cq, 0, sizeof device.cq);
  memset(device.created, 0, sizeof device.created);
  device.pending_count = 0;
}

static struct pending remove_pending(unsigned at) {
  const struct pending removed = device.pending[at];
  device.pending_count--;
  memmove(&device.pending[at], &device.pending[at + 1], (device.pending_count - at) * sizeof removed);
  return removed;
}

/* Complete a pending command: carry it out if `status` is 0, otherwise only return this status. */
static void finish(unsigned at, uint16_t status) {
  const struct pending command = remove_pending(at);
  uint32_t result = 0;
  if (status == 0) status = command.queue == 0 ? admin(command.dwords, &result) : io(command.queue, command.dwords);
  complete(command.queue, (uint16_t)(command.dwords[0] >> 16), status, result);
}

/* An asynchronous event request waits for its event. */
static unsigned first_ready(void) {
  for (unsigned i = 0; i < device.pending_count; i++)
    if (device.pending[i].queue != 0 || (device.pending[i].dwords[0] & 0xff) != 0x0c) return i;
  return device.pending_count;
}

static void lose_power(void) {
  forget();
  device.cc = device.csts = 0;
}

static void happen_to_entry(enum misbehaviour what, unsigned at) {
  const struct pending *command = &device.pending[at];
  const uint16_t queue = command->queue, id = (uint16_t)(command->dwords[0] >> 16);
  switch (what) {
  case OUT_OF_ORDER: finish(take8() % device.pending_count, 0); break;
  case ERROR_STATUS: finish(at, take16() & 0x7fff); break;
  case TWICE:
    finish(at, 0);
    complete(queue, id, 0, 0);
    break;
  case WRONG_ID: complete(queue, id ^ take16(), take8() & 1, 0); break;
  case WRONG_QUEUE: post(queue, (uint32_t[4]){0, 0, (uint32_t)take16() << 16, id}, false); break;
  case WRONG_PHASE: post(queue, (uint32_t[4]){0, 0, (uint32_t)queue << 16, id}, true); break;
  case LOSE: (void)remove_pending(at); break;
  default: break;
  }
}

static void jump(uint32_t ms) {
  device.ticks += ms * TICKS_PER_MS;
  device.jumped_ticks += ms * TICKS_PER_MS;
}

static void happen(enum misbehaviour what) {
  const unsigned at = first_ready();
  if (at < device.pending_count) happen_to_entry(what, at);
  switch (what) {
  case JUMP_IN_TIME: jump(take16()); break;
  case FATAL: device.csts |= 2; break;
  case RESET: lose_power(); break;
  case POWER_CUT:
    device.power_cycles++;
    lose_power();
    break;
  case LINK_DROP: device.off_bus = true; break;
  case JUNK_ENTRY: {
    const uint16_t queue = take8() % (DEVICE_QUEUES + 1);
    const uint32_t entry[4] = {take32(), take32(), take32(), take32()};
    post(queue, entry, (entry[3] & 0x10000) != 0);
    break;
  }
  case STALE: {
    const uint32_t last = device.last_ids[take8() % 8];
    complete((uint16_t)(last >> 16), (uint16_t)last, 0, 0);
    break;
  }
  case GARBAGE_HEAD: device.garbage_head = true; break;
  case GARBAGE_REGISTER: device.garbage_register = true; break;
  case SPOILED_PAGE: device.spoil = true; break;
  case EVENT:
    for (unsigned i = 0; i < device.pending_count; i++) {
      if (device.pending[i].queue != 0 || (device.pending[i].dwords[0] & 0xff) != 0x0c) continue;
      const struct pending request = remove_pending(i);
      complete(0, (uint16_t)(request.dwords[0] >> 16), take8() & 1, take32());
      break;
    }
    break;
  case PAUSE: device.pause = take8(); break;
  case LONG_PAUSE: device.pause = take8() * 256u; break;
  default: break;
  }
}

static bool off_the_bus(void) { return device.gone || device.off_bus; }

static void act(void) {
  if (++device.calls > HOST_CALLS_MAX) die("the host does not end");
  if (off_the_bus()) return;
  if (device.pause > 0) {
    device.pause--;
    return;
  }
  const enum misbehaviour what = turn();
  if (what != MISBEHAVIOURS) {
    happen(what);
    return;
  }
  if ((device.csts & 3) != 1) return;
  const unsigned at = first_ready();
  if (at < device.pending_count) finish(at, 0);
}

/* ---- registers ---- */

static uint32_t status_register(void) {
  if ((device.cc & 1) != 0 && (device.csts & 3) == 0 && (device.ready_after == 0 || --device.ready_after == 0))
    device.csts |= 1;
  if ((device.cc & 0xc000) != 0) device.csts |= 8;
  return device.csts;
}

uint32_t host_read32(uintptr_t address) {
  const uint64_t offset = address - REGISTERS;
  if (offset + 4 > REGISTERS_BYTES) die("a read beyond the registers");
  act();
  if (off_the_bus()) return UINT32_MAX;
  if (device.garbage_register) {
    device.garbage_register = false;
    return take32();
  }
  switch (offset) {
  case 0x00: return (uint32_t)device.cap;
  case 0x04: return (uint32_t)(device.cap >> 32);
  case 0x08: return 0x00010400;
  case 0x14: return device.cc;
  case 0x1c: return status_register();
  default: return take32();
  }
}

static void write_control(uint32_t value) {
  const uint32_t before = device.cc;
  device.cc = value;
  if ((value & ~before & 1) != 0) {
    forget();
    device.csts = 0;
    device.ready_after = take8();
    device.sq[0] = (struct ring){.address = device.asq, .entries = (device.aqa & 0xfff) + 1};
    device.cq[0] = (struct ring){.address = device.acq, .entries = (device.aqa >> 16 & 0xfff) + 1, .phase = true};
  } else if ((~value & before & 1) != 0) {
    forget();
    device.csts = 0;
  }
}

static void fetch(uint16_t queue, uint32_t tail) {
  struct ring *sq = &device.sq[queue];
  if (sq->entries == 0 || tail >= sq->entries) return;
  while (sq->head != tail) {
    struct pending command = {.queue = queue};
    memcpy(command.dwords, device_memory(sq->address + (uint64_t)sq->head * 64, 64), 64);
    sq->head = (sq->head + 1) % sq->entries;
    if (device.pending_count < PENDING_MAX) device.pending[device.pending_count++] = command;
    if (queue != 0) fetched(queue, (uint16_t)(command.dwords[0] >> 16));
    if (queue == 0 && (command.dwords[0] & 0xff) == 6 && (command.dwords[10] & 0xff) == 1) {
      device.identity = device_memory(spate_get64(&command.dwords[6]), PAGE);
      device.identity_asked = true;
    }
  }
}

void host_write32(uintptr_t address, uint32_t value) {
  const uint64_t offset = address - REGISTERS;
  if (offset + 4 > REGISTERS_BYTES) die("a write beyond the registers");
  if (off_the_bus()) return;
  const uint64_t doorbell = (offset - 0x1000) >> (2 + (device.cap >> 32 & 0xf));
  switch (offset) {
  case 0x14: write_control(value); break;
  case 0x20: /* NSSR, which exists if CAP said so; the CAP that the host read may have been garbage */
    if (value != 0x4e564d65) die("a subsystem reset with a wrong value");
    forget();
    device.cc = device.csts = 0;
    break;
  case 0x24: device.aqa = value; break;
  case 0x28: device.asq = (device.asq & ~UINT64_C(0xffffffff)) | value; break;
  case 0x2c: device.asq = (uint32_t)device.asq | (uint64_t)value << 32; break;
  case 0x30: device.acq = (device.acq & ~UINT64_C(0xffffffff)) | value; break;
  case 0x34: device.acq = (uint32_t)device.acq | (uint64_t)value << 32; break;
  default:
    if (offset < 0x1000) die("a write of a register that no host writes");
    if ((device.csts & 1) != 0 && doorbell % 2 == 0 && doorbell / 2 <= DEVICE_QUEUES)
      fetch((uint16_t)(doorbell / 2), value);
  }
}

/* ---- the rest of the port ---- */

uint64_t host_ticks(void) {
  act();
  return device.ticks += TICKS_PER_MS / 10;
}

void host_relax(void) { device.ticks += 5 * TICKS_PER_MS; }
uint64_t host_ticks_per_second(void) { return 1000 * TICKS_PER_MS; }
void host_dma_write_barrier(void) {}
void host_dma_read_barrier(void) {
  note_transfer_bytes();
  about_to_act();
}
void host_cache_clean(const void *start, size_t bytes) { (void)device_memory((uintptr_t)start, bytes); }
void host_cache_invalidate(void *start, size_t bytes) { (void)device_memory((uintptr_t)start, bytes); }
uint64_t host_dma_address(const volatile void *memory) { return (uintptr_t)memory; }
void host_log(const char *text, uint64_t value) {
  (void)text;
  (void)value;
}

/* Power on, with a new input. Permitted memory stays permitted. */
static void device_start(const uint8_t *input, size_t bytes) {
  const unsigned spans = device.span_count;
  struct span kept[SPANS_MAX];
  memcpy(kept, device.spans, sizeof kept);
  memset(&device, 0, sizeof device);
  memcpy(device.spans, kept, sizeof kept);
  device.span_count = spans;
  device.input = input;
  device.left = bytes;
  device.ticks = 1;
  device.block_shift[0] = 9;
  device.power_cycles = 7;
  /* 64 entries, 2 s, stride 4, NVM command set, 4 KiB pages. */
  device.cap = UINT64_C(63) | UINT64_C(1) << 16 | UINT64_C(4) << 24 | UINT64_C(1) << 37;
}
