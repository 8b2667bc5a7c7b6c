/* SPDX-License-Identifier: Apache-2.0 */
#include "nvme_script_steps.h"

/* ---- the controller ---- */

static void registers(struct script *s) {
  const struct raw_target *t = &s->raw->target;
  const uint64_t cap = t->read32(t->context, 0) | (uint64_t)t->read32(t->context, 4) << 32;

  value(s, "CAP.CQR", cap >> 16 & 1u);
  value(s, "CAP.DSTRD", cap >> 32 & 0xfu);
  value(s, "CAP.CSS has the NVM command set", cap >> 37 & 1u);
  value(s, "CAP.MPSMIN", cap >> 48 & 0xfu);
  value(s, "VS", t->read32(t->context, 8));
  value(s, "CC before anything", t->read32(t->context, 0x14));
  value(s, "CSTS before anything", raw_csts(s->raw));
  t->write32(t->context, 0x0c, 5); /* INTMS, INTMC */
  value(s, "INTMS after 5 was set", t->read32(t->context, 0x0c));
  t->write32(t->context, 0x10, 1);
  value(s, "INTMS after 1 was cleared", t->read32(t->context, 0x0c));
  t->write32(t->context, 0x10, 4);

  t->write32(t->context, 0x14, 0x00460001); /* admin queues of one entry, at 0 */
  value(s, "enabled with AQA 0: fatal", raw_wait_csts(s->raw, 2, 2));
  value(s, "and not ready", raw_csts(s->raw) & 1u);
  (void)raw_disable(s->raw);
  value(s, "enabled: ready", raw_enable(s->raw));
  value(s, "CSTS when ready", raw_csts(s->raw));
  value(s, "AQA as written", t->read32(t->context, 0x24));
  value(s, "CC as written", t->read32(t->context, 0x14));
  value(s, "disabled", raw_disable(s->raw));
  value(s, "CSTS when disabled", raw_csts(s->raw));
  value(s, "enabled again", raw_enable(s->raw));
}

static void identify(struct script *s) {
  const uint8_t *page = at(s, BACK);
  const uint64_t to = bus(s, BACK);

  plain(s, "Identify Controller", 0, (struct raw_command){.opcode = IDENTIFY, .prp1 = to, .dword10 = 1});
  value(s, "VER", spate_get32(page + 80));
  value(s, "MDTS", page[77]);
  value(s, "SQES, CQES", spate_get16(page + 512));
  value(s, "ONCS: Dataset Management and Write Zeroes", spate_get16(page + 520) & 0xcu);
  value(s, "OACS: Format", spate_get16(page + 256) & 2u);
  value(s, "VWC", page[525] & 1u);
  plain(s, "Identify Namespace 1", 0, (struct raw_command){.opcode = IDENTIFY, .nsid = 1, .prp1 = to});
  value(s, "NSZE", spate_get64(page));
  value(s, "NCAP", spate_get64(page + 8));
  value(s, "LBADS of the format in use", page[128 + 4 * (page[26] & 0xf) + 2]);
  plain(s, "Identify Namespace 0", 0, (struct raw_command){.opcode = IDENTIFY, .prp1 = to});
  plain(s, "Identify Namespace FFFFFFFFh", 0, (struct raw_command){.opcode = IDENTIFY, .nsid = BROADCAST, .prp1 = to});
  plain(s, "Identify Namespace 1000", 0, (struct raw_command){.opcode = IDENTIFY, .nsid = 1000, .prp1 = to});
  plain(s, "Identify active namespaces", 0, (struct raw_command){.opcode = IDENTIFY, .prp1 = to, .dword10 = 2});
  value(s, "the active namespaces", spate_get64(page));
  plain(s, "Identify active namespaces above 1", 0,
        (struct raw_command){.opcode = IDENTIFY, .nsid = 1, .prp1 = to, .dword10 = 2});
  value(s, "the active namespaces above 1", spate_get64(page));
  plain(s, "Identify active namespaces above FFFFFFFEh", 0,
        (struct raw_command){.opcode = IDENTIFY, .nsid = BROADCAST - 1u, .prp1 = to, .dword10 = 2});
  plain(s, "Identify descriptors of 1", 0,
        (struct raw_command){.opcode = IDENTIFY, .nsid = 1, .prp1 = to, .dword10 = 3});
  plain(s, "Identify descriptors of 0", 0, (struct raw_command){.opcode = IDENTIFY, .prp1 = to, .dword10 = 3});
  plain(s, "Identify with CNS 3Fh", 0, (struct raw_command){.opcode = IDENTIFY, .prp1 = to, .dword10 = 0x3f});
  memset(at(s, BACK), 0, 2u * RAW_PAGE);
  plain(s, "Identify Namespace 1 at an offset", 0,
        (struct raw_command){.opcode = IDENTIFY, .nsid = 1, .prp1 = to + 256, .prp2 = to + RAW_PAGE});
  value(s, "NSZE at an offset", spate_get64(page + 256));
  plain(s, "Identify with an offset in PRP2", 0,
        (struct raw_command){.opcode = IDENTIFY, .nsid = 1, .prp1 = to + 256, .prp2 = to + RAW_PAGE + 8});
}

