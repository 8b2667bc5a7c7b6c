/* SPDX-License-Identifier: Apache-2.0 */
/* How long bytes take on a PCIe link: packets with their headers, each direction a pipe of its own. */
#include "link.h"

#include <assert.h>

#define PS_PER_S         1e12
#define PS_PER_NS        UINT64_C(1000)
#define FRAMING_BYTES    8u                    /* STP and sequence number; LCRC */
#define REQUEST64_BYTES  (16u + FRAMING_BYTES) /* to host memory, which may be above 4 GiB */
#define REQUEST32_BYTES  (12u + FRAMING_BYTES) /* to the drive's registers: windows for BARs are below 4 GiB */
#define COMPLETION_BYTES (12u + FRAMING_BYTES)
#define SMALL_BYTES      4096u

/* One direction: when it is free, and what it has transferred. */
struct pipe {
  uint64_t *free_ps, *small_ps, *bytes;
};

static struct pipe down(struct sim_link *link) {
  return (struct pipe){&link->down_free_ps, &link->down_small_ps, &link->down_bytes};
}

static struct pipe up(struct sim_link *link) {
  return (struct pipe){&link->up_free_ps, &link->up_small_ps, &link->up_bytes};
}

/* How long the host's bridge takes to read `bytes` from memory, whatever the link could carry. */
static uint64_t fetch_ps(const struct sim_link *link, uint64_t bytes) {
  const uint32_t mb_per_s = link->config.fetch_mb_per_s;

  return mb_per_s == 0 ? 0 : (uint64_t)((double)bytes * (PS_PER_S / 1e6) / mb_per_s);
}

static uint64_t max_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t packets(uint64_t bytes, uint32_t packet_bytes) { return (bytes + packet_bytes - 1) / packet_bytes; }

static uint64_t duration_ps(const struct sim_link *link, uint64_t bytes) {
  return (uint64_t)((double)bytes * link->ps_per_byte + 0.5);
}

static uint64_t latency_ps(const struct sim_link *link) { return link->config.latency_ns * PS_PER_NS; }

/* Sends `bytes`, headers included, after all earlier transfers. Returns when the last byte is on the wire. */
static uint64_t send(const struct sim_link *link, struct pipe pipe, uint64_t now_ps, uint64_t bytes) {
  uint64_t end_ps = max_of(now_ps, *pipe.free_ps) + duration_ps(link, bytes);

  *pipe.free_ps = end_ps;
  *pipe.bytes += bytes;
  return end_ps;
}

/* The same between the packets of large transfers: it waits for small ones only. */
static uint64_t send_small(const struct sim_link *link, struct pipe pipe, uint64_t now_ps, uint64_t bytes) {
  uint64_t start_ps = max_of(now_ps, *pipe.small_ps);
  uint64_t time_ps = duration_ps(link, bytes);

  *pipe.small_ps = start_ps + time_ps;
  *pipe.free_ps = max_of(start_ps, *pipe.free_ps) + time_ps;
  *pipe.bytes += bytes;
  return start_ps + time_ps;
}

double sim_link_raw(uint8_t generation, uint8_t lanes) {
  static const double lane[] = {2.5e9 * 8 / 10, 5e9 * 8 / 10, 8e9 * 128 / 130, 16e9 * 128 / 130, 32e9 * 128 / 130};

  assert(generation >= 1 && generation <= 5 && lanes >= 1 && lanes <= 16);
  return lane[generation - 1] / 8 * lanes;
}

static double usable(const struct sim_link_config *config) {
  assert(config->dllp_percent < 100);
  return sim_link_raw(config->generation, config->lanes) * (100 - config->dllp_percent) / 100;
}

/* A completion carries no more than one request asked for. */
static uint32_t completion_payload(const struct sim_link_config *config) {
  return config->payload_bytes < config->read_request_bytes ? config->payload_bytes : config->read_request_bytes;
}

void sim_link_init(struct sim_link *link, const struct sim_link_config *config) {
  assert(config->payload_bytes >= 128 && config->payload_bytes <= 4096);
  assert(config->read_request_bytes >= 128 && config->read_request_bytes <= 4096);
  *link = (struct sim_link){.config = *config, .ps_per_byte = PS_PER_S / usable(config)};
}

/* An answer takes its place in its direction at the time of the request, and both latencies are added at the end. So
 * each direction serves transfers in the order of the calls, and none waits for one that begins later. */

uint64_t sim_link_host_write(struct sim_link *link, uint64_t now_ps, uint32_t bytes) {
  return send_small(link, down(link), now_ps, REQUEST32_BYTES + bytes) + latency_ps(link);
}

uint64_t sim_link_host_read(struct sim_link *link, uint64_t now_ps, uint32_t bytes) {
  uint64_t asked_ps = send_small(link, down(link), now_ps, REQUEST32_BYTES);

  return send_small(link, up(link), asked_ps, COMPLETION_BYTES + bytes) + 2 * latency_ps(link);
}

/* Completions follow the first request. The other requests share the up direction with its traffic meanwhile. */
uint64_t sim_link_drive_read(struct sim_link *link, uint64_t now_ps, uint64_t bytes) {
  const uint32_t request_bytes = link->config.read_request_bytes;
  const uint32_t payload_bytes = link->config.payload_bytes;
  const uint64_t requests = packets(bytes, request_bytes);
  const uint64_t last_bytes = bytes - (requests - 1) * request_bytes;
  const uint64_t completions =
      (requests - 1) * packets(request_bytes, payload_bytes) + packets(last_bytes, payload_bytes);
  const uint64_t down_bytes = bytes + completions * COMPLETION_BYTES;
  uint64_t asked_ps, end_ps;

  assert(bytes > 0);
  asked_ps = send_small(link, up(link), now_ps, REQUEST64_BYTES);
  (void)send(link, up(link), now_ps, (requests - 1) * REQUEST64_BYTES);
  if (bytes <= SMALL_BYTES)
    end_ps = send_small(link, down(link), asked_ps, down_bytes);
  else
    end_ps = send(link, down(link), asked_ps, down_bytes);
  link->fetch_free_ps = max_of(asked_ps, link->fetch_free_ps) + fetch_ps(link, bytes);
  return max_of(end_ps, link->fetch_free_ps) + 2 * latency_ps(link);
}

uint64_t sim_link_drive_write(struct sim_link *link, uint64_t now_ps, uint64_t bytes) {
  const uint64_t headers = packets(bytes, link->config.payload_bytes) * REQUEST64_BYTES;

  assert(bytes > 0);
  return send(link, up(link), now_ps, bytes + headers) + latency_ps(link);
}

double sim_link_down_max(const struct sim_link_config *config) {
  const uint32_t payload = completion_payload(config);
  const double most = usable(config) * payload / (payload + COMPLETION_BYTES);
  const double fetched = config->fetch_mb_per_s * 1e6;

  return fetched > 0 && fetched < most ? fetched : most;
}

double sim_link_up_max(const struct sim_link_config *config) {
  return usable(config) * config->payload_bytes / (config->payload_bytes + REQUEST64_BYTES);
}
