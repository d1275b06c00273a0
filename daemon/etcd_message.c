/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/etcd_message.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDEX_DIGITS = 20 };

void
lbm_etcd_entries_free(struct lbm_etcd_entries *entries)
{
    for (size_t i = 0; i < entries->list.n; i++)
        free(entries->list.at[i].value);
    lbm_vec_free(&entries->list);
}

/* ---- base64 (RFC 4648 section 4) ----------------------------------------------------------------------- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static json_t *
encoded(const void *from, size_t len)
{
    const uint8_t *bytes = from;
    char *text = lbm_alloc((len + 2) / 3 * 4 + 1, 1);
    size_t n = 0;
    if (text == NULL)
        return NULL;
    for (size_t i = 0; i < len; i += 3) {
        size_t left = len - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? bytes[i + 2] : 0);
        text[n++] = digits[group >> 18];
        text[n++] = digits[group >> 12 & 63];
        text[n++] = left > 1 ? digits[group >> 6 & 63] : '=';
        text[n++] = left > 2 ? digits[group & 63] : '=';
    }
    json_t *string = json_stringn(text, n);
    free(text);
    return string;
}

/* Out: *bytes owned by the caller. An absent value is empty, as JSON gateways leave defaults out. */
static enum lbm_err
decoded(const json_t *string, uint8_t **bytes, size_t *len)
{
    const char *text = json_is_string(string) ? json_string_value(string) : "";
    size_t n = json_is_string(string) ? json_string_length(string) : 0, have = 0;
    if (n % 4 != 0)
        return LBM_E_SYNTAX;
    uint8_t *to = lbm_alloc(n / 4 * 3 + 1, 1);
    if (to == NULL)
        return LBM_E_NOMEM;
    for (size_t i = 0; i < n; i += 4) {
        size_t padding = i + 4 < n ? 0 : (size_t)(text[i + 3] == '=') + (text[i + 2] == '=');
        uint32_t group = 0;
        for (size_t k = 0; k < 4; k++) {
            const char *digit = k < 4 - padding ? memchr(digits, text[i + k], 64) : digits;
            if (digit == NULL) {
                free(to);
                return LBM_E_SYNTAX;
            }
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (size_t k = 0; k < 3 - padding; k++)
            to[have++] = (uint8_t)(group >> (16 - 8 * k));
    }
    *bytes = to;
    *len = have;
    return LBM_OK;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static json_t *
key_of(const char *prefix, const char *rest)
{
    struct lbm_buf key = {0};
    lbm_buf_printf(&key, "%s/%s", prefix, rest);
    json_t *string = key.failed ? NULL : encoded(key.at, key.len);
    lbm_buf_free(&key);
    return string;
}

static json_t *
entry_key(const char *prefix, uint64_t index)
{
    char rest[32];
    snprintf(rest, sizeof rest, "log/%020" PRIu64, index);
    return key_of(prefix, rest);
}

/* As text; takes the tree, which may be NULL. */
static char *
dumped(json_t *tree)
{
    char *text = tree != NULL ? json_dumps(tree, JSON_COMPACT) : NULL;
    json_decref(tree);
    return text;
}

/* The key exists, or (exists 0) does not. */
static json_t *
condition(json_t *key, int exists)
{
    return json_pack("{s:s, s:s, s:o, s:s}", "target", "CREATE", "result", exists ? "GREATER" : "EQUAL",
                     "key", key, "create_revision", "0");
}

char *
lbm_etcd_append_body(const char *prefix, uint64_t index, const uint8_t *command, size_t len)
{
    json_t *before =
        index > 1 ? condition(entry_key(prefix, index - 1), 1) : condition(key_of(prefix, "snapshot"), 0);
    return dumped(json_pack("{s:[o, o], s:[{s:{s:o, s:o}}]}", "compare",
                            condition(entry_key(prefix, index), 0), before, "success", "request_put", "key",
                            entry_key(prefix, index), "value", encoded(command, len)));
}

char *
lbm_etcd_begin_body(const char *prefix, uint64_t index, const uint8_t *command, size_t len)
{
    return dumped(json_pack("{s:[o, o], s:[{s:{s:o, s:o}}]}", "compare",
                            condition(entry_key(prefix, index), 0), condition(key_of(prefix, "snapshot"), 0),
                            "success", "request_put", "key", entry_key(prefix, index), "value",
                            encoded(command, len)));
}

char *
lbm_etcd_add_body(const char *name)
{
    char url[LBM_ETCD_NAME_MAX + 16];
    snprintf(url, sizeof url, "unix://%s:1", name);
    return dumped(json_pack("{s:[s]}", "peerURLs", url));
}

char *
lbm_etcd_remove_body(uint64_t id)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRIu64, id);
    return dumped(json_pack("{s:s}", "ID", number));
}

