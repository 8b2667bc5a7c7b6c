/* SPDX-License-Identifier: Apache-2.0 */
/* The hosted port (ports/host/host_port.h) on the machine given to sim_use(). Each access takes processor time and
 * crosses the link. Events that are due meanwhile happen first. */
#include "../../ports/host/host_port.h"
#include "internal.h"
#include <inttypes.h>
#include <spate/port.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_PER_SECOND UINT64_C(1000000000)
#define REGISTER_BYTES   4u

static struct sim *port; /* the port's functions have no handle: the library assumes one board */

void sim_use(struct sim *sim) { port = sim; }

static struct sim *machine(void) {
  if (port != NULL) return port;
  (void)fputs("sim: the port is used before sim_use()\n", stderr);
  abort();
}

static const struct sim_host *host_of(const struct sim *sim) { return &sim_config_of(sim)->host; }

/* ---- registers ---- */

/* Sends a request that needs an answer over the link, behind all writes that were posted before it. Returns when the
 * request arrives. The processor has the answer `*back_ps` later. */
static void send_request(struct sim *sim, struct sim_drive *drive, uint64_t *back_ps) {
  struct sim_link *link = sim_drive_link(drive);
  const uint64_t whole_ps = sim_link_host_read(link, sim_now_ps(sim), REGISTER_BYTES) - sim_now_ps(sim);

  *back_ps = link->config.latency_ns * SIM_PS_PER_NS;
  if (*back_ps > whole_ps) *back_ps = whole_ps;
  sim_spend(sim, whole_ps - *back_ps);
}

/* Routes the address again when the request has arrived: the link may have gone down meanwhile. */
static uint32_t drive_read(struct sim *sim, uint64_t address, struct sim_drive *drive) {
  uint64_t back_ps;
  uint32_t offset;

  send_request(sim, drive, &back_ps);
  drive = sim_pcie_route(sim, address, &offset);
  if (drive == NULL) return sim_unanswered_register(sim);
  const uint32_t value = sim_drive_register_read(drive, offset);
  sim_spend(sim, back_ps);
  return value;
}

/* Configuration reads and writes both have an answer. Those to a root port cross no link. */
static uint32_t config_access(struct sim *sim, uint64_t address, const uint32_t *written) {
  struct sim_drive *drive = sim_pcie_config_drive(sim, address);
  uint64_t back_ps = 0;
  uint32_t value = 0;

  if (drive != NULL) send_request(sim, drive, &back_ps);
  if (written != NULL)
    sim_pcie_config_write(sim, address, *written);
  else if (!sim_pcie_config_read(sim, address, &value))
    return sim_unanswered_config(sim);
  sim_spend(sim, back_ps);
  return value;
}

static uint32_t refused(struct sim *sim) {
  sim_bridge_refused(sim);
  return sim_unanswered_register(sim);
}

uint32_t host_read32(uintptr_t address) {
  struct sim *sim = machine();
  uint32_t offset, value = UINT32_MAX;

  sim_work(sim, host_of(sim)->read_ns * SIM_PS_PER_NS);
  struct sim_drive *drive = sim_pcie_route(sim, address, &offset);
  if (sim_pcie_is_config(sim, address))
    value = config_access(sim, address, NULL);
  else if (drive != NULL)
    value = drive_read(sim, address, drive);
  else if (!sim_bridge_region_read(sim, address, &value) && !sim_window_load32(sim, address, &value) &&
           sim_bridge_is_memory(sim, address))
    value = refused(sim);
  /* Not sim_active(): reading the same register repeatedly is polling, and finds nothing before an event. */
  sim_tell(sim, SIM_ACCESS_READ, address, &value, sizeof value);
  return value;
}

/* ---- posted writes ---- */

/* A write on its way to a drive. */
struct posted {
  uint64_t address, sequence;
  uint32_t value;
};

struct sim_port {
  struct posted *posted; /* oldest first; writes to one address arrive in order */
  size_t count, room;
};

struct sim_port *sim_port_new(void) {
  struct sim_port *way = calloc(1, sizeof *way);

  if (way == NULL) abort();
  return way;
}

void sim_port_free(struct sim_port *way) {
  free(way->posted);
  free(way);
}

static void enqueue_write(struct sim *sim, uint64_t address, uint32_t value) {
  struct sim_port *way = sim_port_of(sim);

  if (way->count == way->room) {
    way->room = way->room == 0 ? 64 : way->room * 2;
    struct posted *larger = realloc(way->posted, way->room * sizeof *larger);
    if (larger == NULL) abort();
    way->posted = larger;
  }
  way->posted[way->count++] = (struct posted){.address = address, .sequence = sim_next_sequence(sim), .value = value};
}

