/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PCIe link in virtual time: how long bytes take, in each direction, packets counted with their headers.
 *
 * "Down" is host to drive, "up" is drive to host. Each direction is a pipe that takes one thing after the other; a
 * transfer occupies it for (payload + headers) / rate, and arrives `latency` later. Acknowledge and flow-control
 * packets take a fixed share, one or two per cent. A drive's read of host memory is requests up and completions down.
 *
 * What is small goes between the packets of what is large, as it does on a real link, and pushes that back: doorbells,
 * register reads, read requests, and the drive's reads of a page or less (entries, PRP lists). What the drive writes
 * stays in order, whatever its size: a completion never overtakes data.
 *
 * Packet sizes (PCI Express base specification 4.0, 2.2 and 3.6): memory write or read request with a 64-bit address
 * 16 bytes of header, below 4 GiB 12; completion 12; each with 4 bytes STP and sequence number and 4 bytes LCRC. Two
 * symbols more at 2.5 and 5 GT/s are neglected.
 */
#ifndef SPATE_SIM_LINK_H
#define SPATE_SIM_LINK_H

#include <stdbool.h>
#include <stdint.h>

struct sim_link_config {
  uint8_t generation;      /* 1 … 5 */
  uint8_t lanes;           /* 1, 2, 4, 8, 16 */
  uint8_t port_generation; /* what the root port can do, where that is more than came of it */
  uint8_t port_lanes;
  uint16_t payload_bytes;      /* MPS: 128, 256, 512 */
  uint16_t read_request_bytes; /* MRRS: 128 … 4096 */
  uint32_t latency_ns;         /* one way, drive's controller to memory */
  uint8_t dllp_percent;        /* taken by acknowledge and flow-control packets */
  uint32_t fetch_mb_per_s;     /* what the host's bridge can fetch from memory for the drive; 0: as the link */
};

struct sim_link {
  struct sim_link_config config;
  uint64_t down_free_ps, up_free_ps;   /* when each direction has finished what it was given */
  uint64_t down_small_ps, up_small_ps; /* ... and the small things among it */
  uint64_t fetch_free_ps;              /* the bridge's fetching from memory */
  double ps_per_byte;                  /* raw, after line coding and DLLPs */
  uint64_t down_bytes, up_bytes;       /* that went over it, headers included */
};

/* Raw bytes per second in one direction, after line coding. */
double sim_link_raw(uint8_t generation, uint8_t lanes);

void sim_link_init(struct sim_link *link, const struct sim_link_config *config);

/* Each of these begins at `now_ps` or when the direction is free, and says when the last byte has arrived. */
uint64_t sim_link_host_write(struct sim_link *link, uint64_t now_ps, uint32_t bytes);  /* a doorbell */
uint64_t sim_link_host_read(struct sim_link *link, uint64_t now_ps, uint32_t bytes);   /* a register; round trip */
uint64_t sim_link_drive_read(struct sim_link *link, uint64_t now_ps, uint64_t bytes);  /* entries, lists, data */
uint64_t sim_link_drive_write(struct sim_link *link, uint64_t now_ps, uint64_t bytes); /* completions, data */

/* The most payload each way in bytes per second that this link can carry: the bound of the figures. */
double sim_link_down_max(const struct sim_link_config *config);
double sim_link_up_max(const struct sim_link_config *config);

#endif
