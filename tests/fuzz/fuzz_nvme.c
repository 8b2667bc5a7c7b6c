/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NVMe driver on a drive whose every answer comes from the input (hostile_device.c). Whatever the drive answers:
 *
 * - every call and every request ends, after a bounded number of turns and a bounded time of the drive;
 * - the driver stays within its memory, and names only this memory and the requests' buffers to the drive;
 * - each accepted request ends exactly once, and with success only if the drive reported it for each of its commands.
 *
 * Input: byte 0 options, byte 1 depth, bytes 2-3 the length of what the host does, then that, then what the drive does.
 */
#include "hostile_device.c" /* one program: its host_* stand in for the hosted port's */

#include <spate/nvme.h>

#define RING_BYTES   (UINT32_C(512) << 10)
#define BUFFER_BYTES (UINT32_C(80) << 10)
#define REQUESTS_MAX 96u
#define TURNS_MAX    200000u
#define SETUP_MS_MAX (14 * 5000) /* commands of open, each with its own deadline */
#define SLACK_MS     2000
#define RESET_MS_MAX 2000
#define RESTORE_MS   3000

enum option {
  REATTACH = 1,
  HOST_BUFFER = 2,
  BLOCK_4096 = 4,
  TWO_QUEUES = 8,
  RAW_CAP = 16,
  COMES_BACK = 32,
  STAYS_AWAY = 64
};

struct request {
  struct spate_io io;
  unsigned calls, parts;
  uint64_t answered; /* a bit for each part: the drive reported success for its last sending */
  bool accepted;
};

/* A command in a slot, as it was last sent. A retry and a replay are new sendings. */
struct sending {
  const struct spate_io *io;
  uint64_t life;
  uint32_t order;
  bool answered;
};

/* Entries with status success that belong to no sending yet. They may lie in the ring before the sending exists. */
struct successes {
  uint64_t life;
  unsigned count;
};

static struct spate_nvme nvme;
static struct spate_nvme_queue queues[DEVICE_QUEUES];
static struct spate_nvme_slot *slots[DEVICE_QUEUES]; /* as many as each queue needs, in an allocation of its own */
static unsigned queue_count;
static unsigned list_pages; /* of each queue */
static struct request requests[REQUESTS_MAX];
static unsigned request_count;
static struct spate_region region;
static uint8_t *ring, *buffer;
static uint8_t options;
static struct sending sendings[DEVICE_QUEUES][SPATE_NVME_QUEUE_DEPTH_MAX + 1u];
/* By identifier. An identifier repeats after 256 commands, which may be four resets. Each reset begins a new life. */
static struct successes successes[DEVICE_QUEUES][UINT16_MAX + 1u];
/* The life of each queue's completion ring, from its creation on. No number is used twice, in this input or the
 * next. */
static uint64_t lives[DEVICE_QUEUES], lives_begun;
static struct spate_nvme_admin_request admin_request; /* zeros: none was accepted */
static bool admin_in_flight;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void done(struct spate_io *io);

static void ring_created(uint16_t queue) { lives[queue - 1u] = ++lives_begun; }

static void said_success(uint16_t queue, uint16_t id) {
  struct successes *said = &successes[queue - 1u][id];
  if (said->life != lives[queue - 1u]) *said = (struct successes){.life = lives[queue - 1u]};
  said->count++;
}

static bool use_success(unsigned queue, uint16_t id) {
  struct successes *said = &successes[queue][id];
  if (said->life != lives[queue] || said->count == 0) return false;
  said->count--;
  return true;
}

static void update_slot(unsigned queue, unsigned number) {
  const struct spate_nvme_slot *slot = &queues[queue].slots[number];
  struct sending *sending = &sendings[queue][number];
  const uint64_t not_in_flight = UINT64_C(1) << 62;
  if ((slot->sent & not_in_flight) != 0 || slot->io->done != done) return; /* the latter: the driver's own flush */
  if (sending->io != slot->io || sending->life != lives[queue] || sending->order != slot->order)
    *sending = (struct sending){.io = slot->io, .life = lives[queue], .order = slot->order};
  if (!sending->answered) sending->answered = use_success(queue, (uint16_t)(slot->sent >> 16));
  struct request *request = slot->io->context;
  const uint64_t part = UINT64_C(1) << slot->part;
  request->answered = sending->answered ? request->answered | part : request->answered & ~part;
}

