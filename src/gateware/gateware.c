/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the core, reads what it knows about its drive, and shuts the drive down. */
#include "internal.h"

#define READY_MS_DEFAULT   30000u
#define COMMAND_MS_DEFAULT 60000u
#define REQUEST_BYTES_MAX  (UINT32_C(1) << 30)
#define KELVIN             273
#define CYCLES             10u /* index of the counter of clock cycles */

static uint64_t read_pair(const struct spate_gateware *gateware, uint32_t low, uint32_t high) {
  uint32_t before = spate_gateware_read(gateware, high);

  for (;;) {
    const uint32_t value = spate_gateware_read(gateware, low);
    const uint32_t after = spate_gateware_read(gateware, high);
    if (before == after) return (uint64_t)after << 32 | value;
    before = after;
  }
}

static enum spate_error identify(const struct spate_gateware *gateware) {
  const uint32_t version = spate_gateware_read(gateware, SPATE_REGS_VERSION);

  if (spate_gateware_read(gateware, SPATE_REGS_MAGIC) != SPATE_REGS_MAGIC_VALUE_NOW) return SPATE_E_NO_BRIDGE;
  return version >> SPATE_REGS_VERSION_MAJOR_SHIFT == SPATE_REGS_VERSION_MAJOR_NOW &&
                 (version & SPATE_REGS_VERSION_MINOR) >= SPATE_REGS_VERSION_MINOR_NOW
             ? SPATE_OK
             : SPATE_E_UNSUPPORTED;
}

static enum spate_error wait_for_drive(const struct spate_gateware *gateware, uint32_t ms) {
  const uint64_t began_ticks = spate_port_ticks();

  spate_gateware_write(gateware, SPATE_REGS_CONTROL, SPATE_REGS_CONTROL_ENABLE);
  for (;;) {
    const uint32_t status = spate_gateware_read(gateware, SPATE_REGS_STATUS);
    if ((status & SPATE_REGS_STATUS_GONE) != 0) return spate_gateware_failure_error(gateware);
    if ((status & SPATE_REGS_STATUS_READY) != 0) return SPATE_OK;
    if (spate_port_ticks() - began_ticks > spate_ticks_of_ms(ms)) return SPATE_E_TIMEOUT;
    spate_port_relax();
  }
}

/* Discards the events and responses of a program that ran before. Responses to it that arrive later are recognised by
 * their tags: the count in the tags starts at a value that differs from run to run. */
static void discard_earlier(struct spate_gateware *gateware) {
  const uint8_t uses = (uint8_t)spate_gateware_read(gateware, SPATE_REGS_COUNTERS + CYCLES * 4u);

  spate_gateware_write(gateware, SPATE_REGS_INTERRUPT_ENABLE, 0);
  spate_gateware_write(gateware, SPATE_REGS_INTERRUPT_STATUS, UINT32_MAX);
  while ((spate_gateware_read(gateware, SPATE_REGS_STATUS) & SPATE_REGS_STATUS_RESPONSE_VALID) != 0)
    spate_gateware_write(gateware, SPATE_REGS_RESPONSE_TAKE, SPATE_REGS_RESPONSE_TAKE_TAKE);
  gateware->side_uses = uses;
  for (uint32_t i = 0; i < SPATE_GATEWARE_DEPTH; i++)
    gateware->data[i].uses = uses;
}

static void describe(struct spate_gateware *gateware) {
  const uint32_t status = spate_gateware_read(gateware, SPATE_REGS_STATUS);
  struct spate_block *block = &gateware->block;

  block->ops = &spate_gateware_ops;
  block->blocks = read_pair(gateware, SPATE_REGS_BLOCKS_LOW, SPATE_REGS_BLOCKS_HIGH);
  block->block_shift = (status & SPATE_REGS_STATUS_BLOCK_4096) != 0 ? 12 : 9;
  block->volatile_cache = (status & SPATE_REGS_STATUS_VOLATILE_CACHE) != 0;
  block->can_trim = true; /* until the drive refuses a TRIM */
  block->depth = SPATE_GATEWARE_DEPTH;
  block->command_bytes_max = GATEWARE_MAILBOX_BYTES;
  block->request_blocks_max = REQUEST_BYTES_MAX >> block->block_shift;
  gateware->power = spate_gateware_read(gateware, SPATE_REGS_POWER);
  /* The region has no memory and no limit: offsets in it have no meaning. */
  if (spate_gateware_read(gateware, SPATE_REGS_RING) > 0)
    gateware->region.bytes = UINT64_MAX & ~(uint64_t)(SPATE_PAGE_BYTES - 1u);
}

