# Samsung 990 PRO 2 TB, the drive of seed 4. Under Linux it wrote 5.6 GB/s (Gen4) and 2.9 GB/s (Gen3), less than the
# data sheet's 6.9 and the link allow: the host limited them. They are predictions for a link with the host's limit.
model             "Samsung SSD 990 PRO 2TB"  # report: smartctl listing of this model
capacity_bytes    2000398934016 B  # report: smartctl listing of this model
generation        4                # data sheet: PCIe 4.0
lanes             4                # data sheet: x4
mdts_pages        512              # report: smartctl listing of this model: 512 pages
queue_entries     16384            # report: other Samsung controllers of these years (ssdmeter: SM961, PM981)
command_ns        700 ns           # data sheet: 1400 k IOPS read, 1550 k write
write_latency_ns  8 us             # derived: data sheet, 4 KiB at queue depth 1: 80 k IOPS, less 5 us of host and link
read_latency_ns   40 us            # derived: data sheet, 4 KiB at queue depth 1: 22 k IOPS, less 5 us of host and link
ready_ms          200 ms           # assumed: as the 980 PRO
read_rate         7.45 GB/s        # data sheet: sequential read
slc_rate          6.9 GB/s         # data sheet: sequential write
direct_rate       1.41 GB/s        # assumed: 1.4 GB/s is commonly given for the time after TurboWrite
fold_rate         1.2 GB/s         # assumed: a dip as on the 980 PRO
full_rate         1.4 GB/s         # assumed: as the time after TurboWrite
slc_bytes         226 GB           # data sheet: TurboWrite, 2 TB model: 10 GB default and 216 GB intelligent
slc_full_bytes    10 GB            # data sheet: TurboWrite, 2 TB model: the default part
slc_refill_rate   1.4 GB/s         # assumed: what writing TLC takes
slc_rest_ms       1 s              # assumed: as the 980 PRO
fold_bytes        20 GB            # assumed: as the 980 PRO
volatile_cache    yes              # report: VWC of other Samsung drives of these years
buffer_bytes      16 MiB           # assumed: data on the way to flash, a small part of 2 GB DRAM
flush_ns          1 ms             # assumed: consumer drives answer some hundred to a thousand flushes a second
fua_ns            800 us           # assumed: little less than a flush
pause_bytes       4 GB             # assumed: the drive writes its own tables now and then
pause_ms          10 ms            # assumed: as above
idle_watts        1.2 W            # assumed: active idle, power saving off as in a recorder
joules_per_byte   0.65 nJ/B        # assumed: the data sheet promises 1.5 times the rate per watt of the 980 PRO
heat_capacity     13 J/K           # derived: TechPowerUp, 970 PRO without a fan: 80 C after 150 s at 2 GB/s
heat_resistance   6 K/W            # assumed: a heat sink or a little air
ambient_c         25 C             # assumed: a laboratory
warning_c         82 C             # report: smartctl listing of the 4 TB model
throttle_c        82 C             # assumed: where it warns
recover_c         78 C             # assumed: a few degrees
throttle_factor   0.5              # assumed: reviews show a quarter to a half lost
critical_c        85 C             # report: smartctl listing of the 4 TB model
atomic_bytes      0 B              # report: AWUPF of the 960 EVO: one block
