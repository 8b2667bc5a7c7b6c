# Samsung 960 PRO 512 GB: two bits a cell, no SLC cache, one speed. Seed 5 wrote 1000 GB to it, about twice its
# capacity, at one mean rate.
model             "Samsung SSD 960 PRO 512GB"  # report: listing of this model
capacity_bytes    512110190592 B   # report: listing of this model: 512.11 GB
generation        3                # data sheet: PCIe 3.0
lanes             4                # data sheet: x4
mdts_pages        512              # report: smartctl listing of the 960 EVO, same controller: 512 pages
queue_entries     16384            # report: ssdmeter: SM961, same controller
command_ns        3 us             # data sheet: 330 k IOPS, read and write
write_latency_ns  15 us            # derived: data sheet, 4 KiB at queue depth 1: 50 k IOPS, less 5 us of host and link
read_latency_ns   65 us            # derived: data sheet, 4 KiB at queue depth 1: 14 k IOPS, less 5 us of host and link
ready_ms          500 ms           # report: RTD3R in Identify Controller of the 960 EVO
read_rate         3.5 GB/s         # data sheet: sequential read. Seed 5 saw 3.05, the host's limit
slc_rate          2.02 GB/s        # assumed: no SLC cache: not used
direct_rate       2.02 GB/s        # fitted: seed 5, mean of 1000 GB raw writes: 2.0 GB/s. Data sheet: 2.1
fold_rate         2.02 GB/s        # assumed: no SLC cache: not used
full_rate         2.02 GB/s        # fitted: seed 5, mean of 1000 GB raw writes, about twice the capacity
slc_bytes         0 B              # data sheet: two bits a cell: no TurboWrite
slc_full_bytes    0 B              # data sheet: two bits a cell: no TurboWrite
slc_refill_rate   0 MB/s           # data sheet: two bits a cell: no TurboWrite
slc_rest_ms       0 ms             # data sheet: two bits a cell: no TurboWrite
fold_bytes        0 B              # data sheet: two bits a cell: no TurboWrite
volatile_cache    yes              # report: VWC of the 960 EVO, same controller
buffer_bytes      16 MiB           # assumed: data on the way to flash, a small part of 512 MB DRAM
flush_ns          1 ms             # assumed: consumer drives answer some hundred to a thousand flushes a second
fua_ns            800 us           # assumed: little less than a flush
pause_bytes       2 GB             # assumed: the drive writes its own tables now and then
pause_ms          10 ms            # assumed: as above
idle_watts        1.2 W            # assumed: active idle, power saving off as in a recorder
joules_per_byte   1.67 nJ/B        # derived: AnandTech, vendor figures: 4.7 W at 2.1 GB/s, less idle
heat_capacity     13 J/K           # derived: TechPowerUp, 970 PRO without a fan: 80 C after 150 s at 2 GB/s
heat_resistance   6 K/W            # assumed: a heat sink or a little air
ambient_c         25 C             # assumed: a laboratory
warning_c         77 C             # report: smartctl listing of the 960 EVO, same controller
throttle_c        77 C             # assumed: where it warns
recover_c         73 C             # assumed: a few degrees
throttle_factor   0.75             # review: TechPowerUp, 970 PRO: from 2 to 1.5 GB/s
critical_c        79 C             # report: smartctl listing of the 960 EVO, same controller
atomic_bytes      0 B              # report: AWUPF of the 960 EVO: one block
