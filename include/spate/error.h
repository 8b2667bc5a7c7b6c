/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can go wrong, one code a cause, so that a person can be told what to do about it.
 *
 * Every function that can fail returns one of these. Codes are grouped by the layer that finds the fault, lowest
 * first. None of them is ever swallowed: a layer that cannot mend a fault hands it up unchanged.
 */
#ifndef SPATE_ERROR_H
#define SPATE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define SPATE_MUST_CHECK __attribute__((warn_unused_result))

enum spate_error {
  SPATE_OK = 0,

  /* any layer */
  SPATE_E_FULL,        /* no room in a queue just now: poll, then try again. An answer, not a fault */
  SPATE_E_BUSY,        /* the object is in the middle of another operation */
  SPATE_E_INVALID,     /* an argument is outside what the header allows */
  SPATE_E_MEMORY,      /* the memory the caller handed over is too small or misaligned */
  SPATE_E_TIMEOUT,     /* a deadline passed */
  SPATE_E_UNSUPPORTED, /* the drive or the volume lacks what was asked for */
  SPATE_E_CLOCK,       /* the board's clock stands still, goes back, or has no rate */
  SPATE_E_OPEN,        /* the object is open already, or what it was given is in use by one that is open */

  /* pcie */
  SPATE_E_NO_BRIDGE,     /* nothing that looks like a host bridge at the address given */
  SPATE_E_LINK_DOWN,     /* the root port has no link */
  SPATE_E_LINK_DEGRADED, /* the link is up, but slower or narrower than both ends can do */
  SPATE_E_NO_DEVICE,     /* the link is up (or unknown), but no device answers */
  SPATE_E_WRONG_CLASS,   /* devices answer, but none of the class asked for */
  SPATE_E_NOT_READY,     /* a device answered "configuration request retry" for a second */
  SPATE_E_WINDOW,        /* a BAR does not fit the bridge's memory window */
  SPATE_E_TOPOLOGY,      /* more bridges, endpoints, BARs or buses than enumeration handles */

  /* nvme */
  SPATE_E_GONE,         /* registers read all ones or zeros, or the link is down: the drive fell off the bus */
  SPATE_E_FATAL,        /* CSTS.CFS: the controller gave up */
  SPATE_E_COMMAND_SET,  /* no NVM command set */
  SPATE_E_PAGE_SIZE,    /* the controller cannot use 4 KiB pages */
  SPATE_E_NO_NAMESPACE, /* no active namespace, or not the one asked for */
  SPATE_E_BLOCK_SIZE,   /* logical blocks neither 512 nor 4096 bytes */
  SPATE_E_METADATA,     /* the namespace is formatted with metadata or protection information */
  SPATE_E_COMMAND,      /* the drive refused a command: spate_io.detail has the status */
  SPATE_E_MEDIA,        /* the medium failed: spate_io.detail has the status */
  SPATE_E_NOT_STOPPED,  /* a controller was given up, and may still write to memory */
  SPATE_E_POWER_LOST,   /* the drive lost power and with it what was not flushed */

  /* stripe */
  SPATE_E_NO_STRIPE, /* a member without an array's superblock */
  SPATE_E_STRIPE,    /* members that do not make one array that can be used: wrong, missing, twice, or not RAID 0 */

  /* partition */
  SPATE_E_FOREIGN,   /* the drive holds something that may be worth keeping: erase only if told to */
  SPATE_E_NO_TABLE,  /* neither GPT nor MBR */
  SPATE_E_TABLE,     /* a partition table is there, but damaged beyond its backup */
  SPATE_E_TOO_SMALL, /* the drive or partition is too small */

  /* exfat */
  SPATE_E_NOT_EXFAT,     /* neither boot region describes an exFAT volume */
  SPATE_E_SECTOR_SIZE,   /* the volume's sectors are not the drive's logical blocks */
  SPATE_E_CORRUPT,       /* a structure on the volume contradicts itself */
  SPATE_E_NAME,          /* a name with a forbidden character, invalid UTF-8, or of no length */
  SPATE_E_NAME_LONG,     /* a name longer than its place allows (255 UTF-16 units; for a clip what fits one block) */
  SPATE_E_NOT_FOUND,     /* no such file or directory */
  SPATE_E_EXISTS,        /* the name is taken */
  SPATE_E_NOT_DIRECTORY, /* a file where a directory is needed */
  SPATE_E_IS_DIRECTORY,  /* a directory where a file is needed */
  SPATE_E_NOT_EMPTY,     /* a directory that still has entries */
  SPATE_E_IN_USE,        /* a clip is being recorded into it */
  SPATE_E_PROTECTED,     /* somebody marked the file as read only */
  SPATE_E_NOT_MOUNTED,   /* the volume is not mounted */
  SPATE_E_STALE,         /* the file was deleted since it was opened, or may have been */
  SPATE_E_NO_SPACE,      /* not enough free clusters */
  SPATE_E_READ_ONLY,     /* the volume was mounted for reading */
  SPATE_E_FRAGMENTED, /* enough free clusters, but no run that long; or a file in more pieces than there is room for */

  /* recorder */
  SPATE_E_STATE,       /* not in this state of the clip */
  SPATE_E_RESERVATION, /* the clip's reservation is used up, and there is no next clip */
  SPATE_E_NAMES,       /* there is no name for the next clip */

  SPATE_E_COUNT
};

/* The code's name without the prefix, e.g. "LINK_DOWN". Never NULL. */
const char *spate_error_name(enum spate_error error);

/* One sentence for a person: what it means and what to try. Never NULL. */
const char *spate_error_help(enum spate_error error);

#ifdef __cplusplus
}
#endif
#endif
