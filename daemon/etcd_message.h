/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said to etcd's JSON gateway (v3), and what it answers. Pure.
 *
 * Keys:  PREFIX/log/INDEX   a packed command; INDEX has 20 digits, so that keys sort as numbers do
 *        PREFIX/snapshot    20 digits of an index, then the packed view after the entry of that index; or a zero
 *                           byte and 20 digits: the number of parts of that view, which etcd takes one by one
 *        PREFIX/snapshot-INDEX/PART   a part, both with 20 digits
 * A snapshot removes the entries before its index, not the one at it. So the entry before the next index
 * always exists, and an append can demand it: who is far behind cannot write where entries were removed. */
#ifndef LBM_DAEMON_ETCD_MESSAGE_H
#define LBM_DAEMON_ETCD_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum {
    LBM_ETCD_BATCH = 256, /* entries of one read: 16 MiB at most */
    LBM_ETCD_PART_BYTES = 1 << 20, /* of a view: etcd takes requests of 1.5 MiB */
    LBM_ETCD_PARTS = 16,           /* of one read */
    LBM_ETCD_NAME_MAX = 47
};

struct lbm_etcd_entry {
    uint64_t index;
    uint8_t *value; /* owned */
    size_t len;
};

struct lbm_etcd_entries {
    LBM_VEC(struct lbm_etcd_entry) list; /* as they came: by index */
    int64_t revision;                    /* of the store when they were read */
    int more;                            /* nonzero: the batch was full */
    int over;                            /* nonzero: a watch that brings nothing more */
};

void lbm_etcd_entries_free(struct lbm_etcd_entries *entries);

/* Bodies of requests; owned by the caller (free), NULL if memory is short. */
char *lbm_etcd_append_body(const char *prefix, uint64_t index, const uint8_t *command, size_t len);
char *lbm_etcd_begin_body(const char *prefix, uint64_t index, const uint8_t *command, size_t len);
char *lbm_etcd_read_body(const char *prefix, uint64_t from);
char *lbm_etcd_watch_body(const char *prefix, uint64_t from, int64_t revision);
char *lbm_etcd_snapshot_body(const char *prefix);
char *lbm_etcd_compact_body(const char *prefix, uint64_t index, const uint8_t *view, size_t len);
/* A part of a view that is put before it counts; and that it counts, in parts. */
char *lbm_etcd_part_body(const char *prefix, uint64_t index, uint64_t part, const uint8_t *bytes, size_t len);
char *lbm_etcd_parts_body(const char *prefix, uint64_t index, uint64_t n_parts);
/* Ask for parts from that one on. */
char *lbm_etcd_read_parts_body(const char *prefix, uint64_t index, uint64_t part);
char *lbm_etcd_login_body(const char *user, const char *password);

/* Answers. Errors: LBM_E_SYNTAX if this is no such answer, LBM_E_NOMEM; outputs untouched.
 * lbm_etcd_read_watch reads one line of a watch; lbm_etcd_read_snapshot gives an entry with the index of the
 * snapshot, or LBM_E_NOTFOUND if there is none. */
enum lbm_err lbm_etcd_read_append(const char *text, size_t len, int *taken) LBM_MUST_CHECK;
enum lbm_err lbm_etcd_read_entries(const char *text, size_t len, struct lbm_etcd_entries *out) LBM_MUST_CHECK;
enum lbm_err lbm_etcd_read_watch(const char *text, size_t len, struct lbm_etcd_entries *out) LBM_MUST_CHECK;
enum lbm_err lbm_etcd_read_snapshot(const char *text, size_t len, struct lbm_etcd_entry *out) LBM_MUST_CHECK;
/* Number of parts of a snapshot that was read; 0: its value is the view. */
uint64_t lbm_etcd_snapshot_parts(const struct lbm_etcd_entry *snapshot);
enum lbm_err lbm_etcd_read_login(const char *text, size_t len, char **token) LBM_MUST_CHECK;

/* How one member is. */
struct lbm_etcd_status {
    uint64_t member; /* its id */
    uint64_t leader; /* 0: it knows none */
    int64_t bytes, bytes_used;
    int has_alarm;
};
enum lbm_err lbm_etcd_read_status(const char *text, size_t len, struct lbm_etcd_status *out) LBM_MUST_CHECK;

/* Members as etcd lists them. The name is that of its first peer URL, unix://NAME:1. */
struct lbm_etcd_member {
    uint64_t id;
    char name[LBM_ETCD_NAME_MAX + 1];
    int has_begun; /* 0: it was added, and has not been there yet */
};
struct lbm_etcd_members {
    LBM_VEC(struct lbm_etcd_member) list;
};
enum lbm_err lbm_etcd_read_members(const char *text, size_t len, struct lbm_etcd_members *out) LBM_MUST_CHECK;
char *lbm_etcd_add_body(const char *name);
char *lbm_etcd_remove_body(uint64_t id);

/* What an error says. code is gRPC's, or -1. */
void lbm_etcd_read_error(const char *text, size_t len, int *code, char *message, size_t message_bytes);

#endif