static void get(struct script *s, const char *name, uint32_t dword10, uint32_t dword11) {
  (void)step(s, name, 0, (struct raw_command){.opcode = GET_FEATURES, .dword10 = dword10, .dword11 = dword11});
}

static void set(struct script *s, const char *name, uint32_t dword10, uint32_t dword11) {
  plain(s, name, 0, (struct raw_command){.opcode = SET_FEATURES, .dword10 = dword10, .dword11 = dword11});
}

static void features(struct script *s) {
  (void)step(s, "set Number of Queues 64", 0,
             (struct raw_command){.opcode = SET_FEATURES, .dword10 = 7, .dword11 = 63u << 16 | 63u});
  get(s, "get Number of Queues", 7, 0);
  set(s, "set Number of Queues 65536", 7, 0xffff);
  get(s, "get Volatile Write Cache", 6, 0);
  set(s, "set Volatile Write Cache off", 6, 0);
  get(s, "get Volatile Write Cache, now off", 6, 0);
  get(s, "get Volatile Write Cache, capabilities", 6 | 3u << 8, 0);
  set(s, "set Volatile Write Cache on", 6, 1);
  set(s, "set Volatile Write Cache, saved", 6 | SAVE, 1);
  get(s, "get Power Management", 2, 0);
  set(s, "set Power Management 0", 2, 0);
  get(s, "get Asynchronous Event Configuration", 0x0b, 0);
  set(s, "set Asynchronous Event Configuration", 0x0b, 0x1f);
  get(s, "get Asynchronous Event Configuration, set", 0x0b, 0);
  set(s, "set Temperature Threshold 400 K", 4, 400);
  get(s, "get Temperature Threshold", 4, 0);
  set(s, "set Temperature Threshold, under, 10 K", 4, 1u << 20 | 10u);
  get(s, "get Temperature Threshold, under", 4, 1u << 20);
  get(s, "get Temperature Threshold, neither", 4, 2u << 20);
  set(s, "set Temperature Threshold, neither", 4, 2u << 20 | 300u);
  get(s, "get Write Atomicity", 0x0a, 0);
  get(s, "get a feature that does not exist", 0x7e, 0);
  set(s, "set a feature that does not exist", 0x7e, 0);
  get(s, "get feature 0", 0, 0);
  plain(s, "set Volatile Write Cache of namespace 1", 0,
        (struct raw_command){.opcode = SET_FEATURES, .nsid = 1, .dword10 = 6, .dword11 = 1});
  plain(s, "admin opcode 7Fh", 0, (struct raw_command){.opcode = 0x7f});
  plain(s, "admin opcode C0h", 0, (struct raw_command){.opcode = 0xc0});
}

static void more_features(struct script *s) {
  memset(at(s, OUT), 0, RAW_PAGE);
  *at(s, OUT) = 1; /* ACRE */
  plain(s, "set Host Behavior Support", 0,
        (struct raw_command){.opcode = SET_FEATURES, .prp1 = bus(s, OUT), .dword10 = 0x16});
  memset(at(s, BACK), 0xee, RAW_PAGE);
  plain(s, "get Host Behavior Support", 0,
        (struct raw_command){.opcode = GET_FEATURES, .prp1 = bus(s, BACK), .dword10 = 0x16});
  value(s, "ACRE", *at(s, BACK));
  plain(s, "set Host Memory Buffer of a drive that wants none", 0,
        (struct raw_command){.opcode = SET_FEATURES, .dword10 = 0x0d, .dword11 = 1, .dword12 = 16, .dword15 = 1});
}

/* ---- queues ---- */

static void cq(struct script *s, const char *name, uint64_t prp1, uint32_t dword10, uint32_t dword11) {
  plain(s, name, 0, (struct raw_command){.opcode = CREATE_CQ, .prp1 = prp1, .dword10 = dword10, .dword11 = dword11});
}

static void sq(struct script *s, const char *name, uint64_t prp1, uint32_t dword10, uint32_t dword11) {
  plain(s, name, 0, (struct raw_command){.opcode = CREATE_SQ, .prp1 = prp1, .dword10 = dword10, .dword11 = dword11});
}

static void drop(struct script *s, const char *name, uint32_t opcode, uint32_t queue) {
  plain(s, name, 0, (struct raw_command){.opcode = opcode, .dword10 = queue});
}