/* The write arrives, if its address still reaches a drive. */
static void arrive(void *context, uint64_t address) {
  struct sim *sim = context;
  struct sim_port *way = sim_port_of(sim);
  size_t i = 0;

  while (way->posted[i].address != address)
    i++;
  const struct posted posted = way->posted[i];
  way->count--;
  memmove(way->posted + i, way->posted + i + 1, (way->count - i) * sizeof *way->posted);

  uint32_t offset;
  struct sim_drive *drive = sim_pcie_route(sim, address, &offset);
  if (drive != NULL) sim_drive_register_write(drive, offset, posted.value, posted.sequence);
}

static void post(struct sim *sim, uint64_t address, uint32_t value, struct sim_drive *drive) {
  enqueue_write(sim, address, value);
  sim_at(sim, sim_link_host_write(sim_drive_link(drive), sim_now_ps(sim), REGISTER_BYTES), arrive, sim, address);
}

/* Entries that a doorbell write hands over, except those already covered by writes that are still on their way. */
static uint32_t new_entries(struct sim *sim, const struct sim_drive *drive, uint64_t address, uint32_t offset,
                            uint32_t value, bool *completion) {
  const struct sim_port *way = sim_port_of(sim);
  const uint32_t entries = sim_drive_doorbell_entries(drive, offset, value, completion);

  for (size_t i = way->count; i-- > 0;) {
    if (way->posted[i].address != address) continue;
    const uint32_t earlier = sim_drive_doorbell_entries(drive, offset, way->posted[i].value, completion);
    return entries > earlier ? entries - earlier : 0;
  }
  return entries;
}

/* A doorbell write charges the processor's work for the commands or completions that it hands over. */
static void drive_write(struct sim *sim, uint64_t address, uint32_t value, struct sim_drive *drive, uint32_t offset) {
  const struct sim_host *host = host_of(sim);
  bool completion = false;
  const uint32_t entries = new_entries(sim, drive, address, offset, value, &completion);
  const uint32_t instructions = completion ? host->complete_instructions : host->submit_instructions;

  sim_work(sim, sim_instructions_ps(sim, (uint64_t)entries * instructions));
  post(sim, address, value, drive);
}

void sim_port_post(struct sim *sim, uint64_t address, uint32_t value) {
  uint32_t offset;
  struct sim_drive *drive = sim_pcie_route(sim, address, &offset);

  sim_tell(sim, SIM_ACCESS_WRITE, address, &value, sizeof value);
  if (drive != NULL) post(sim, address, value, drive);
}

void host_write32(uintptr_t address, uint32_t value) {
  struct sim *sim = machine();
  uint32_t offset;

  sim_active(sim);
  sim_work(sim, host_of(sim)->write_ns * SIM_PS_PER_NS);
  sim_tell(sim, SIM_ACCESS_WRITE, address, &value, sizeof value);
  if (sim_pcie_is_config(sim, address)) {
    (void)config_access(sim, address, &value);
    return;
  }
  struct sim_drive *drive = sim_pcie_route(sim, address, &offset);
  if (drive != NULL)
    drive_write(sim, address, value, drive, offset);
  else if (!sim_bridge_region_write(sim, address, value) && !sim_window_store32(sim, address, value))
    sim_bridge_refused(sim);
}

/* ---- memory ---- */

void host_dma_write_barrier(void) { sim_memory_write_barrier(machine()); }
void host_dma_read_barrier(void) { sim_memory_read_barrier(machine()); }
void host_cache_clean(const void *start, size_t bytes) { sim_memory_clean(machine(), start, bytes); }
void host_cache_invalidate(void *start, size_t bytes) { sim_memory_invalidate(machine(), start, bytes); }
uint64_t host_dma_address(const volatile void *memory) { return sim_memory_address(machine(), memory); }

/* ---- time ---- */

uint64_t host_ticks(void) {
  struct sim *sim = machine();

  sim_look(sim);
  return sim_now_ps(sim) / SIM_PS_PER_NS;
}

uint64_t host_ticks_per_second(void) { return TICKS_PER_SECOND; }

void host_relax(void) { sim_look(machine()); }

/* Silent unless SPATE_LOG is set: a test that provokes a thousand retries should not print them. */
void host_log(const char *text, uint64_t value) {
  if (getenv("SPATE_LOG") == NULL) return;
  (void)fprintf(stderr, "%12.6f ms  %s %" PRIu64 "\n", (double)sim_now_ps(machine()) / (double)SIM_PS_PER_MS, text,
                value);
}