enum spate_error spate_gateware_open(struct spate_gateware *gateware, const struct spate_gateware_config *config) {
  const uint32_t ready_ms = config->ready_timeout_ms == 0 ? READY_MS_DEFAULT : config->ready_timeout_ms;
  const uint32_t command_ms = config->command_timeout_ms == 0 ? COMMAND_MS_DEFAULT : config->command_timeout_ms;

  *gateware = (struct spate_gateware){.config = *config, .command_timeout_ticks = spate_ticks_of_ms(command_ms)};
  gateware->last_link = &gateware->first;
  enum spate_error error = identify(gateware);
  if (error == SPATE_OK) error = wait_for_drive(gateware, ready_ms);
  if (error != SPATE_OK) return error;
  discard_earlier(gateware);
  describe(gateware);
  return SPATE_OK;
}

const struct spate_region *spate_gateware_region(const struct spate_gateware *gateware) {
  return spate_gateware_in_memory_mode(gateware) ? NULL : &gateware->region;
}

/* ---- health and counters ---- */

bool spate_gateware_health(const struct spate_gateware *gateware, struct spate_gateware_health *health) {
  const uint32_t status = spate_gateware_read(gateware, SPATE_REGS_STATUS);
  const uint32_t warning = spate_gateware_read(gateware, SPATE_REGS_HEALTH);
  const uint32_t wear = spate_gateware_read(gateware, SPATE_REGS_WEAR);

  if ((status & SPATE_REGS_STATUS_HEALTH_VALID) == 0) return false;
  *health = (struct spate_gateware_health){
      .temperature_c = (int16_t)((int32_t)(warning >> SPATE_REGS_HEALTH_TEMPERATURE_K_SHIFT) - KELVIN),
      .critical_warning = (uint8_t)(warning & SPATE_REGS_HEALTH_CRITICAL_WARNING),
      .spare_percent = (uint8_t)(wear & SPATE_REGS_WEAR_SPARE_PERCENT),
      .spare_threshold_percent =
          (uint8_t)((wear & SPATE_REGS_WEAR_SPARE_THRESHOLD_PERCENT) >> SPATE_REGS_WEAR_SPARE_THRESHOLD_PERCENT_SHIFT),
      .used_percent = (uint8_t)((wear & SPATE_REGS_WEAR_USED_PERCENT) >> SPATE_REGS_WEAR_USED_PERCENT_SHIFT),
      .media_errors = spate_gateware_read(gateware, SPATE_REGS_MEDIA_ERRORS),
      .unsafe_shutdowns = spate_gateware_read(gateware, SPATE_REGS_UNSAFE_SHUTDOWNS),
  };
  return true;
}

uint64_t spate_gateware_written_blocks(const struct spate_gateware *gateware) {
  return read_pair(gateware, SPATE_REGS_WRITTEN_LOW, SPATE_REGS_WRITTEN_HIGH);
}

/* ---- shutdown ---- */

static void mark_done(struct spate_io *io) { io->context = NULL; }

enum spate_error spate_gateware_shutdown(struct spate_gateware *gateware) {
  struct spate_io io = {.op = GATEWARE_IO_SHUTDOWN, .done = mark_done, .context = &io};

  if (gateware->error != SPATE_OK) return gateware->error;
  if (gateware->first != NULL || gateware->data_count > 0) return SPATE_E_BUSY;
  spate_gateware_side_add(gateware, &io);
  for (;;) {
    spate_block_poll(&gateware->block, 1);
    if (io.context == NULL) return io.error;
    spate_port_relax();
  }
}
