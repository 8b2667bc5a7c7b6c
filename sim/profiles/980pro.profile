# Samsung 980 PRO 2 TB. The seeds show it behind three hosts: raw writes over 1000 GB (seed 5, Gen3, pure logic), whole
# drives of exFAT files (seed 3, Gen3, bare metal). The data sheet says 2.0 GB/s "after TurboWrite", which contradicts
# seed 5's mean of 2.8 over 1000 GB; the profile follows the measurement. full_rate is what seed 3 saw on a full
# drive. Not modelled: AnandTech saw a 1 TB drive return to SLC speed once more in the middle of a fill.
model             "Samsung SSD 980 PRO 2TB"  # data sheet: the name in Identify Controller
capacity_bytes    2000398934016 B  # report: smartctl listing of this model
generation        4                # data sheet: PCIe 4.0
lanes             4                # data sheet: x4
mdts_pages        128              # report: smartctl listing of this model: 128 pages
queue_entries     16384            # report: other Samsung controllers of these years (ssdmeter: SM961, PM981)
command_ns        1 us             # data sheet: 1000 k IOPS, read and write
write_latency_ns  12 us            # derived: data sheet, 4 KiB at queue depth 1: 60 k IOPS, less 5 us of host and link
read_latency_ns   40 us            # derived: data sheet, 4 KiB at queue depth 1: 22 k IOPS, less 5 us of host and link
ready_ms          200 ms           # report: RTD3R in Identify Controller of the 1 TB model
read_rate         7.0 GB/s         # data sheet: sequential read
slc_rate          5.1 GB/s         # data sheet: sequential write, 2 TB model
direct_rate       2.83 GB/s        # fitted: seed 5, mean of 1000 GB raw writes: 2.8 GB/s with 2.96 before the edge
fold_rate         1.4 GB/s         # fitted: seed 3: dips below 1.5 GB/s after the SLC cache runs out
full_rate         2.02 GB/s        # fitted: seed 3: 2 GB/s over 2 TB, on a drive that had been written full
slc_bytes         226 GB           # data sheet: TurboWrite, 2 TB model: 10 GB default and 216 GB intelligent
slc_full_bytes    10 GB            # data sheet: TurboWrite, 2 TB model: the default part
slc_refill_rate   1.5 GB/s         # assumed: what writing TLC takes on the 1 TB model
slc_rest_ms       1 s              # review: TechPowerUp, 1 TB model: a pause of even a second frees SLC cache
fold_bytes        20 GB            # assumed: a dip, not a plateau: the seeds give no length
volatile_cache    yes              # report: VWC of other Samsung drives of these years
buffer_bytes      16 MiB           # assumed: data on the way to flash, a small part of 2 GB DRAM
flush_ns          1 ms             # assumed: consumer drives answer some hundred to a thousand flushes a second
fua_ns            800 us           # assumed: little less than a flush
pause_bytes       4 GB             # assumed: the drive writes its own tables now and then
pause_ms          10 ms            # assumed: as above
idle_watts        1.2 W            # assumed: active idle, power saving off as in a recorder
joules_per_byte   0.96 nJ/B        # derived: data sheet: 6.1 W at 5.1 GB/s, less idle
heat_capacity     13 J/K           # derived: TechPowerUp, 970 PRO without a fan: 80 C after 150 s at 2 GB/s
heat_resistance   6 K/W            # assumed: a heat sink or a little air: the seeds say that a heat sink is needed
ambient_c         25 C             # assumed: a laboratory
warning_c         82 C             # report: smartctl listing of this model
throttle_c        82 C             # assumed: where it warns
recover_c         78 C             # assumed: a few degrees
throttle_factor   0.5              # assumed: reviews show a quarter to a half lost
critical_c        85 C             # report: smartctl listing of this model
atomic_bytes      0 B              # report: AWUPF of the 960 EVO: one block
