# Exascend PI4 3.84 TB, an industrial drive of seed 5 whose maker advertises a steady rate. It was slower to read than
# to write there. Both rates are below what the host reached with other drives, so they are the drive's.
model             "Exascend EXP4M9A0038ZAN8100"  # seed: seed 5: the model tested
capacity_bytes    3840755982336 B  # derived: seed 5: 3840 GB, as the industry counts blocks
generation        4                # data sheet: PI4 series: PCIe 4.0
lanes             4                # data sheet: PI4 series: x4
mdts_pages        64               # assumed: 256 KiB
queue_entries     1024             # assumed: a usual number
command_ns        2 us             # data sheet: its controller, Marvell 88SS1321: 690 k IOPS read, 500 k write
write_latency_ns  220 us           # fitted: seed 5: three times the queue depth of a 980 PRO at its full rate, writes
read_latency_ns   300 us           # fitted: seed 5: three times the queue depth of a 980 PRO at its full rate, reads
ready_ms          500 ms           # assumed: as other drives
read_rate         2.45 GB/s        # fitted: seed 5, mean of 1000 GB raw reads: 2.45 GB/s
slc_rate          2.67 GB/s        # assumed: no SLC cache: not used
direct_rate       2.67 GB/s        # fitted: seed 5, mean of 1000 GB raw writes: 2.65 GB/s
fold_rate         2.67 GB/s        # assumed: no SLC cache: not used
full_rate         2.67 GB/s        # assumed: its maker promises a steady rate
slc_bytes         0 B              # assumed: seed 5 shows one rate
slc_full_bytes    0 B              # assumed: seed 5 shows one rate
slc_refill_rate   0 MB/s           # assumed: seed 5 shows one rate
slc_rest_ms       0 ms             # assumed: seed 5 shows one rate
fold_bytes        0 B              # assumed: seed 5 shows one rate
volatile_cache    yes              # assumed: the harder case for a recorder
buffer_bytes      32 MiB           # assumed: an industrial drive with more DRAM
flush_ns          500 us           # assumed: an industrial drive is tuned for it
fua_ns            400 us           # assumed: little less than a flush
pause_bytes       4 GB             # assumed: the drive writes its own tables now and then
pause_ms          5 ms             # assumed: its maker promises a steady rate
idle_watts        2 W              # assumed: four channels, large DRAM
joules_per_byte   2.3 nJ/B         # assumed: as the 970 EVO Plus
heat_capacity     20 J/K           # assumed: a larger board
heat_resistance   5 K/W            # assumed: made for conduction cooling
ambient_c         25 C             # assumed: a laboratory
warning_c         85 C             # data sheet: PI4 series: operates up to 85 C
throttle_c        85 C             # assumed: where it warns
recover_c         80 C             # assumed: a few degrees
throttle_factor   0.7              # assumed: its maker sells adaptive thermal control
critical_c        95 C             # assumed: above its operating range
atomic_bytes      4 KiB            # assumed: a flash page is larger than a block
