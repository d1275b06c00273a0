/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file system of SQLite that remembers what was written and what was synced, so that a test can have the
 * files as a power cut at any moment may leave them.
 *
 * A sync makes all writes to its file durable; the first sync of a file that SQLite created also makes
 * removals durable, since SQLite then syncs the directory. All else may or may not be there after the cut. */
#ifndef LBM_TESTS_UNIT_STORE_POWER_VFS_H
#define LBM_TESTS_UNIT_STORE_POWER_VFS_H

#include <stddef.h>

#include "base/rng.h"

/* What becomes of the writes that were not synced. */
enum power_outcome {
    POWER_NONE,   /* lost */
    POWER_ALL,    /* all there */
    POWER_SUBSET, /* each is there or not */
    POWER_TORN,   /* each is there, or not, or only the sectors before or after some sector */
    POWER_OUTCOMES
};

/* Become SQLite's default file system and record from now on; power_end ends that and keeps the record. */
void power_begin(void);
void power_end(void);
void power_free(void);

/* Mark: what was asked for until now has been reported durable. */
void power_durable(void);

/* Operations recorded: a cut can be before each of them and after the last, 0 .. power_length(). */
size_t power_length(void);

/* Write the files as a cut before operation `cut` leaves them to directory, which exists and is empty.
 * Out: how many marks there were before the cut. */
size_t power_cut(size_t cut, enum power_outcome outcome, struct lbm_rng *rng, const char *directory);

#endif
