/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of each finding: what is wrong, and what to do. internal.h explains the placeholders for numbers. */
#include "internal.h"

#define NOTE    SPATE_DOCTOR_NOTE
#define WARNING SPATE_DOCTOR_WARNING
#define ERROR   SPATE_DOCTOR_ERROR
#define UNDONE  SPATE_DOCTOR_UNDONE

#define TEXT(code, severity, problem, advice) [SPATE_DOCTOR_##code] = {#code, severity, problem, advice}

static const struct doctor_text texts[SPATE_DOCTOR_COUNT] = {
    TEXT(SLOT_EMPTY, NOTE, "The slot below this port is empty.",
         "Plug a drive in; if one is there, check that its presence pin (PRSNT#) reaches the port."),
    TEXT(
        LINK_DOWN, ERROR, "The port has no link.",
        "If a drive is connected here, check its power, the reference clock at both ends, that PERST# is released, and "
        "the order and polarity of the lanes; otherwise nothing is wrong."),
    TEXT(LINK_TRAINING, ERROR, "The port detects a receiver, but its link does not finish training.",
         "Check that both ends have the same reference clock, the lane order, and the signal integrity; limit the port "
         "to 2.5 GT/s to see whether it trains then."),
    TEXT(DEVICE_SILENT, ERROR, "The port's link is up, but no device below it responds.",
         "Give the drive three seconds after reset and scan the bus again; then check PERST#, and the bus numbers of "
         "the "
         "port."),
    TEXT(LINK_SLOW, WARNING, "The link runs at {0s}, and both ends support {1s}.",
         "Reseat the drive and check signal integrity, reference clock and redrivers; then train the link again."),
    TEXT(LINK_SPEED_LIMITED, WARNING,
         "The link runs at {0s} because of the target link speed of its port, and both ends support {1s}.",
         "Raise the target link speed, in the firmware's settings or in the configuration of the root port, and train "
         "the link again."),
    TEXT(LINK_NARROW, WARNING, "The link has {0|lane}, and both ends support {1}.",
         "Reseat the drive, and check lane order, broken lanes and how the slot divides its lanes (bifurcation)."),
    TEXT(PORT_SLOWER, NOTE, "The port supports {0s} at most, and the device below it {1s}.",
         "Use a faster slot if the rate is needed."),
    TEXT(PORT_NARROWER, NOTE, "The port has {0|lane} at most, and the device below it {1}.",
         "Use a wider slot if the rate is needed."),
    TEXT(PAYLOAD_UNSUPPORTED, ERROR, "The payload size is set to {0b}, and this function supports {1b} at most.",
         "Set Max_Payload_Size on the whole path to the smallest size that any function on it supports (Linux: boot "
         "with pci=pcie_bus_safe)."),
    TEXT(PAYLOAD_MISMATCH, ERROR, "The payload size is set to {0b} here and to {1b} above.",
         "Set one Max_Payload_Size on the whole path (Linux: boot with pci=pcie_bus_safe): the side with the smaller "
         "size rejects larger packets as malformed."),
    TEXT(PAYLOAD_SMALL, NOTE, "The payload size is set to {0b}, and every function on the path supports {1b}.",
         "Raise Max_Payload_Size on the whole path for a rate that is a few percent higher (Linux: boot with "
         "pci=pcie_bus_safe or pci=pcie_bus_perf)."),
    TEXT(READ_REQUEST_RESERVED, WARNING, "The read request size has the reserved code {0}.",
         "Set Max_Read_Request_Size to 512 bytes."),
    TEXT(READ_REQUEST_SMALL, NOTE, "The drive reads memory in requests of {0b} only.",
         "Set Max_Read_Request_Size to 512 bytes, or use a drive that accepts it: with smaller requests recordings "
         "are slower than the link."),
    TEXT(ASPM_ON, NOTE, "The link may enter {0a} (ASPM), and leaving it takes microseconds.",
         "Turn ASPM off if latency matters (Linux: boot with pcie_aspm=off, or pcie_aspm.policy=performance)."),

    TEXT(FUNCTION_SILENT, ERROR, "The function does not respond: its configuration space reads all ones or zeros.",
         "Check the drive's power and its link; then scan the bus again or power-cycle the drive."),
    TEXT(WRONG_CLASS, ERROR, "The device is not an NVMe drive: its class is {0x}, and NVMe's is 0x10802.",
         "Check that this is the right slot, and that the drive is not an M.2 SATA drive or another card."),
    TEXT(KNOWN_DRIVE, NOTE, "The library handles this drive specially ({n}: {0q}).",
         "Do nothing: the driver takes care of it (src/nvme/quirks.def has the row and its source)."),
    TEXT(POWER_STATE, ERROR,
         "The function is in power state {0d}, in which its registers and memory cannot be accessed.",
         "Bring it back to D0 (Linux: write \"on\" to its power/control in sysfs), or reset it."),
    TEXT(BUS_NUMBERS, ERROR, "The bridge forwards requests to buses {0} to {1}, and the next function is on bus {2}.",
         "Enumerate the buses again: the bridge's bus numbers have changed since the last enumeration."),
    TEXT(MEMORY_OFF, ERROR, "Memory decoding is off (command register, bit 1), so registers cannot be reached.",
         "Have the driver open the drive again (Linux: unbind and bind it), and find out what turned it off."),
    TEXT(BUS_MASTER_OFF, ERROR, "Bus mastering is off (command register, bit 2), so the drive cannot reach memory.",
         "Have the driver open the drive again (Linux: unbind and bind it), and find out what turned it off."),
    TEXT(BAR_FIXED, ERROR, "BAR 0 cannot be written: it reads 0 after all ones were written to it.",
         "Check that configuration writes reach the drive (size and base of the bridge's configuration space, bus "
         "numbers), and that the drive is out of reset."),
    TEXT(BAR_UNASSIGNED, ERROR, "BAR 0 has no address, so the drive's registers cannot be reached.",
         "Check the bridge's memory window (the device tree's ranges, the AXI BAR) and the system's log from when "
         "addresses were assigned."),
    TEXT(APERTURE_SMALL, ERROR, "The bridge's memory window has {0b}, and the drive's BAR 0 needs {1b}.",
         "Make the window larger (the device tree's ranges, the AXI BAR in the address editor), and enumerate again."),
    TEXT(BAR_OUTSIDE_WINDOW, ERROR, "The drive's BAR 0 is at {0x}, outside the addresses that this bridge forwards.",
         "Enumerate again, so that window and BAR match, and check the window's address (the device tree's ranges, the "
         "AXI BAR translation)."),

    TEXT(CORRECTED_BEFORE, NOTE, "At least {1|correctable error} before this test ({0c}).",
         "Check again after some hours of traffic: a few errors are normal, many mean bad signals."),
    TEXT(UNCORRECTED_BEFORE, WARNING, "At least {1|uncorrectable error} before this test ({0u}).",
         "If there are more, check power and signals, and payload sizes; a log of that time may name the cause."),
    TEXT(UNSUPPORTED_BEFORE, NOTE, "A request was refused as unsupported before this test.",
         "Do nothing unless it happens again: a scan for devices causes this."),
    TEXT(CORRECTED_DURING, WARNING, "At least {1|correctable error} during the transfer ({0c}).",
         "Check connector, cable, redrivers and reference clock: the data are right, but the link loses time and may "
         "fail."),
    TEXT(UNCORRECTED_DURING, ERROR, "At least {1|uncorrectable error} during the transfer ({0u}).",
         "Do not record with this link: check power and signals, payload sizes and the bridge's windows."),
    TEXT(TRANSFER_FAILED, ERROR, "Reading from the drive failed after {0b}: {n}.",
         "Check the health of the drive, and copy its data; the log of the driver has the commands that failed."),

    TEXT(REGISTERS_GONE, ERROR, "The controller's registers read all ones: the drive fell off the bus.",
         "Check power and link; then scan the bus again or power-cycle the drive."),
    TEXT(CONTROLLER_FATAL, ERROR, "The controller reports a fatal error (CSTS.CFS, status {0x}).",
         "Check that bus mastering is on and that the drive can access the queues' memory; then reset or power-cycle "
         "the drive."),
    TEXT(CONTROLLER_NOT_READY, ERROR, "The controller is not ready (CC.EN {0}, CSTS {1x}).",
         "Wait until the driver's reset has ended; if this does not change, read its log and power-cycle the drive."),
    TEXT(CONTROLLER_SHUT_DOWN, ERROR, "The controller was shut down (CSTS {0x}) and carries out no commands.",
         "Reset the drive, or have its driver open it again."),
    TEXT(CONTROLLER_BUSY, ERROR, "The driver has the controller in state \"{n}\", in which it accepts no commands.",
         "Wait for the driver's reset to end, and read the system's log; if this does not change, power-cycle the "
         "drive."),
    TEXT(CONTROLLER_DEAD, ERROR, "The driver has given the controller up (state \"{n}\").",
         "Read the system's log, power-cycle the drive, and check power, cooling and link if it happens again."),
    TEXT(COMMAND_SET, ERROR, "The controller has no NVM command set (CAP.CSS).", "Use a block drive instead."),
    TEXT(PAGE_SIZE, ERROR, "The controller needs memory pages of at least {0b} (CAP.MPSMIN), and 4 KiB are used.",
         "Use another drive."),

    TEXT(SPARE_LOW, WARNING, "{0} % of the spare blocks are left, and the drive's threshold is {1} %.",
         "Replace the drive soon."),
    TEXT(UNRELIABLE, ERROR, "The drive reports that it is no longer reliable.", "Copy its data, and replace it."),
    TEXT(READ_ONLY, ERROR, "The drive accepts reads only.", "Copy its data, and replace it."),
    TEXT(BACKUP_FAILED, WARNING, "The backup of the drive's volatile memory has failed.",
         "Replace the drive: a power cut may lose data that it has accepted."),
    TEXT(WORN, WARNING, "The drive is worn: {0} % of its life is used.", "Replace the drive."),
    TEXT(WEARING, NOTE, "{0} % of the drive's life is used.", "Have a replacement drive ready."),
    TEXT(MEDIA_ERRORS, WARNING, "The drive counted {0|media error}.",
         "Copy its data, watch whether the number rises, and replace the drive if it does."),
    TEXT(TOO_HOT, ERROR, "The drive is at {0} C, and its critical limit is {1} C.",
         "Stop recording and cool it: it may turn itself off."),
    TEXT(HOT, WARNING, "The drive is at {0} C, and its warning limit is {1} C.",
         "Cool it, or record more slowly: it throttles."),
    TEXT(TEMPERATURE_WARNING, WARNING, "The drive warns about its temperature, {0} C.",
         "Bring it back between its limits: cool it, or warm it up."),
    TEXT(THROTTLED, WARNING, "The drive throttled itself during the transfer because of heat.",
         "Cool it, or record more slowly."),
    TEXT(THROTTLED_BEFORE, NOTE,
         "The drive throttled itself {0|time} and was above its warning limit for {1|minute} in its life.",
         "Check its cooling under the load of a recording."),

    TEXT(NO_NAMESPACE, ERROR, "The drive has no active namespace.",
         "Create and attach one (nvme create-ns, nvme attach-ns)."),
    TEXT(NAMESPACE_METADATA, ERROR, "Namespace {0} has metadata or protection information in its format.",
         "Format it without these (nvme format --lbaf, --ms, --pi), which erases everything on it."),
    TEXT(NAMESPACE_FORMAT, ERROR, "Namespace {0} has blocks that are neither 512 nor 4096 bytes.",
         "Format it to one of these (nvme format --lbaf), which erases everything on it."),

    TEXT(NO_DRIVE, ERROR, "There is no NVMe drive.",
         "Check power and slot of the drive and the ports that are listed, and enumerate the bus again (Linux: echo "
         "1 > /sys/bus/pci/rescan)."),
    TEXT(NO_DRIVER, WARNING, "No driver is bound to the drive.",
         "Load the kernel's driver (modprobe nvme), or use the drive as vfio: or pci: with --bind."),
    TEXT(FOREIGN_DRIVER, WARNING, "The drive is bound to the driver \"{n}\", which is neither nvme nor vfio-pci.",
         "Unbind it and bind it to nvme; for vfio: and pci:, --bind takes it from its driver while spate runs."),
    TEXT(TAKEN, NOTE, "A spate process has taken the drive from the kernel's driver.",
         "If no spate process is running, spate release gives it back."),
    TEXT(NOT_COHERENT, ERROR, "The device tree does not say that the drive's DMA is coherent with the caches.",
         "Connect the root port coherently (on a Zynq UltraScale+ by HPC) and add dma-coherent to its node, or "
         "use the kernel's driver."),
    TEXT(COHERENCY_UNKNOWN, ERROR, "It is not known whether the drive's DMA is coherent with the caches.",
         "Describe the root port in a device tree with dma-coherent, or use vfio: or the kernel's driver."),
    TEXT(IOMMU_NONE, ERROR, "The drive is not behind an IOMMU, and vfio: needs one.",
         "Turn an IOMMU on in the firmware and on the kernel's command line (intel_iommu=on), or use pci: if there is "
         "none."),
    TEXT(IOMMU_ACTIVE, ERROR, "The drive is behind an IOMMU that translates, and pci: cannot be used there.",
         "Use vfio: instead."),
    TEXT(IOMMU_SHARED, ERROR, "The drive shares its IOMMU group with functions that drivers use: {n}.",
         "Use a slot behind a root port with ACS, or unbind those functions, too."),
    TEXT(VFIO_MISSING, ERROR, "VFIO is not available: there is no /dev/vfio/vfio.", "Load it: modprobe vfio-pci."),
    TEXT(VFIO_FORBIDDEN, ERROR, "You may not open {n}, which vfio: needs.",
         "Run spate as root, or change the owner of the file as root: chown USER FILE."),
    TEXT(MEMORY_LOCK_SMALL, ERROR, "You may lock {0b} of memory, and vfio: needs more for its queues and ring.",
         "Raise the limit (ulimit -l, or memlock in /etc/security/limits.conf), or run spate as root."),
    TEXT(HUGE_PAGES_MISSING, ERROR, "pci: needs at least {1|huge page} of 2 MiB, and finds {0} free.",
         "Reserve some: echo 64 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages."),
    TEXT(IO_URING_MISSING, WARNING, "The kernel {n} has no io_uring, so block devices are written request by request.",
         "Use a kernel of version 5.6 or later that was built with CONFIG_IO_URING."),
    TEXT(IO_URING_FORBIDDEN, WARNING, "io_uring is forbidden here, so block devices are written request by request.",
         "Allow it: sysctl kernel.io_uring_disabled=0, and in a container the calls io_uring_setup, io_uring_enter and "
         "io_uring_register."),

    TEXT(CLOCK_WRONG, ERROR, "The port's clock is wrong: {n}.",
         "Correct spate_port_ticks() and spate_port_ticks_per_second(): every deadline depends on them."),
    TEXT(CLOCK_RATE, ERROR, "The drive's clock advanced by {0} ms while the port's clock advanced by {1} ms.",
         "Correct spate_port_ticks_per_second(), and compare the clock with a watch: every deadline depends on it."),
    TEXT(
        NO_BRIDGE, ERROR, "There is no PCIe root port at the address that the board names.",
        "Check that the logic is loaded before this program, the bridge's clock and reset, and the base address of its "
        "configuration space in the address editor."),
    TEXT(NOT_ENUMERATED, ERROR, "The bus was not enumerated: {0e}.",
         "Correct this in the board's configuration of the bridge or in the design, and run the checkup again."),
    TEXT(LEFT_OUT, WARNING, "Enumeration left out {0|function}, the first at {1x} (bus, device and function).",
         "Check whether the bridge's window and bus numbers are enough for all devices; the others can be used."),
    TEXT(DRIVE_NUMBER, ERROR, "There is no NVMe drive {0}: the first one has the number 0.",
         "Choose one of the drives that are listed, and check power, slot and port of the missing one."),
    TEXT(LINK_LATE, ERROR, "The link came up only after the bridge had been opened without one.",
         "Give the drive more time after PERST# is released (link_timeout_ms of the bridge), and open it again."),
    TEXT(LINK_STATE_ZERO, ERROR,
         "The bridge shows link state 0 all the time, and a port that looks for a receiver changes its state.",
         "Check that the bridge's own registers are at the address that the board names (on most Versal bridges in a "
         "second region), and then the reference clock and the reset of the bridge."),
    TEXT(LINK_STATE_UNKNOWN, ERROR, "The link is down, and no guide lists the state {0x} that the bridge shows.",
         "Check which guide numbers the states of this bridge (board_ltssm(), or ltssm= of firmware/doctor), and the "
         "address of the bridge's own registers."),
    TEXT(LINK_NO_RECEIVER, ERROR, "The port detects no receiver on any lane (link state {n}).",
         "Check that the drive is plugged in and has power, that the transmit lanes reach it through their capacitors, "
         "and that PERST# is released."),
    TEXT(LINK_POLLING, ERROR,
         "The port detects a receiver but does not understand what it sends (furthest link state {n}).",
         "Check the reference clock of both ends, that PERST# is released, and the receive lanes: their order, their "
         "polarity and the signals."),
    TEXT(LINK_CONFIGURATION, ERROR, "Both ends of the link do not agree on lanes (furthest link state {n}).",
         "Check the order of the lanes, the width in the bridge's configuration, and that lane 0 of both ends is "
         "connected; try a width of one lane."),
    TEXT(LINK_RECOVERY, ERROR, "The link trains again and again (link state {n}).",
         "Check signals, reference clock, redrivers and the drive's power; limit the port to 2.5 GT/s to see whether "
         "the link stays up then."),
    TEXT(LINK_DISABLED, ERROR, "The port's link is kept from training (link state {n}).",
         "Check the bridge's reset and its Link Disable bit, and whether earlier firmware left it in loopback or in "
         "reset; then reset the bridge."),
    TEXT(LANES_REVERSED, NOTE, "The lanes are connected in reverse order, and the bridge corrects it (mode {0}).",
         "Do nothing if the link has all its lanes; otherwise correct the order of the lanes in the design."),
    TEXT(WINDOW_TRANSLATED, ERROR,
         "The drive's registers do not respond, and the bridge's window has other addresses on the bus ({1x}) than for "
         "the processor ({0x}).",
         "Check the translation of the AXI BAR, or give the window the same address on both sides, as the bridges of "
         "Versal need it (the device tree's ranges 1:1)."),
    TEXT(
        REGISTERS_UNREACHED, ERROR,
        "The drive's registers read {0x} at {1x}, although its configuration space responds.",
        "Check the window's addresses for the processor and on the bus (address editor, and the translation of the AXI "
        "BAR), that it is mapped as device memory, and that Bridge Enable is set."),
    TEXT(INTERRUPTS_ON, WARNING, "Earlier firmware left the drive's interrupts on ({n}).",
         "Turn them off in the drive's MSI or MSI-X capability: each interrupt is a write to an address that may be in "
         "use for something else now."),
    TEXT(POLLED, NOTE, "The drive's interrupts are off.",
         "Do nothing: the library polls, and needs no interrupt, MSI address or MSI-X support of the root port."),
    TEXT(
        QUEUE_MEMORY_UNREACHED, ERROR,
        "The drive does not complete its first command: it does not reach queue memory at bus address {0x} (CSTS "
        "{1x}).",
        "Check spate_port_dma_address(), the address translation of the bridge's inbound BAR, its AXI master port, and "
        "bus mastering."),
    TEXT(QUEUE_MEMORY_CACHED, ERROR,
         "The drive reaches queue memory, but processor and drive see each other's stores there only after cache "
         "maintenance.",
         "Map queue memory as not cached, or connect the root port coherently (HPC on a Zynq UltraScale+, with the "
         "right "
         "AxCACHE and AxPROT), and check the port's barriers."),
    TEXT(COMMAND_REFUSED, ERROR, "The drive refused a command that every drive carries out: {n}.",
         "If this is an error of the data transfer, check the address translation of the bridge; otherwise update the "
         "drive's firmware."),
    TEXT(DATA_NOT_COHERENT, NOTE, "The drive's data are seen in the test buffer only after cache maintenance.",
         "Do nothing: the library cleans and invalidates what the processor uses (SPATE_IO_CPU); a coherent port saves "
         "this time."),
    TEXT(DATA_UNREACHED, ERROR, "The drive reaches queue memory, but not the test buffer at bus address {0x}.",
         "Check spate_port_dma_address() for this memory, the range of the bridge's inbound BAR, and whether its AXI "
         "master port reaches this memory."),
    TEXT(DATA_UNSEEN, ERROR,
         "The drive has its data at the test buffer's bus address {0x}, but the processor does not see them.",
         "Check that spate_port_cache_invalidate() works for all levels of cache, and then that "
         "spate_port_dma_address() "
         "does not name other memory."),
    TEXT(DATA_MISSING, ERROR, "The drive's data do not appear in the test buffer at bus address {0x}: {n}.",
         "Check spate_port_dma_address() for this memory, and then that spate_port_cache_invalidate() works for all "
         "levels of cache."),
    TEXT(STORES_UNSEEN, ERROR, "The drive does not read what the processor stored in the test buffer.",
         "Check that spate_port_cache_clean() works for all levels of cache, and the AxCACHE and AxPROT of a coherent "
         "port."),
    TEXT(NOT_STARTED, ERROR, "The driver did not start the drive: {0e}.",
         "Follow the advice above; if there is none, power-cycle the drive, and check its power and its link."),
    TEXT(WRITE_FAILED, ERROR, "Writing to the drive failed after {0b}: {1e}.",
         "Check the health of the drive and the range that was named, and write to another range."),
    TEXT(DATA_DIFFER, ERROR, "What was read differs from what was written, from byte {0} of the range on.",
         "Check the port's barriers and cache maintenance, and the health of the drive."),
    TEXT(NOT_SHUT_DOWN, ERROR, "The drive was not shut down: {0e}.",
         "Power-cycle the drive before the memory of the checkup has another use."),

    TEXT(UNDONE_CONFIGURATION, UNDONE,
         "Payload sizes, power states, error registers and ports without a device were not checked: only the first "
         "{0b} of configuration space can be read.",
         "Run spate doctor as root."),
    TEXT(UNDONE_REGISTERS, UNDONE, "The controller's registers were not checked: {n}.",
         "Run spate doctor as root, with the kernel's driver loaded."),
    TEXT(UNDONE_DRIVE, UNDONE, "Health, temperature and namespaces were not checked: {n}.",
         "Run spate doctor on the machine itself as root, with the kernel's driver on the drive and no error above."),
    TEXT(UNDONE_TRANSFER, UNDONE, "No transfer was made: {n}.",
         "Run spate doctor on the machine itself as root, with the kernel's driver on the drive and no error above."),
    TEXT(UNDONE_STEPS, UNDONE, "The steps from \"{n}\" on were not made.",
         "Follow the advice above, and run the checkup again."),
    TEXT(UNDONE_CLOCK, UNDONE, "The rate of the port's clock was not compared with the drive's clock: {n}.",
         "Compare the clock with a watch (firmware/doctor with clock=10)."),
    TEXT(UNDONE_COMPARE, UNDONE, "It was not checked that the drive reads what the processor stored: {n}.",
         "Run the write test, which overwrites blocks (firmware/doctor with write=1)."),
};

const struct doctor_text *spate_doctor_text_of(enum spate_doctor_code code) {
  static const struct doctor_text unknown = {"UNKNOWN", NOTE, "Not a finding of this library.", "Report it."};

  return (unsigned)code < SPATE_DOCTOR_COUNT ? &texts[code] : &unknown;
}
