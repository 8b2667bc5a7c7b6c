/* SPDX-License-Identifier: Apache-2.0 */
/* Creates I/O queue pairs, in memory and in the drive. */
#include "internal.h"

#define NAMESPACE_MAX (UINT32_C(1) << 30) /* the bits above are flags of slot->sent */
#define SQE_BYTES     64u
#define CQE_BYTES     16u

/* Larger than any number of unused bytes. */
#define WASTE_NO_MEMORY_YET UINT32_C(0x10000)
#define WASTE_TOO_SMALL     UINT32_C(0x20000)

static size_t sq_bytes(uint32_t entries) { return SPATE_NVME_PAGES_BYTES((size_t)entries * SQE_BYTES); }

static size_t cq_bytes(uint32_t entries) { return SPATE_NVME_PAGES_BYTES((size_t)entries * CQE_BYTES); }

static enum spate_error choose_namespace(struct spate_nvme *controller, uint32_t nsid,
                                         struct spate_nvme_namespace *namespace) {
  unsigned count = 0;
  enum spate_error error = SPATE_OK;

  if (nsid == 0) error = spate_nvme_namespaces(controller, &nsid, 1, &count);
  if (error != SPATE_OK) return error;
  if (nsid == 0 || nsid >= NAMESPACE_MAX) return SPATE_E_NO_NAMESPACE;
  error = spate_nvme_namespace(controller, nsid, namespace);
  if (error != SPATE_OK) return error;
  if (namespace->metadata) return SPATE_E_METADATA;
  if (namespace->block_bytes != 512 && namespace->block_bytes != 4096) return SPATE_E_BLOCK_SIZE;
  /* A size in bytes that does not fit into 64 bits is an error of the drive. */
  return namespace->blocks > UINT64_MAX >> 12 ? SPATE_E_UNSUPPORTED : SPATE_OK;
}

static void describe(struct spate_nvme_queue *queue, const struct spate_nvme_namespace *namespace, uint32_t depth) {
  const struct spate_nvme_identity *identity = &queue->controller->identity;
  const uint32_t transfer_bytes = identity->transfer_bytes_max == 0 ? UINT32_MAX : identity->transfer_bytes_max;
  struct spate_block *block = &queue->block;

  block->ops = &spate_nvme_queue_ops;
  block->blocks = namespace->blocks;
  block->block_shift = namespace->block_bytes == 4096 ? 12 : 9;
  block->volatile_cache = queue->controller->cache_on;
  block->can_trim = identity->can_trim;
  block->can_zero = identity->can_zero;
  block->depth = (uint16_t)depth;
  block->command_bytes_max = SPATE_REGION_COMMAND_BYTES;
  while (block->command_bytes_max > transfer_bytes || block->command_bytes_max >> block->block_shift > block->blocks)
    block->command_bytes_max >>= 1;
  block->request_blocks_max = (depth - 1u) * (block->command_bytes_max >> block->block_shift);
  queue->buffer_bytes_max = transfer_bytes;
  queue->fast_lba_max = block->blocks - (block->command_bytes_max >> block->block_shift);
}

/* An identifier without memory has no entries. */
static bool is_enough(const struct spate_nvme_queue_memory *memory, uint32_t entries, uint32_t list_pages) {
  return memory->entries >= entries && memory->list_pages >= list_pages;
}

/* The layout follows from the size of the memory, not of this queue. So submission entries are always in the same
 * place, and their unused quadwords stay zero.
 *
 * Memory that is too small is replaced and leaked. What replaces it is as large in entries and in list pages as any
 * before, so that queues of two shapes that alternate do not use up the arena. */
static enum spate_error memory_take(struct spate_nvme_queue *queue, struct spate_nvme_queue_memory *memory) {
  if (!is_enough(memory, queue->entries, queue->list_pages)) {
    const uint32_t entries = queue->entries > memory->entries ? queue->entries : memory->entries;
    const uint32_t list_pages = queue->list_pages > memory->list_pages ? queue->list_pages : memory->list_pages;
    const size_t lists_bytes = (size_t)list_pages * SPATE_PAGE_BYTES;
    uint8_t *start =
        spate_arena_take(queue->controller->config.queue_memory,
                         sq_bytes(entries) + cq_bytes(entries) + SPATE_PAGE_BYTES + lists_bytes, SPATE_PAGE_BYTES);
    if (start == NULL) return SPATE_E_MEMORY;
    *memory = (struct spate_nvme_queue_memory){
        .start = start, .entries = (uint16_t)entries, .list_pages = (uint8_t)list_pages};
  }
  uint64_t *cq = (uint64_t *)(void *)(memory->start + sq_bytes(memory->entries));

  queue->sq = (uint64_t *)(void *)memory->start;
  queue->cq = cq;
  queue->cq_end = cq + (size_t)queue->entries * NVME_CQE_QWORDS;
  queue->range = (uint64_t *)(void *)(memory->start + sq_bytes(memory->entries) + cq_bytes(memory->entries));
  queue->lists = queue->range + SPATE_PAGE_BYTES / sizeof queue->range[0];
  return SPATE_OK;
}

/* The queue identifier to use: the one with the smallest memory that is enough, otherwise one without memory, otherwise
 * any. 0: the drive has no more queues. */