char *
lbm_etcd_read_body(const char *prefix, uint64_t from)
{
    return dumped(json_pack("{s:o, s:o, s:i}", "key", entry_key(prefix, from), "range_end",
                            key_of(prefix, "log0"), "limit", LBM_ETCD_BATCH)); /* '0' comes after '/' */
}

char *
lbm_etcd_watch_body(const char *prefix, uint64_t from, int64_t revision)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, revision);
    return dumped(json_pack("{s:{s:o, s:o, s:s, s:[s]}}", "create_request", "key", entry_key(prefix, from),
                            "range_end", key_of(prefix, "log0"), "start_revision", number, "filters",
                            "NODELETE"));
}

char *
lbm_etcd_snapshot_body(const char *prefix)
{
    return dumped(json_pack("{s:o}", "key", key_of(prefix, "snapshot")));
}

static json_t *
part_key(const char *prefix, uint64_t index, uint64_t part)
{
    char rest[64];
    snprintf(rest, sizeof rest, "snapshot-%020" PRIu64 "/%020" PRIu64, index, part);
    return key_of(prefix, rest);
}

/* The snapshot of that index counts if the entry is there: what it stands for goes. Takes the value. */
static char *
snapshot_counts(const char *prefix, uint64_t index, json_t *value)
{
    return dumped(json_pack("{s:[o], s:[{s:{s:o, s:o}}, {s:{s:o, s:o}}, {s:{s:o, s:o}}]}", "compare",
                            condition(entry_key(prefix, index), 1), "success", "request_put", "key",
                            key_of(prefix, "snapshot"), "value", value, "request_delete_range", "key",
                            entry_key(prefix, 0), "range_end", entry_key(prefix, index),
                            "request_delete_range", "key", part_key(prefix, 0, 0), "range_end",
                            part_key(prefix, index, 0)));
}

char *
lbm_etcd_compact_body(const char *prefix, uint64_t index, const uint8_t *view, size_t len)
{
    struct lbm_buf value = {0};
    lbm_buf_printf(&value, "%020" PRIu64, index);
    lbm_buf_put(&value, view, len);
    json_t *snapshot = value.failed ? NULL : encoded(value.at, value.len);
    lbm_buf_free(&value);
    return snapshot_counts(prefix, index, snapshot);
}

char *
lbm_etcd_part_body(const char *prefix, uint64_t index, uint64_t part, const uint8_t *bytes, size_t len)
{
    return dumped(
        json_pack("{s:o, s:o}", "key", part_key(prefix, index, part), "value", encoded(bytes, len)));
}

char *
lbm_etcd_parts_body(const char *prefix, uint64_t index, uint64_t n_parts)
{
    char value[2 * INDEX_DIGITS + 2];
    snprintf(value, sizeof value, "%020" PRIu64 "0%020" PRIu64, index, n_parts);
    value[INDEX_DIGITS] = '\0';
    return snapshot_counts(prefix, index, encoded(value, 2 * INDEX_DIGITS + 1));
}

char *
lbm_etcd_read_parts_body(const char *prefix, uint64_t index, uint64_t part)
{
    char end[64];
    snprintf(end, sizeof end, "snapshot-%020" PRIu64 "0", index); /* '0' comes after '/' */
    return dumped(json_pack("{s:o, s:o, s:i}", "key", part_key(prefix, index, part), "range_end",
                            key_of(prefix, end), "limit", LBM_ETCD_PARTS));
}

