/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error codes, one for each cause, so that a message can say what to do.
 *
 * Every function that can fail returns one of these. No error is dropped: a layer that cannot recover from an error
 * returns it unchanged.
 */
#ifndef SPATE_ERROR_H
#define SPATE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_MUST_CHECK __attribute__((warn_unused_result))

/* What a call returned. Codes are grouped by the layer that detects the error, the lowest first. */
enum spate_error {
  SPATE_OK = 0,

  /* any layer */
  SPATE_E_FULL,        /* no room: in a queue (a normal result: poll, then try again), or for another queue,
                          clip, stream or volume (close one) */
  SPATE_E_BUSY,        /* another operation on the object has not ended */
  SPATE_E_INVALID,     /* an argument is outside what the header allows */
  SPATE_E_MEMORY,      /* the memory that the caller supplied is too small or misaligned */
  SPATE_E_TIMEOUT,     /* a deadline passed */
  SPATE_E_UNSUPPORTED, /* the drive or the volume does not support this */
  SPATE_E_CLOCK,       /* the board's clock is stopped, runs backwards, or has no rate */
  SPATE_E_OPEN,        /* the object is open already, or another open object uses its memory or blocks */

  /* pcie */
  SPATE_E_NO_BRIDGE,     /* there is no host bridge at this address */
  SPATE_E_LINK_DOWN,     /* the root port has no link */
  SPATE_E_LINK_DEGRADED, /* the link is up, but slower or narrower than both ends support */
  SPATE_E_NO_DEVICE,     /* the link is up (or not known), but no device responds */
  SPATE_E_WRONG_CLASS,   /* devices respond, but none of this class */
  SPATE_E_NOT_READY,     /* a device returned "configuration request retry" for too long */
  SPATE_E_WINDOW,        /* a BAR does not fit the bridge's memory window */
  SPATE_E_TOPOLOGY,      /* more bridges, endpoints, BARs or buses than enumeration handles */

  /* nvme */
  SPATE_E_GONE,         /* registers read all ones or zeros, or the link is down: the drive fell off the bus */
  SPATE_E_FATAL,        /* the controller reports a fatal error (CSTS.CFS), or is no longer ready */
  SPATE_E_COMMAND_SET,  /* no NVM command set */
  SPATE_E_PAGE_SIZE,    /* the controller cannot use 4 KiB pages */
  SPATE_E_NO_NAMESPACE, /* no active namespace, or none with this number */
  SPATE_E_BLOCK_SIZE,   /* the logical blocks are neither 512 nor 4096 bytes */
  SPATE_E_METADATA,     /* the namespace is formatted with metadata or protection information */
  SPATE_E_COMMAND,      /* the drive refused a command: spate_io.detail has the status */
  SPATE_E_MEDIA,        /* the media failed: spate_io.detail has the status */
  SPATE_E_NOT_STOPPED,  /* the controller was given up, and may still write to memory */
  SPATE_E_POWER_LOST,   /* the drive lost power, or may have, and data that were not flushed */

  /* stripe */
  SPATE_E_NO_STRIPE, /* a member has no superblock of an array */
  SPATE_E_STRIPE,    /* the members do not form one usable array: one is wrong, missing or twice, or it is not RAID 0 */

  /* partition */
  SPATE_E_FOREIGN,   /* the drive has other data: erase it only if the caller says so */
  SPATE_E_NO_TABLE,  /* no table, or none with a partition, and no volume */
  SPATE_E_TABLE,     /* there is a partition table, but it and its backup are damaged */
  SPATE_E_TOO_SMALL, /* the drive or partition is too small */

  /* exfat */
  SPATE_E_NOT_EXFAT,     /* neither boot region describes an exFAT volume */
  SPATE_E_SECTOR_SIZE,   /* the volume's sectors are smaller than the drive's logical blocks */
  SPATE_E_CORRUPT,       /* a structure on the volume is inconsistent */
  SPATE_E_NAME,          /* the name is empty, or has a forbidden character or invalid UTF-8 */
  SPATE_E_NAME_LONG,     /* the name is too long (255 UTF-16 units; the entry set of a clip must fit into one block) */
  SPATE_E_NOT_FOUND,     /* no such file or directory */
  SPATE_E_EXISTS,        /* the name is in use */
  SPATE_E_NOT_DIRECTORY, /* there is a file where a directory is needed */
  SPATE_E_IS_DIRECTORY,  /* there is a directory where a file is needed */
  SPATE_E_NOT_EMPTY,     /* the directory still has entries */
  SPATE_E_IN_USE,        /* a clip is being recorded into it, or it is being joined */
  SPATE_E_PROTECTED,     /* the file is marked read-only */
  SPATE_E_NOT_MOUNTED,   /* the volume is not mounted */
  SPATE_E_STALE,         /* the file was deleted after it was opened, or may have been */
  SPATE_E_NO_SPACE,      /* not enough free clusters */
  SPATE_E_READ_ONLY,     /* the volume was mounted for reading, or a change could do harm (spate/exfat.h) */
  SPATE_E_FRAGMENTED, /* enough free clusters, but no run that long; or a file in more extents than there is room for */

  /* recorder */
  SPATE_E_STATE,       /* the state of the stream or the recorder does not allow this */
  SPATE_E_RESERVATION, /* the clip's reservation is used up, and there is no next clip */
  SPATE_E_NAMES,       /* there is no name for the next clip */

  SPATE_E_COUNT
};

/* The code's name without the prefix, e.g. "LINK_DOWN". Never NULL. */
const char *spate_error_name(enum spate_error error);

/* A text for users: what the error means, and what to do. Never NULL. */
const char *spate_error_help(enum spate_error error);

#ifdef __cplusplus
}
#endif
#endif