static void queues(struct script *s) {
  const uint64_t ring = bus(s, 3), entries = bus(s, 2);

  cq(s, "Create CQ 0", ring, QUEUE_OF(0u), 1);
  cq(s, "Create CQ 9, beyond what was given", ring, QUEUE_OF(9u), 1);
  cq(s, "Create CQ of one entry", ring, 1, 1);
  cq(s, "Create CQ of 65536 entries", ring, 0xffffu << 16 | 1u, 1);
  cq(s, "Create CQ with an offset", ring + 64, QUEUE_OF(1u), 1);
  cq(s, "Create CQ in pieces", ring, QUEUE_OF(1u), 0);
  cq(s, "Create CQ with vector 9 and no MSI-X", ring, QUEUE_OF(1u), 9u << 16 | 3u);
  sq(s, "Create SQ before its CQ", entries, QUEUE_OF(1u), 1u << 16 | 1u);
  cq(s, "Create CQ 1", ring, QUEUE_OF(1u), 1);
  cq(s, "Create CQ 1 twice", ring, QUEUE_OF(1u), 1);
  sq(s, "Create SQ 0", entries, QUEUE_OF(0u), 1u << 16 | 1u);
  sq(s, "Create SQ 9", entries, QUEUE_OF(9u), 1u << 16 | 1u);
  sq(s, "Create SQ on CQ 0", entries, QUEUE_OF(1u), 1);
  sq(s, "Create SQ of one entry", entries, 1, 1u << 16 | 1u);
  sq(s, "Create SQ with an offset", entries + 64, QUEUE_OF(1u), 1u << 16 | 1u);
  sq(s, "Create SQ in pieces", entries, QUEUE_OF(1u), 1u << 16);
  sq(s, "Create SQ 1", entries, QUEUE_OF(1u), 1u << 16 | 1u);
  sq(s, "Create SQ 1 twice", entries, QUEUE_OF(1u), 1u << 16 | 1u);
  drop(s, "Delete CQ 1 before its SQ", DELETE_CQ, 1);
  drop(s, "Delete SQ 0", DELETE_SQ, 0);
  drop(s, "Delete SQ 5, which does not exist", DELETE_SQ, 5);
  drop(s, "Delete CQ 0", DELETE_CQ, 0);
  drop(s, "Delete CQ 5, which does not exist", DELETE_CQ, 5);
  drop(s, "Delete SQ 1", DELETE_SQ, 1);
  drop(s, "Delete CQ 1", DELETE_CQ, 1);
  drop(s, "Delete SQ 1 twice", DELETE_SQ, 1);
  for (unsigned queue = 1; queue < RAW_QUEUES; queue++)
    value(s, "queue pair", raw_queue(s->raw, queue));
}

/* ---- logs, events, abort ---- */

static void log_page(struct script *s, const char *name, uint32_t nsid, uint32_t dword10, uint32_t offset) {
  memset(at(s, BACK), 0xee, RAW_PAGE);
  plain(s, name, 0,
        (struct raw_command){
            .opcode = GET_LOG, .nsid = nsid, .prp1 = bus(s, BACK), .dword10 = dword10, .dword12 = offset});
}

static void logs(struct script *s) {
  const uint8_t *page = at(s, BACK);

  log_page(s, "SMART", BROADCAST, 127u << 16 | 2u, 0);
  value(s, "SMART: critical warning", page[0]);
  value(s, "SMART: host read commands", spate_get64(page + 64) > 0);
  value(s, "SMART: nothing behind it", page[512]);
  log_page(s, "SMART, the first 64 bytes", BROADCAST, 15u << 16 | 2u, 0);
  value(s, "SMART: 64 bytes and no more", page[64]);
  log_page(s, "SMART from byte 512 on", BROADCAST, 127u << 16 | 2u, 512);
  log_page(s, "SMART of namespace 1000", 1000, 127u << 16 | 2u, 0);
  log_page(s, "Firmware Slot", BROADCAST, 127u << 16 | 3u, 0);
  value(s, "Firmware Slot: active", page[0] & 7u);
  log_page(s, "errors", BROADCAST, 15u << 16 | 1u, 0);
  log_page(s, "a log page that does not exist", BROADCAST, 127u << 16 | 0x7eu, 0);
}

static void abort_unknown(struct script *s) {
  struct nvme_record *r =
      step(s, "Abort of an unknown command", 0, (struct raw_command){.opcode = ABORT, .dword10 = 0x7777u << 16 | 1u});
  r->result &= 1u;
  plain(s, "Abort in a queue that does not exist", 0,
        (struct raw_command){.opcode = ABORT, .dword10 = 0x7777u << 16 | 6u});
}