char *
lbm_etcd_login_body(const char *user, const char *password)
{
    return dumped(json_pack("{s:s, s:s}", "name", user, "password", password));
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static json_t *
parsed(const char *text, size_t len)
{
    json_t *tree = json_loadb(text, len, JSON_DISABLE_EOF_CHECK, NULL);
    if (json_is_object(tree))
        return tree;
    json_decref(tree);
    return NULL;
}

static int64_t
revision_of(const json_t *tree)
{
    const char *text = json_string_value(json_object_get(json_object_get(tree, "header"), "revision"));
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

/* The number that ends (or begins) a text of at least INDEX_DIGITS bytes. */
static enum lbm_err
read_index(const uint8_t *at, uint64_t *index)
{
    *index = 0;
    for (int i = 0; i < INDEX_DIGITS; i++) {
        if (at[i] < '0' || at[i] > '9')
            return LBM_E_SYNTAX;
        *index = *index * 10 + (uint64_t)(at[i] - '0');
    }
    return LBM_OK;
}

static enum lbm_err
take_entry(const json_t *kv, struct lbm_etcd_entries *out)
{
    struct lbm_etcd_entry entry = {0};
    uint8_t *key = NULL;
    size_t len = 0;
    enum lbm_err err = decoded(json_object_get(kv, "key"), &key, &len);
    if (err == LBM_OK)
        err = len > INDEX_DIGITS ? read_index(key + len - INDEX_DIGITS, &entry.index) : LBM_E_SYNTAX;
    free(key);
    if (err == LBM_OK)
        err = decoded(json_object_get(kv, "value"), &entry.value, &entry.len);
    if (err == LBM_OK && lbm_vec_push(&out->list, entry) != LBM_OK) {
        free(entry.value);
        err = LBM_E_NOMEM;
    }
    return err;
}

enum lbm_err
lbm_etcd_read_append(const char *text, size_t len, int *taken)
{
    json_t *tree = parsed(text, len);
    if (tree == NULL || json_object_get(tree, "header") == NULL) {
        json_decref(tree);
        return LBM_E_SYNTAX;
    }
    *taken = json_is_true(json_object_get(tree, "succeeded"));
    json_decref(tree);
    return LBM_OK;
}

enum lbm_err
lbm_etcd_read_entries(const char *text, size_t len, struct lbm_etcd_entries *out)
{
    struct lbm_etcd_entries entries = {0};
    json_t *tree = parsed(text, len), *kv;
    size_t i;
    enum lbm_err err = tree != NULL && json_object_get(tree, "header") != NULL ? LBM_OK : LBM_E_SYNTAX;
    json_array_foreach(json_object_get(tree, "kvs"), i, kv) if (err == LBM_OK) err = take_entry(kv, &entries);
    entries.revision = revision_of(tree);
    entries.more = json_is_true(json_object_get(tree, "more"));
    json_decref(tree);
    if (err == LBM_OK)
        *out = entries;
    else
        lbm_etcd_entries_free(&entries);
    return err;
}

enum lbm_err
lbm_etcd_read_watch(const char *text, size_t len, struct lbm_etcd_entries *out)
{
    struct lbm_etcd_entries entries = {0};
    json_t *tree = parsed(text, len), *event;
    const json_t *result = json_object_get(tree, "result");
    size_t i;
    enum lbm_err err = tree != NULL ? LBM_OK : LBM_E_SYNTAX;
    json_array_foreach(json_object_get(result, "events"), i, event) if (err == LBM_OK) err =
        take_entry(json_object_get(event, "kv"), &entries);
    entries.revision = revision_of(result);
    entries.over = result == NULL || json_is_true(json_object_get(result, "canceled"));
    json_decref(tree);
    if (err == LBM_OK)
        *out = entries;
    else
        lbm_etcd_entries_free(&entries);
    return err;
}

enum lbm_err
lbm_etcd_read_snapshot(const char *text, size_t len, struct lbm_etcd_entry *out)
{
    struct lbm_etcd_entry snapshot = {0};
    json_t *tree = parsed(text, len);
    const json_t *kv = json_array_get(json_object_get(tree, "kvs"), 0);
    enum lbm_err err = tree == NULL || json_object_get(tree, "header") == NULL ? LBM_E_SYNTAX
                       : kv == NULL                                            ? LBM_E_NOTFOUND
                                                                               : LBM_OK;
    if (err == LBM_OK)
        err = decoded(json_object_get(kv, "value"), &snapshot.value, &snapshot.len);
    if (err == LBM_OK)
        err = snapshot.len > INDEX_DIGITS ? read_index(snapshot.value, &snapshot.index) : LBM_E_SYNTAX;
    json_decref(tree);
    if (err != LBM_OK) {
        free(snapshot.value);
        return err;
    }
    snapshot.len -= INDEX_DIGITS;
    memmove(snapshot.value, snapshot.value + INDEX_DIGITS, snapshot.len);
    *out = snapshot;
    return LBM_OK;
}

/* A number as gateways write 64 bits: a text. 0 if it is left out. */
static uint64_t
number_of(const json_t *tree, const char *key)
{
    const char *text = json_string_value(json_object_get(tree, key));
    return text != NULL ? strtoull(text, NULL, 10) : 0;
}

enum lbm_err
lbm_etcd_read_status(const char *text, size_t len, struct lbm_etcd_status *out)
{
    json_t *tree = parsed(text, len);
    const json_t *header = json_object_get(tree, "header");
    enum lbm_err err = header != NULL ? LBM_OK : LBM_E_SYNTAX;
    if (err == LBM_OK)
        *out = (struct lbm_etcd_status){.member = number_of(header, "member_id"),
                                        .leader = number_of(tree, "leader"),
                                        .bytes = (int64_t)number_of(tree, "dbSize"),
                                        .bytes_used = (int64_t)number_of(tree, "dbSizeInUse"),
                                        .has_alarm = json_array_size(json_object_get(tree, "errors")) != 0};
    json_decref(tree);
    return err;
}

static enum lbm_err
take_member(const json_t *from, struct lbm_etcd_members *out)
{
    static const char before[] = "unix://", after[] = ":1";
    struct lbm_etcd_member member = {.id = number_of(from, "ID")};
    const char *url = json_string_value(json_array_get(json_object_get(from, "peerURLs"), 0));
    const char *name = json_string_value(json_object_get(from, "name"));
    size_t len = url != NULL ? strlen(url) : 0, around = strlen(before) + strlen(after);
    if (len <= around || len - around > LBM_ETCD_NAME_MAX || strncmp(url, before, strlen(before)) != 0)
        return LBM_E_SYNTAX;
    memcpy(member.name, url + strlen(before), len - around);
    member.has_begun = name != NULL && name[0] != '\0';
    return lbm_vec_push(&out->list, member);
}

enum lbm_err
lbm_etcd_read_members(const char *text, size_t len, struct lbm_etcd_members *out)
{
    struct lbm_etcd_members members = {0};
    json_t *tree = parsed(text, len), *member;
    size_t i;
    enum lbm_err err = json_array_size(json_object_get(tree, "members")) != 0 ? LBM_OK : LBM_E_SYNTAX;
    json_array_foreach(json_object_get(tree, "members"), i, member) if (err == LBM_OK) err =
        take_member(member, &members);
    json_decref(tree);
    if (err == LBM_OK)
        *out = members;
    else
        lbm_vec_free(&members.list);
    return err;
}

uint64_t
lbm_etcd_snapshot_parts(const struct lbm_etcd_entry *snapshot)
{
    uint64_t n;
    int is_list = snapshot->len == 1 + INDEX_DIGITS && snapshot->value[0] == 0;
    return is_list && read_index(snapshot->value + 1, &n) == LBM_OK ? n : 0;
}

enum lbm_err
lbm_etcd_read_login(const char *text, size_t len, char **token)
{
    json_t *tree = parsed(text, len);
    const char *value = json_string_value(json_object_get(tree, "token"));
    char *copy = value != NULL ? lbm_copy(value, strlen(value) + 1, 1) : NULL;
    enum lbm_err err = value == NULL ? LBM_E_SYNTAX : copy == NULL ? LBM_E_NOMEM : LBM_OK;
    json_decref(tree);
    if (err == LBM_OK)
        *token = copy;
    return err;
}

void
lbm_etcd_read_error(const char *text, size_t len, int *code, char *message, size_t message_bytes)
{
    json_t *tree = parsed(text, len);
    const char *value = json_string_value(json_object_get(tree, "message"));
    const json_t *number = json_object_get(tree, "code");
    if (value == NULL)
        value = json_string_value(json_object_get(tree, "error"));
    *code = json_is_integer(number) ? (int)json_integer_value(number) : -1;
    snprintf(message, message_bytes, "%s", value != NULL ? value : "it does not answer like etcd");
    json_decref(tree);
}
