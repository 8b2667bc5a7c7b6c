# Starblaze 2 TB (S1200ITT2), an industrial drive of seed 5. No data sheet was found: what no seed says is assumed. Its
# reads reached the host's limit. It needed three times the 980 PRO's queue depth, which its latencies explain.
model             "Starblaze S1200ITT2-T2M22T-C1"  # seed: seed 5: the model tested
capacity_bytes    2000398934016 B  # derived: seed 5: 2 TB, as the industry counts blocks
generation        3                # assumed: tested at Gen3
lanes             4                # seed: seed 5: x4
mdts_pages        64               # assumed: 256 KiB
queue_entries     1024             # assumed: a usual number
command_ns        2 us             # assumed: 500 k IOPS
write_latency_ns  270 us           # fitted: seed 5: three times the queue depth of a 980 PRO at its full rate, writes
read_latency_ns   250 us           # fitted: seed 5: three times the queue depth of a 980 PRO at its full rate, reads
ready_ms          500 ms           # assumed: as other drives
read_rate         3.3 GB/s         # assumed: seed 5 read 3.0 GB/s, the same curve as the 980 PRO: the host limits
slc_rate          2.32 GB/s        # assumed: no SLC cache: not used
direct_rate       2.32 GB/s        # fitted: seed 5, mean of 1000 GB raw writes: 2.3 GB/s
fold_rate         2.32 GB/s        # assumed: no SLC cache: not used
full_rate         2.32 GB/s        # assumed: industrial drives hold their rate
slc_bytes         0 B              # assumed: seed 5 shows one rate
slc_full_bytes    0 B              # assumed: seed 5 shows one rate
slc_refill_rate   0 MB/s           # assumed: seed 5 shows one rate
slc_rest_ms       0 ms             # assumed: seed 5 shows one rate
fold_bytes        0 B              # assumed: seed 5 shows one rate
volatile_cache    yes              # assumed: the harder case for a recorder
buffer_bytes      16 MiB           # assumed: as other drives
flush_ns          2 ms             # assumed: slower than the 980 PRO, as its other latencies
fua_ns            1.5 ms           # assumed: little less than a flush
pause_bytes       2 GB             # assumed: the drive writes its own tables now and then
pause_ms          10 ms            # assumed: as above
idle_watts        2 W              # assumed: an older process than the 980 PRO
joules_per_byte   2.3 nJ/B         # assumed: as the 970 EVO Plus
heat_capacity     13 J/K           # derived: TechPowerUp, 970 PRO without a fan: 80 C after 150 s at 2 GB/s
heat_resistance   6 K/W            # assumed: a heat sink or a little air
ambient_c         25 C             # assumed: a laboratory
warning_c         80 C             # assumed: as other drives
throttle_c        80 C             # assumed: where it warns
recover_c         75 C             # assumed: a few degrees
throttle_factor   0.5              # assumed: as other drives
critical_c        85 C             # assumed: as other drives
atomic_bytes      0 B              # assumed: one block, the least that the specification allows