/* The completion of Set Features and its event come in either order. */
static void temperature_event(struct script *s) {
  const struct raw_command request = {.opcode = EVENT},
                           threshold = {.opcode = SET_FEATURES, .dword10 = 4, .dword11 = 250};
  const uint16_t event_id = raw_put(s->raw, 0, &request);
  __sync_synchronize();
  raw_ring(s->raw, 0);
  (void)raw_put(s->raw, 0, &threshold);
  __sync_synchronize();
  raw_ring(s->raw, 0);
  for (unsigned i = 0; i < 2; i++) {
    const struct raw_completion c = raw_take(s->raw, 0);
    if (c.missing || c.status != 0) give_up("the temperature event", "no completion");
    if (c.id == event_id) value(s, "the event", c.result);
  }
  log_page(s, "SMART while hot", BROADCAST, 127u << 16 | 2u, 0);
  value(s, "SMART: hot", at(s, BACK)[0]);
  set(s, "threshold back", 4, 400);
}

/* The event of an invalid doorbell, and its log page. Reading the page permits the next event. */
static void doorbell_event(struct script *s, const char *name, uint32_t offset, uint32_t doorbell) {
  const struct raw_target *t = &s->raw->target;

  (void)raw_put(s->raw, 0, &(struct raw_command){.opcode = EVENT});
  __sync_synchronize();
  raw_ring(s->raw, 0);
  t->write32(t->context, offset, doorbell);
  (void)completion(s, name, raw_take(s->raw, 0));
  log_page(s, "errors, read", BROADCAST, 15u << 16 | 1u, 0);
}

static void doorbells(struct script *s) {
  doorbell_event(s, "doorbell of submission queue 7, which does not exist", 0x1000 + 8 * 7, 1);
  doorbell_event(s, "doorbell of completion queue 7, which does not exist", 0x1004 + 8 * 7, 1);
  doorbell_event(s, "doorbell of submission queue 1, beyond its end", 0x1008, RAW_ENTRIES);
  doorbell_event(s, "doorbell of completion queue 1, beyond its end", 0x100c, RAW_ENTRIES);
  plain(s, "nothing came of those", 1, (struct raw_command){.opcode = FLUSH, .nsid = 1});
}

static void format(struct script *s) {
  plain(s, "format of namespace 1000", 0, (struct raw_command){.opcode = FORMAT, .nsid = 1000});
  plain(s, "a format that does not exist", 0, (struct raw_command){.opcode = FORMAT, .nsid = 1, .dword10 = 15});
  plain(s, "format with 512-byte blocks", 0, (struct raw_command){.opcode = FORMAT, .nsid = 1});
  nvme_script_read_back(s, "read what was formatted", 40000, 2048);
}

static void events(struct script *s) {
  const struct raw_command request = {.opcode = EVENT};

  for (unsigned i = 0; i < 4; i++)
    (void)raw_put(s->raw, 0, &request);
  plain(s, "a fifth asynchronous event request", 0, request);
}

/* ---- the end ---- */

static void reset_and_shutdown(struct script *s) {
  const struct raw_target *t = &s->raw->target;

  value(s, "reset: disabled", raw_disable(s->raw));
  value(s, "reset: CSTS", raw_csts(s->raw));
  value(s, "reset: enabled", raw_enable(s->raw));
  sq(s, "queues are gone after a reset", bus(s, 2), QUEUE_OF(1u), 1u << 16 | 1u);
  value(s, "queue pair after a reset", raw_queue(s->raw, 1));
  plain(s, "flush after a reset", 1, (struct raw_command){.opcode = FLUSH, .nsid = 1});
  memset(at(s, BACK), 0xee, RAW_PAGE);
  plain(s, "read after a reset", 1,
        (struct raw_command){.opcode = READ, .nsid = 1, .prp1 = bus(s, BACK), .dword10 = 8, .dword12 = 7})
      ->value = hash(at(s, BACK), RAW_PAGE);
  t->write32(t->context, 0x14, 0x00464001);
  value(s, "shut down", raw_wait_csts(s->raw, 0xc, 8));
  value(s, "CSTS when shut down", raw_csts(s->raw));
  value(s, "disabled after the shutdown", raw_disable(s->raw));
  value(s, "CSTS after that", raw_csts(s->raw));
  value(s, "enabled after the shutdown", raw_enable(s->raw));
  plain(s, "Identify after the shutdown", 0,
        (struct raw_command){.opcode = IDENTIFY, .prp1 = bus(s, BACK), .dword10 = 1});
}

static void play(struct script *s) {
  registers(s);
  identify(s);
  features(s);
  more_features(s);
  queues(s);
  nvme_script_data(s);
  logs(s);
  abort_unknown(s);
  temperature_event(s);
  doorbells(s);
  format(s);
  events(s);
  reset_and_shutdown(s);
}

unsigned nvme_script(struct raw_nvme *raw, struct nvme_record records[NVME_SCRIPT_RECORDS]) {
  struct script s = {.raw = raw, .records = records};

  play(&s);
  return s.count;
}