/* The drive has fetched a command: earlier entries for its slot do not belong to this command. */
static void fetched(uint16_t queue, uint16_t id) {
  if (queue <= queue_count) update_slot(queue - 1u, id & 0xffu);
}

/* The driver is about to act on an entry. The slots are still as they were when the entry was written. */
static void about_to_act(void) {
  for (unsigned i = 0; i < queue_count; i++)
    for (unsigned j = 0; j < queues[i].block.depth; j++)
      update_slot(i, j);
}

static void done(struct spate_io *io) {
  struct request *request = io->context;
  if (!request->accepted) die("a request that was refused ends");
  if (++request->calls > 1) die("a request ends twice");
  if (io->error == SPATE_OK && request->answered != (UINT64_C(1) << request->parts) - 1u)
    die("a success that the drive did not report");
}

static unsigned slots_of(const struct spate_nvme_queue *queue, const struct spate_io *io) {
  unsigned count = 0;
  for (unsigned i = 0; i < queue->block.depth; i++)
    count += queue->slots[i].sent != UINT64_C(1) << 62 && queue->slots[i].io == io;
  return count;
}

static void submit(uint8_t what) {
  static const uint32_t blocks[] = {1, 8, 9, 64, 65, 128, 300, 700};
  if (queue_count == 0 || request_count == REQUESTS_MAX) return;
  struct spate_nvme_queue *queue = &queues[(what >> 3) % queue_count];
  struct request *request = &requests[request_count];
  const uint8_t shape = take8();
  *request = (struct request){.io = {.op = what % 5, .done = done, .context = request}};
  struct spate_io *request_io = &request->io;
  if (request_io->op != SPATE_FLUSH) {
    request_io->blocks = blocks[shape & 7] >> (queue->block.block_shift == 12 ? 3 : 0);
    request_io->lba = take8() * 64u;
  }
  if (request_io->op == SPATE_READ || request_io->op == SPATE_WRITE) {
    request_io->flags = shape >> 3 & 3;
    if ((shape & 0x20) != 0) {
      request_io->buffer = buffer + (shape >> 6) * (size_t)64;
      if (((uint64_t)request_io->blocks << queue->block.block_shift) + 192 > BUFFER_BYTES) return;
    } else {
      request_io->region = &region;
      request_io->offset_bytes = take16() * UINT64_C(64) * (1 + (shape >> 6));
    }
  }
  request->accepted = true;
  if (spate_block_submit(&queue->block, request_io) != SPATE_OK) {
    request->accepted = false;
    return;
  }
  request->parts = slots_of(queue, request_io);
  if (request->parts == 0) die("a request is accepted, and in no slot");
  request_count++;
}

static void poll_all(unsigned turns) {
  for (unsigned i = 0; i < turns; i++) {
    for (unsigned j = 0; j < queue_count; j++)
      (void)spate_block_poll(&queues[j].block, 1 + i % 32);
    if (admin_in_flight) spate_nvme_poll(&nvme);
    host_relax();
  }
}

static bool all_done(void) {
  for (unsigned i = 0; i < request_count; i++)
    if (requests[i].calls == 0) return false;
  return !admin_in_flight;
}

static void admin_done(struct spate_nvme_admin_request *request) {
  if (request != &admin_request || !admin_in_flight) die("an admin request ends twice, or was not accepted");
  admin_in_flight = false;
}

/* A log read of any length, with a buffer that begins in the middle of a page. */
static void submit_admin(uint8_t what) {
  if (admin_in_flight) return;
  const uint32_t dwords = (what & 0x80u) != 0 ? 1u + take8() : 2048u + take16() % 17000u;
  admin_request = (struct spate_nvme_admin_request){.opcode = 0x02,
                                                    .dwords_10_15 = {(dwords - 1u) << 16 | (what >> 3)},
                                                    .buffer = buffer + (what >> 6) * (size_t)64,
                                                    .bytes = dwords * 4u,
                                                    .timeout_ms = 1u + take8() * 16u,
                                                    .done = admin_done};
  admin_in_flight = true;
  if (spate_nvme_admin_submit(&nvme, &admin_request) != SPATE_OK) admin_in_flight = false;
}

