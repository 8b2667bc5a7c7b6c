/* SPDX-License-Identifier: Apache-2.0 */
#include <spate/error.h>

struct text {
  const char *name;
  const char *help;
};

static const struct text texts[SPATE_E_COUNT] = {
    [SPATE_OK] = {"OK", "Done."},
    [SPATE_E_FULL] = {"FULL", "There is no room at the moment (in a queue, or for another clip, stream, queue or "
                              "volume): poll, or close one, then try again."},
    [SPATE_E_BUSY] = {"BUSY", "Another operation on this object has not finished: poll until it has."},
    [SPATE_E_INVALID] = {"INVALID", "An argument is outside what the function's header allows."},
    [SPATE_E_MEMORY] = {"MEMORY",
                        "The memory that the caller supplied is too small or misaligned: the line logged before says "
                        "which memory, and how many bytes it needs."},
    [SPATE_E_TIMEOUT] = {"TIMEOUT",
                         "The device did not respond before its deadline: check power, cooling and the link; on a new "
                         "board, whether the drive reaches memory (spate_port_dma_address, bus mastering)."},
    [SPATE_E_UNSUPPORTED] = {"UNSUPPORTED",
                             "The device or volume does not support this: its identity says what it has."},
    [SPATE_E_CLOCK] = {"CLOCK", "The board's clock is stopped, ran backwards or wrapped, or its rate is 0: check "
                                "spate_port_ticks() and spate_port_ticks_per_second()."},
    [SPATE_E_OPEN] = {"OPEN",
                      "This is open already, or another open object uses the same memory or blocks: close that one "
                      "first, or give each its own."},
    [SPATE_E_NO_BRIDGE] = {"NO_BRIDGE", "No PCIe root port responds at this address: is the logic loaded, clocked and "
                                        "out of reset, and is this the address in the address editor?"},
    [SPATE_E_LINK_DOWN] = {"LINK_DOWN",
                           "The root port has no link: check the drive's power, REFCLK, PERST# and the lane order."},
    [SPATE_E_LINK_DEGRADED] = {"LINK_DEGRADED", "The link is slower or narrower than both ends support: reseat the "
                                                "drive, check signal integrity and lane order."},
    [SPATE_E_NO_DEVICE] = {"NO_DEVICE",
                           "No device responds behind the root port: is a drive plugged in and PERST# released?"},
    [SPATE_E_WRONG_CLASS] =
        {"WRONG_CLASS",
         "A device responds, but it is not an NVMe drive (class 010802h): an M.2 SATA drive or another card?"},
    [SPATE_E_NOT_READY] = {"NOT_READY",
                           "The device asked for configuration retries for too long: it may need more time "
                           "after power-up, or has failed."},
    [SPATE_E_WINDOW] =
        {"WINDOW", "The drive's BAR 0 does not fit the bridge's memory window: make the AXI BAR or the range larger."},
    [SPATE_E_TOPOLOGY] =
        {"TOPOLOGY",
         "There are more bridges, devices or buses than enumeration handles: see SPATE_PCIE_BRIDGES_MAX in pcie.h."},
    [SPATE_E_GONE] = {"GONE", "The drive no longer responds: it fell off the bus. Check its power and the link."},
    [SPATE_E_FATAL] =
        {"FATAL",
         "The controller reported a fatal error (CSTS.CFS) or stopped being ready, and no reset helped: power-cycle "
         "the drive. On a new board: does spate_port_dma_address() return the addresses at which the drive sees "
         "memory?"},
    [SPATE_E_COMMAND_SET] = {"COMMAND_SET", "The controller has no NVM command set: it is not a block drive."},
    [SPATE_E_PAGE_SIZE] = {"PAGE_SIZE", "The controller cannot work with 4 KiB memory pages."},
    [SPATE_E_NO_NAMESPACE] = {"NO_NAMESPACE",
                              "The drive has no active namespace with that number: create and attach one with a PC."},
    [SPATE_E_BLOCK_SIZE] =
        {"BLOCK_SIZE", "The namespace's logical blocks are neither 512 nor 4096 bytes: format it to one of these."},
    [SPATE_E_METADATA] = {"METADATA",
                          "The namespace is formatted with metadata or protection information: format it without."},
    [SPATE_E_COMMAND] = {"COMMAND", "The drive refused a command: the status says why."},
    [SPATE_E_MEDIA] = {"MEDIA", "Media error: copy what can be read and replace the drive."},
    [SPATE_E_NOT_STOPPED] = {"NOT_STOPPED",
                             "The drive was given up, but does not stop and may still write to memory: do not use its "
                             "buffers and queues before it is reset or power-cycled."},
    [SPATE_E_POWER_LOST] = {"POWER_LOST",
                            "The drive lost power, or may have lost it, and with it the data that it had not flushed."},
    [SPATE_E_NO_STRIPE] = {"NO_STRIPE",
                           "A drive has no superblock of an array: is it the wrong drive, or was it erased?"},
    [SPATE_E_STRIPE] =
        {"STRIPE", "The drives do not form one usable array: one is missing or present twice, or belongs to another "
                   "array, or it is not RAID 0 with all members of one size."},
    [SPATE_E_FOREIGN] = {"FOREIGN",
                         "The drive already has data or a partition table: erase it only if they are not needed."},
    [SPATE_E_NO_TABLE] = {"NO_TABLE",
                          "No partition table and no exFAT volume was found: look at the drive with a PC before "
                          "you format it, unless it is new."},
    [SPATE_E_TABLE] = {"TABLE",
                       "The partition table and its backup are damaged: repair them with a PC (gdisk, testdisk)."},
    [SPATE_E_TOO_SMALL] = {"TOO_SMALL", "The drive or partition is too small for this."},
    [SPATE_E_NOT_EXFAT] =
        {"NOT_EXFAT",
         "Neither boot region describes an exFAT volume: another file system may be there, or a PC may repair this "
         "one."},
    [SPATE_E_SECTOR_SIZE] = {"SECTOR_SIZE",
                             "The volume's sectors are smaller than the drive's blocks: it was made on another kind of "
                             "drive. Read it with an adapter whose blocks have 512 bytes."},
    [SPATE_E_CORRUPT] = {"CORRUPT",
                         "The volume is inconsistent: check it with a PC (chkdsk, fsck.exfat) before recording on it."},
    [SPATE_E_NAME] =
        {"NAME",
         "The name is empty, has a character that exFAT forbids (\" * / : < > ? \\ | and controls), or is not UTF-8."},
    [SPATE_E_NAME_LONG] = {"NAME_LONG",
                           "The name is too long: 255 UTF-16 units, and 210 for a clip on 512-byte blocks."},
    [SPATE_E_NOT_FOUND] = {"NOT_FOUND", "There is no such file, directory or partition."},
    [SPATE_E_EXISTS] = {"EXISTS", "The name is in use: choose another, or delete the old one first."},
    [SPATE_E_NOT_DIRECTORY] = {"NOT_DIRECTORY", "The path needs a directory, and there is a file of that name."},
    [SPATE_E_IS_DIRECTORY] = {"IS_DIRECTORY", "This is a directory, and a file is needed."},
    [SPATE_E_NOT_EMPTY] = {"NOT_EMPTY", "The directory still has entries: delete them first."},
    [SPATE_E_IN_USE] =
        {"IN_USE",
         "A clip is being recorded there: stop it first. Or a folder is being joined: wait until that has ended."},
    [SPATE_E_PROTECTED] = {"PROTECTED", "The file is marked read-only: remove the mark with a PC."},
    [SPATE_E_NOT_MOUNTED] = {"NOT_MOUNTED", "The volume is not mounted: mount it first."},
    [SPATE_E_STALE] = {"STALE",
                       "The file was deleted after it was opened, or too many others were deleted to be sure: open "
                       "it again. NOT_FOUND then means that it is gone."},
    [SPATE_E_NO_SPACE] = {"NO_SPACE", "The volume does not have enough free space: delete files, or reserve less."},
    [SPATE_E_READ_ONLY] = {"READ_ONLY",
                           "The volume was mounted for reading, or a change could do harm: mount it for writing, or "
                           "repair it with a PC first."},
    [SPATE_E_FRAGMENTED] = {"FRAGMENTED",
                            "There is enough free space, but not in one run: reserve less, or delete files."},
    [SPATE_E_STATE] = {"STATE", "The stream or the recorder is not in a state that allows this: see recorder.h."},
    [SPATE_E_RESERVATION] = {"RESERVATION",
                             "The file has used all the bytes that were reserved for it, and there is no next file: "
                             "reserve more when arming, or let the recorder continue in another file (roll-over)."},
    [SPATE_E_NAMES] = {"NAMES",
                       "There is no name for the next file: the path with its number is too long, or next_path "
                       "returned no free name. Arm a new path."},
};

static const struct text *text_of(enum spate_error error) {
  static const struct text unknown = {"UNKNOWN", "Not an error code of this library."};

  return (unsigned)error < SPATE_E_COUNT ? &texts[error] : &unknown;
}

const char *spate_error_name(enum spate_error error) { return text_of(error)->name; }

const char *spate_error_help(enum spate_error error) { return text_of(error)->help; }