static unsigned choose_id(const struct spate_nvme *controller, uint32_t entries, uint32_t list_pages) {
  unsigned chosen = 0;
  uint32_t chosen_waste = UINT32_MAX;

  for (unsigned id = 1; id <= controller->queues_max; id++) {
    const struct spate_nvme_queue_memory *memory = &controller->queue_memory[id - 1u];
    uint32_t waste = WASTE_TOO_SMALL;
    if (memory->start == NULL)
      waste = WASTE_NO_MEMORY_YET;
    else if (is_enough(memory, entries, list_pages))
      waste =
          (memory->entries - entries) * (SQE_BYTES + CQE_BYTES) + (memory->list_pages - list_pages) * SPATE_PAGE_BYTES;
    if (memory->in_use || waste >= chosen_waste || spate_nvme_doorbell(controller, 2u * id + 1u) == 0) continue;
    chosen = id;
    chosen_waste = waste;
  }
  return chosen;
}

static void slots_init(struct spate_nvme_queue *queue) {
  for (uint32_t i = queue->slot_mask + 1u; i-- > 0;) {
    struct spate_nvme_slot *slot = &queue->slots[i];
    *slot = (struct spate_nvme_slot){.base = nvme_sqe_cdw0_nsid(NVME_READ, i, queue->nsid), .sent = SLOT_FREE};
    if (i >= queue->block.depth) continue;
    slot->next_free = queue->free;
    queue->free = slot;
  }
}

/* `left`: after an error, whether the drive still has the completion queue. */
static enum spate_error create_in_drive(struct spate_nvme_queue *queue, bool *left) {
  struct spate_nvme *controller = queue->controller;
  const uint32_t resets = controller->counters.resets;
  struct nvme_command command;

  *left = false;
  spate_nvme_create(queue, NVME_CREATE_CQ, &command);
  enum spate_error error = spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
  if (error != SPATE_OK) return error;
  spate_nvme_create(queue, NVME_CREATE_SQ, &command);
  error = spate_nvme_call(controller, &command, ADMIN_TIMEOUT_MS);
  if (error != SPATE_OK && controller->counters.resets == resets) {
    const uint16_t status = controller->status;
    *left = spate_nvme_call_dwords(controller, NVME_DELETE_CQ, queue->id, 0) != SPATE_OK &&
            controller->counters.resets == resets;
    controller->status = status; /* the caller gets the status of the creation, not of the deletion */
  }
  return error;
}

/* The smallest power of two above `depth`, or less where the drive allows less. */
static uint32_t entries_for(const struct spate_nvme *controller, unsigned depth) {
  uint32_t entries = SPATE_NVME_QUEUE_ENTRIES(1u);

  while (entries <= depth && entries * 2u <= controller->identity.queue_entries_max)
    entries *= 2u;
  return entries;
}

/* SPATE_NVME_SLOTS(depth), which is for constants. */
static uint32_t slots_for(unsigned depth) {
  uint32_t slots = SPATE_NVME_SLOTS(1u);

  while (slots < depth)
    slots *= 2u;
  return slots;
}

static enum spate_error check(const struct spate_nvme_queue_config *config) {
  if (config->depth < 2u || config->depth > SPATE_NVME_QUEUE_DEPTH_MAX ||
      config->list_pages > SPATE_NVME_LIST_PAGES_MAX)
    return SPATE_E_INVALID;
  const uint32_t slots = slots_for(config->depth);
  if (config->slots != NULL && config->slot_count >= slots) return SPATE_OK;
  spate_port_log("nvme: a queue of this depth needs more slots; their number", slots);
  return SPATE_E_INVALID;
}

enum spate_error spate_nvme_queue_open(struct spate_nvme *controller, struct spate_nvme_queue *queue,
                                       const struct spate_nvme_queue_config *config) {
  const unsigned depth = config->depth;
  const uint32_t entries = entries_for(controller, depth);
  const uint32_t list_pages = config->list_pages == 0 ? 1u : config->list_pages;
  struct spate_nvme_namespace namespace;
  enum spate_error error = check(config);

  if (error != SPATE_OK) return error;
  for (const struct spate_nvme_queue *open = controller->queues; open != NULL; open = open->next)
    if (open == queue) return SPATE_E_OPEN; /* a second time in the list would make the list endless */
  error = choose_namespace(controller, config->nsid, &namespace);
  if (error != SPATE_OK) return error;
  const unsigned id = choose_id(controller, entries, list_pages);
  if (id == 0) return SPATE_E_FULL;

  struct spate_nvme_queue_memory *memory = &controller->queue_memory[id - 1u];
  *queue = (struct spate_nvme_queue){.controller = controller,
                                     .nsid = namespace.nsid,
                                     .id = (uint16_t)id,
                                     .entries = entries,
                                     .list_pages = list_pages,
                                     .slots = config->slots,
                                     .slot_mask = slots_for(depth) - 1u};
  queue->namespace_mark = spate_nvme_namespace_mark(controller);
  queue->sq_mask = queue->entries * NVME_SQE_QWORDS - 1u;
  queue->fast_match = nvme_sqe_cdw0_nsid(NVME_READ, 0, queue->nsid) ^ queue->id;
  queue->sq_doorbell = spate_nvme_doorbell(controller, 2u * id);
  queue->cq_doorbell = spate_nvme_doorbell(controller, 2u * id + 1u);
  describe(queue, &namespace, depth < queue->entries - 1u ? depth : queue->entries - 1u);
  slots_init(queue);
  error = memory_take(queue, memory);
  if (error != SPATE_OK) return error;
  spate_nvme_queue_rings(queue);
  error = create_in_drive(queue, &memory->in_use);
  if (error != SPATE_OK) return error;

  memory->in_use = true;
  queue->next = controller->queues;
  controller->queues = queue;
  queue->fast_boundary_bytes = queue->block.command_bytes_max;
  return SPATE_OK;
}

unsigned spate_nvme_queues_max(const struct spate_nvme *controller) { return controller->queues_max; }
