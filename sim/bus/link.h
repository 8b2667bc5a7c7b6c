/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PCIe link in virtual time: how long bytes take in each direction, packet headers included.
 *
 * "Down" is host to drive, "up" is drive to host. Each direction is a pipe that takes one transfer after the other. A
 * transfer occupies it for (payload + headers) / rate, and arrives `latency` later. Acknowledge and flow-control
 * packets take a fixed share, one or two per cent. When a drive reads host memory, requests go up and completions down.
 *
 * Small transfers go between the packets of large ones, as on a real link, and delay them. Small are doorbells,
 * register reads, read requests, and the drive's reads of at most a page (entries, PRP lists). What the drive writes
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
  uint8_t port_generation; /* the root port's maximum, if above the negotiated one */
  uint8_t port_lanes;
  uint16_t payload_bytes;      /* MPS: 128, 256, 512 */
  uint16_t read_request_bytes; /* MRRS: 128 … 4096 */
  uint32_t latency_ns;         /* one way, drive's controller to memory */
  uint8_t dllp_percent;        /* taken by acknowledge and flow-control packets */
  uint32_t fetch_mb_per_s;     /* the rate at which the host's bridge reads memory for the drive; 0: the link's */
};

struct sim_link {
  struct sim_link_config config;
  uint64_t down_free_ps, up_free_ps;   /* when each direction has finished all transfers */
  uint64_t down_small_ps, up_small_ps; /* ... and the small ones */
  uint64_t fetch_free_ps;              /* when the bridge has finished reading memory */
  double ps_per_byte;                  /* raw, after line coding and DLLPs */
  uint64_t down_bytes, up_bytes;       /* transferred, headers included */
};

/* Raw bytes per second in one direction, after line coding. */
double sim_link_raw(uint8_t generation, uint8_t lanes);

void sim_link_init(struct sim_link *link, const struct sim_link_config *config);

/* Each transfer begins at `now_ps`, or when its direction is free. Returns when the last byte has arrived. */
uint64_t sim_link_host_write(struct sim_link *link, uint64_t now_ps, uint32_t bytes);  /* a doorbell */
uint64_t sim_link_host_read(struct sim_link *link, uint64_t now_ps, uint32_t bytes);   /* a register; round trip */
uint64_t sim_link_drive_read(struct sim_link *link, uint64_t now_ps, uint64_t bytes);  /* entries, lists, data */
uint64_t sim_link_drive_write(struct sim_link *link, uint64_t now_ps, uint64_t bytes); /* completions, data */

/* The highest payload rate that this link can carry down and up, in bytes per second: the upper bound of the
 * figures. */
double sim_link_down_max(const struct sim_link_config *config);
double sim_link_up_max(const struct sim_link_config *config);

#endif