/* Closes the last queue: the model of the drive identifies queues by their number. */
static void close_queue(void) {
  if (queue_count == 0) return;
  struct spate_nvme_queue *queue = &queues[queue_count - 1u];
  const enum spate_error error = spate_nvme_queue_close(&nvme, queue);
  if (error != SPATE_OK) return;
  queue_count--;
}

/* The drive controls the contents of the answers: only their arrival can be checked. */
static void ask(uint8_t what) {
  uint32_t nsids[2];
  unsigned count;
  bool on;
  uint8_t state;
  struct spate_nvme_namespace namespace;
  switch (what % 10) {
  case 0: (void)!spate_nvme_health_start(&nvme); break;
  case 1: (void)!spate_nvme_health_read(&nvme); break;
  case 2: (void)!spate_nvme_write_cache_get(&nvme, &on); break;
  case 3: (void)!spate_nvme_write_cache_set(&nvme, (what & 8) != 0); break;
  case 4: (void)!spate_nvme_power_state_get(&nvme, &state); break;
  case 5: (void)!spate_nvme_power_state_set(&nvme, what >> 3); break;
  case 6:
    (void)!spate_nvme_namespaces(&nvme, nsids, 2, &count);
    (void)!spate_nvme_namespace(&nvme, what >> 3, &namespace);
    break;
  case 7: submit_admin(what); break;
  case 8: close_queue(); break;
  default: (void)!spate_nvme_format(&nvme, 1, 4096, SPATE_NVME_ERASE_USER, 1000); break;
  }
}

static void open_queue(unsigned depth) {
  if (queue_count == DEVICE_QUEUES) return;
  struct spate_nvme_queue *queue = &queues[queue_count];
  const struct spate_nvme_queue_config config = {
      .depth = depth, .list_pages = list_pages, .slots = slots[queue_count], .slot_count = SPATE_NVME_SLOTS(depth)};
  if (spate_nvme_queue_open(&nvme, queue, &config) != SPATE_OK) return;
  device.block_shift[queue->id] = queue->block.block_shift;
  device.transfer_bytes[queue->id] = device.transfer_bytes[0];
  /* an identifier was lost with a half-deleted queue pair: not modelled here */
  if (queue->id != queue_count + 1u) return;
  queue_count++;
}

static enum spate_error reattach(void *context) {
  (void)context;
  if ((options & STAYS_AWAY) != 0) return SPATE_E_BUSY;
  if ((options & COMES_BACK) == 0 && (take8() & 7u) == 0) return SPATE_E_NO_DEVICE;
  if (device.gone || (take8() & 3u) != 0) return SPATE_E_BUSY;
  device.off_bus = false;
  lose_power();
  return SPATE_OK;
}

/* Resets beyond CC.EN: unsupported, still in progress, or done. */
static enum spate_error reset(void *context, enum spate_nvme_reset how) {
  (void)context;
  (void)how;
  const uint8_t answer = take8();
  if ((answer & 3u) == 0) return SPATE_E_UNSUPPORTED;
  if ((answer & 3u) == 1) return SPATE_E_BUSY;
  lose_power();
  return SPATE_OK;
}

static enum spate_error isolate(void *context) {
  (void)context;
  return (take8() & 1u) == 0 ? SPATE_E_NO_DEVICE : SPATE_OK;
}

static struct spate_nvme_config prepare(struct spate_arena *arena) {
  static uint8_t *host_buffer;
  if (ring == NULL) {
    ring = aligned_alloc(PAGE, RING_BYTES);
    buffer = aligned_alloc(PAGE, BUFFER_BYTES);
    host_buffer = aligned_alloc(PAGE, 4 * PAGE);
  }
  if (ring == NULL || buffer == NULL || host_buffer == NULL) die("no memory");
  allow(arena->start, arena->bytes);
  allow(ring, RING_BYTES);
  allow(buffer, BUFFER_BYTES);
  allow(host_buffer, 4 * PAGE);
  if (spate_region_init(&region, ring, RING_BYTES, arena) != SPATE_OK) die("no memory for the region's table");
  return (struct spate_nvme_config){.registers = REGISTERS,
                                    .registers_bytes = REGISTERS_BYTES,
                                    .queue_memory = arena,
                                    .command_timeout_ms = 1500,
                                    .host_buffer = (options & HOST_BUFFER) != 0 ? host_buffer : NULL,
                                    .host_buffer_bytes = 4 * PAGE,
                                    .bus = {.restore = (options & REATTACH) != 0 ? reattach : NULL,
                                            .reset = (options & REATTACH) != 0 ? reset : NULL,
                                            .isolate = (options & TWO_QUEUES) != 0 ? isolate : NULL},
                                    .reattach_timeout_ms = RESTORE_MS};
}

