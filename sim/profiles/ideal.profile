# No limits but the link: for tests that measure the cost of the library, not of a drive.
model             "Spate ideal drive" # assumed: no such drive exists
capacity_bytes    2 TB       # assumed: as the 2 TB drives of the figures
generation        5          # assumed: the link is what the program asks for
lanes             4          # assumed: an M.2 drive
mdts_pages        512        # assumed: 2 MiB, what most of the drives of the figures have or exceed
queue_entries     1024       # assumed: more than a recorder needs
command_ns        0 ns       # assumed: no limit
write_latency_ns  10 us      # assumed: the latency that the gateware's test bench uses
read_latency_ns   80 us      # assumed: the latency that the gateware's test bench uses
ready_ms          1 ms       # assumed: no limit
read_rate         1 TB/s     # assumed: no limit
slc_rate          1 TB/s     # assumed: no limit
direct_rate       1 TB/s     # assumed: no limit
fold_rate         1 TB/s     # assumed: no limit
full_rate         1 TB/s     # assumed: no limit
slc_bytes         0 B        # assumed: one speed
slc_full_bytes    0 B        # assumed: one speed
slc_refill_rate   0 MB/s     # assumed: nothing to refill
slc_rest_ms       0 ms       # assumed: nothing to refill
fold_bytes        0 B        # assumed: nothing to fold
volatile_cache    yes        # assumed: so that flushes are needed, as on the drives of the figures
buffer_bytes      1 GiB      # assumed: no limit
flush_ns          0 ns       # assumed: no limit
fua_ns            0 ns       # assumed: no limit
pause_bytes       0 B        # assumed: none
pause_ms          0 ms       # assumed: none
idle_watts        0 W        # assumed: no heat
joules_per_byte   0 nJ/B     # assumed: no heat
heat_capacity     10 J/K     # assumed: no heat
heat_resistance   1 K/W      # assumed: no heat
ambient_c         25 C       # assumed: a desk
warning_c         80 C       # assumed: never reached
throttle_c        85 C       # assumed: never reached
recover_c         80 C       # assumed: never reached
throttle_factor   0.5        # assumed: never reached
critical_c        90 C       # assumed: never reached
atomic_bytes      0 B        # assumed: one block, the least that the specification allows
