# Samsung 970 EVO Plus 1 TB, the drive of seed 1. Its 2.5 GB/s write there is less than the data sheet's 3.3, but as
# much as FPGA bridges of that kind fetch from memory. The profile says what the drive does; the host's limit belongs
# to the link (fetch_mb_per_s).
model             "Samsung SSD 970 EVO Plus 1TB"  # report: smartctl listing of this model
capacity_bytes    1000204886016 B  # report: smartctl listing of this model
generation        3                # data sheet: PCIe 3.0
lanes             4                # data sheet: x4
mdts_pages        512              # report: smartctl listing of this model: 512 pages
queue_entries     16384            # report: other Samsung controllers of these years (ssdmeter: SM961, PM981)
command_ns        1.8 us           # data sheet: 600 k IOPS read, 550 k write
write_latency_ns  12 us            # derived: data sheet, 4 KiB at queue depth 1: 60 k IOPS, less 5 us of host and link
read_latency_ns   47 us            # derived: data sheet, 4 KiB at queue depth 1: 19 k IOPS, less 5 us of host and link
ready_ms          500 ms           # report: RTD3R in Identify Controller of the 960 EVO
read_rate         3.5 GB/s         # data sheet: sequential read
slc_rate          3.3 GB/s         # data sheet: sequential write, 1 TB model
direct_rate       1.72 GB/s        # data sheet: 1.7 GB/s after TurboWrite, as seed 1 measured; pauses added
fold_rate         1.72 GB/s        # assumed: seed 1 saw no dip
full_rate         1.5 GB/s         # assumed: steadier and a little slower: no source
slc_bytes         42 GB            # data sheet: TurboWrite, 1 TB model: 6 GB default and 36 GB intelligent
slc_full_bytes    6 GB             # data sheet: TurboWrite, 1 TB model: the default part
slc_refill_rate   1.0 GB/s         # assumed: less than what writing TLC takes
slc_rest_ms       1 s              # assumed: as the 980 PRO
fold_bytes        0 B              # assumed: seed 1 saw no dip
volatile_cache    yes              # seed: seed 1: flushes are needed for what must be durable
buffer_bytes      16 MiB           # assumed: data on the way to flash, a small part of 1 GB DRAM
flush_ns          1 ms             # assumed: consumer drives answer some hundred to a thousand flushes a second
fua_ns            800 us           # assumed: little less than a flush
pause_bytes       2 GB             # assumed: the drive writes its own tables now and then
pause_ms          10 ms            # assumed: as above
idle_watts        1.2 W            # assumed: active idle, power saving off as in a recorder
joules_per_byte   2.3 nJ/B         # derived: seed 1: 7 W while writing at 2.5 GB/s, less idle
heat_capacity     13 J/K           # derived: TechPowerUp, 970 PRO without a fan: 80 C after 150 s at 2 GB/s
heat_resistance   6 K/W            # assumed: a heat sink or a little air: seed 1 says that a heat sink is needed
ambient_c         25 C             # assumed: a laboratory
warning_c         85 C             # report: smartctl listing of this model
throttle_c        80 C             # review: TechPowerUp, 970 PRO: same controller
recover_c         77 C             # assumed: a few degrees
throttle_factor   0.75             # review: TechPowerUp, 970 PRO: from 2 to 1.5 GB/s
critical_c        85 C             # report: smartctl listing of this model
atomic_bytes      0 B              # report: AWUPF of the 960 EVO: one block