static void act_as_host(const uint8_t *script, size_t bytes, unsigned depth) {
  for (size_t i = 0; i < bytes; i++) {
    const uint8_t what = script[i];
    if (what < 0xa0)
      submit(what);
    else if (what < 0xe0)
      poll_all((what & 0x3fu) + 1u);
    else if (what < 0xf8)
      ask((uint8_t)((what & 0x1fu) | (unsigned)take8() << 5));
    else if (what < 0xfc)
      open_queue(depth);
    else
      jump(take16());
  }
}

/* However the input continues, every request ends: normally, or because the drive is off the bus for good. */
static void finish_all(void) {
  if ((options & COMES_BACK) == 0) device.gone = true;
  for (unsigned turns = 0; !all_done(); turns++) {
    if (turns > TURNS_MAX) die("a request does not end");
    poll_all(1);
  }
  (void)!spate_nvme_shutdown(&nvme);
  poll_all(2);
  device.gone = true;
  if (!all_done()) die("a request is lost");
}

static void open_all(const struct spate_nvme_config *config, unsigned depth) {
  if (spate_nvme_open(&nvme, config) != SPATE_OK) {
    if (nvme.state == SPATE_NVME_RUNNING) die("open fails, and the controller runs");
    const uint64_t ms = (device.ticks - device.jumped_ticks) / TICKS_PER_MS;
    /* The first bring-up, and one after each harder reset, which takes time as well; and the wait for the controller to
     * stop. */
    const uint64_t tries = 1u + nvme.counters.hard_resets;
    const uint64_t resets_ms = SPATE_NVME_RESETS * RESET_MS_MAX + nvme.counters.hard_resets * RESTORE_MS;
    if (ms > (3 * tries + 1) * (nvme.identity.ready_timeout_ms + 500) + tries * SETUP_MS_MAX + resets_ms + SLACK_MS)
      die("open takes longer than its limit");
    return;
  }
  open_queue(depth);
  if ((options & TWO_QUEUES) != 0) open_queue(depth);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4 || size > 16384) return 0;
  options = data[0];
  const unsigned depth = 2u + data[1] % 62u;
  list_pages = 1u + data[1] / 62u % SPATE_NVME_LIST_PAGES_MAX;
  size_t script_bytes = (size_t)data[2] + ((size_t)data[3] << 8);
  if (script_bytes > size - 4) script_bytes = size - 4;
  memset(queues, 0, sizeof queues);
  memset(&nvme, 0, sizeof nvme);
  queue_count = request_count = 0;
  admin_in_flight = false;

  /* Exactly as much as needed, in an allocation of its own: one byte too many is detected. */
  const size_t arena_bytes = SPATE_NVME_CONTROLLER_MEMORY_BYTES + SPATE_NVME_ADMIN_LISTS_BYTES +
                             DEVICE_QUEUES * SPATE_NVME_QUEUE_MEMORY_BYTES(depth, list_pages) +
                             SPATE_REGION_TABLE_BYTES(RING_BYTES);
  struct spate_arena arena = {.start = aligned_alloc(PAGE, arena_bytes), .bytes = arena_bytes};
  if (arena.start == NULL) die("no memory");
  memset(arena.start, 0, arena_bytes);
  for (unsigned i = 0; i < DEVICE_QUEUES; i++) {
    slots[i] = malloc(SPATE_NVME_SLOTS(depth) * sizeof *slots[i]);
    if (slots[i] == NULL) die("no memory");
  }
  device.span_count = 0;
  const struct spate_nvme_config config = prepare(&arena);
  device_start(data + 4 + script_bytes, size - 4 - script_bytes);
  if ((options & BLOCK_4096) != 0) device.block_shift[0] = 12;
  if ((options & RAW_CAP) != 0) device.cap ^= (uint64_t)take32() << 32 | take32();

  open_all(&config, depth);
  act_as_host(data + 4, script_bytes, depth);
  finish_all();
  for (unsigned i = 0; i < DEVICE_QUEUES; i++)
    free(slots[i]);
  free(arena.start);
  return 0;
}
