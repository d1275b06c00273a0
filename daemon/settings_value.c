/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "daemon/settings_value.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "daemon/address.h"
#include "daemon/log.h"

#define LINK_PREFIX "host.links."

/* One value being read. */
struct reading {
    const config_setting_t *value;
    const struct lbm_setting *row;
    const char *path; /* of the configuration file */
    struct lbm_diag *diag;
};

static enum lbm_err walk_group(const config_setting_t *group, const char *prefix, const char *path,
                               void *base, struct lbm_diag *diag);

/* A diagnosis with the value's place and name. */
#define REFUSE(r, code, fmt, ...)                                                                            \
    lbm_diag_set((r)->diag, (code), place_of((r)->value, (r)->path), config_setting_source_line((r)->value), \
                 "%s " fmt, (r)->row->name, __VA_ARGS__)

static const char *
place_of(const config_setting_t *setting, const char *path)
{
    const char *file = config_setting_source_file(setting);
    return file != NULL ? file : path;
}

static enum lbm_err
refuse_kind(const struct reading *r)
{
    return REFUSE(r, LBM_E_SYNTAX, "must be %s", lbm_setting_kind_text(r->row->kind));
}

static int
is_integer(const config_setting_t *value)
{
    return config_setting_type(value) == CONFIG_TYPE_INT || config_setting_type(value) == CONFIG_TYPE_INT64;
}

static int
is_number(const config_setting_t *value)
{
    return is_integer(value) || config_setting_type(value) == CONFIG_TYPE_FLOAT;
}

static double
number_of(const config_setting_t *value)
{
    return is_integer(value) ? (double)config_setting_get_int64(value) : config_setting_get_float(value);
}

static enum lbm_err
in_range(const struct reading *r, double value)
{
    if (value >= r->row->min && value <= r->row->max)
        return LBM_OK;
    return REFUSE(r, LBM_E_RANGE, "is %.10g; it must be in %.10g .. %.10g", value, r->row->min, r->row->max);
}

/* One of n words as its number. */
static enum lbm_err
parse_word(const char *text, const char *const *words, int n, int *number)
{
    for (int i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0) {
            *number = i;
            return LBM_OK;
        }
    return LBM_E_RANGE;
}

static enum lbm_err
parse_engine(const char *text, enum lbm_log_place *place)
{
    static const char *const names[] = {
#define PLACE_NAME(id, number, name) [number] = name,
        LBM_LOG_PLACE_LIST(PLACE_NAME)
#undef PLACE_NAME
    };
    int number = 0;
    enum lbm_err err = parse_word(text, names, LBM_LOG_PLACE_COUNT, &number);
    if (err == LBM_OK)
        *place = (enum lbm_log_place)number;
    return err;
}

static enum lbm_err
parse_policy(const char *text, uint32_t *policy)
{
    uint32_t known = lbm_job_policy_by_name(text);
    if (known == LBM_JOB_POLICY_DEFAULT || !lbm_job_policy_is_local(known))
        return LBM_E_RANGE;
    *policy = known;
    return LBM_OK;
}

static enum lbm_err
parse_schedule(const char *text, uint32_t *schedule)
{
    for (unsigned i = 0; i < LBM_SCHEDULE_COUNT; i++)
        if (strcmp(text, lbm_schedule_name((enum lbm_schedule)i)) == 0) {
            *schedule = 1 + i;
            return LBM_OK;
        }
    return LBM_E_RANGE;
}

static enum lbm_err
parse_programs(const char *text, enum lbm_programs *programs)
{
    static const char *const names[] = {
        [LBM_PROGRAMS_NONE] = "none", [LBM_PROGRAMS_OWN] = "own", [LBM_PROGRAMS_USERS] = "users"};
    int number = 0;
    enum lbm_err err = parse_word(text, names, sizeof names / sizeof *names, &number);
    if (err == LBM_OK)
        *programs = (enum lbm_programs)number;
    return err;
}

static enum lbm_err
parse_durability(const char *text, enum lbm_durability *durability)
{
    static const char *const names[] = {[LBM_DURABILITY_DISK] = "disk", [LBM_DURABILITY_MEMORY] = "memory"};
    int number = 0;
    enum lbm_err err = parse_word(text, names, sizeof names / sizeof *names, &number);
    if (err == LBM_OK)
        *durability = (enum lbm_durability)number;
    return err;
}

/* ---- defaults ------------------------------------------------------------------------------------------ */

static void
preset(const struct lbm_setting *row, void *field)
{
    enum lbm_err err = LBM_OK;
    switch (row->kind) {
    case LBM_SETTING_INTEGER:
        *(uint32_t *)field = (uint32_t)strtoul(row->preset, NULL, 10);
        break;
    case LBM_SETTING_NUMBER:
        *(double *)field = strtod(row->preset, NULL);
        break;
    case LBM_SETTING_BOOLEAN:
        *(int *)field = strcmp(row->preset, "true") == 0;
        break;
    case LBM_SETTING_LEVEL:
        err = lbm_log_level_parse(row->preset, field);
        break;
    case LBM_SETTING_ENGINE:
        err = parse_engine(row->preset, field);
        break;
    case LBM_SETTING_PROGRAMS:
        err = parse_programs(row->preset, field);
        break;
    case LBM_SETTING_DURABILITY:
        err = parse_durability(row->preset, field);
        break;
    case LBM_SETTING_POLICY:
        err = parse_policy(row->preset, field);
        break;
    case LBM_SETTING_SCHEDULE:
        err = parse_schedule(row->preset, field);
        break;
    default: /* text */
        memcpy(field, row->preset, strlen(row->preset) + 1);
        break;
    }
    LBM_ASSERT(err == LBM_OK);
}

/* Preset the rows of a link (in_link) or all others. base: struct lbm_node_link or struct lbm_settings. */
static void
preset_rows(int in_link, void *base)
{
    for (size_t i = 0; i < lbm_settings_n; i++) {
        const struct lbm_setting *row = &lbm_settings_table[i];
        int row_in_link = strncmp(row->name, LINK_PREFIX, strlen(LINK_PREFIX)) == 0;
        if (row->preset != NULL && row_in_link == in_link)
            preset(row, (char *)base + row->offset);
    }
}

/* ---- one reader a kind: value to *field -------------------------------------------------------------- */

static enum lbm_err
read_integer(const struct reading *r, void *field)
{
    if (!is_integer(r->value))
        return refuse_kind(r);
    double value = number_of(r->value);
    enum lbm_err err = in_range(r, value);
    if (err == LBM_OK)
        *(uint32_t *)field = (uint32_t)value;
    return err;
}

static enum lbm_err
read_number(const struct reading *r, void *field)
{
    if (!is_number(r->value))
        return refuse_kind(r);
    double value = number_of(r->value);
    enum lbm_err err = in_range(r, value);
    if (err == LBM_OK)
        *(double *)field = value;
    return err;
}

static enum lbm_err
read_boolean(const struct reading *r, void *field)
{
    if (config_setting_type(r->value) != CONFIG_TYPE_BOOL)
        return refuse_kind(r);
    *(int *)field = config_setting_get_bool(r->value);
    return LBM_OK;
}

int
lbm_setting_name_valid(const char *text)
{
    size_t len = strlen(text);
    return len > 0 && len <= LBM_NAME_MAX &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

static enum lbm_err
read_name(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    if (!lbm_setting_name_valid(text))
        return REFUSE(r, LBM_E_RANGE, "must be 1 to %d letters, digits, '.', '_' or '-'", LBM_NAME_MAX);
    memcpy(field, text, strlen(text) + 1);
    return LBM_OK;
}

static enum lbm_err
read_address(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    enum lbm_err err = lbm_address_check_list(text, place_of(r->value, r->path),
                                              config_setting_source_line(r->value), r->diag);
    if (err == LBM_OK)
        memcpy(field, text, strlen(text) + 1);
    return err;
}

static enum lbm_err
read_listen(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    struct lbm_address address;
    if (text == NULL)
        return refuse_kind(r);
    enum lbm_err err = lbm_address_parse(text, place_of(r->value, r->path),
                                         config_setting_source_line(r->value), &address, r->diag);
    if (err == LBM_OK)
        memcpy(field, text, strlen(text) + 1);
    return err;
}

/* A relative path is relative to the folder of the configuration file. */
static enum lbm_err
put_path(const struct reading *r, char *field, size_t bytes_max)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    const char *slash = strrchr(r->path, '/');
    int folder = text[0] != '/' && slash != NULL ? (int)(slash - r->path + 1) : 0;
    size_t len = (size_t)folder + strlen(text);
    if (text[0] == '\0')
        return REFUSE(r, LBM_E_RANGE, "%s", "is empty");
    if (len > bytes_max)
        return REFUSE(r, LBM_E_LIMIT, "is %zu bytes long, at most %zu are possible: \"%.*s%s\"", len,
                      bytes_max, folder, r->path, text);
    snprintf(field, bytes_max + 1, "%.*s%s", folder, r->path, text);
    return LBM_OK;
}

static enum lbm_err
read_path(const struct reading *r, void *field)
{
    return put_path(r, field, PATH_MAX - 1);
}

static enum lbm_err
read_socket(const struct reading *r, void *field)
{
    return put_path(r, field, LBM_SOCKET_PATH_MAX);
}

static enum lbm_err
read_level(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    if (lbm_log_level_parse(text, field) != LBM_OK)
        return REFUSE(r, LBM_E_RANGE, "is \"%.60s\"; it must be one of %s", text, lbm_log_level_names());
    return LBM_OK;
}

static enum lbm_err
read_word(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    enum lbm_err err = r->row->kind == LBM_SETTING_ENGINE     ? parse_engine(text, field)
                       : r->row->kind == LBM_SETTING_PROGRAMS ? parse_programs(text, field)
                                                              : parse_durability(text, field);
    if (err != LBM_OK)
        return REFUSE(r, LBM_E_RANGE, "is \"%.60s\"; it must be %s", text,
                      lbm_setting_kind_text(r->row->kind));
    return LBM_OK;
}

static enum lbm_err
read_policy(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    if (parse_policy(text, field) != LBM_OK)
        return REFUSE(r, LBM_E_RANGE,
                      "is \"%.60s\", no load policy that daemons follow; lbctl submit --help lists them",
                      text);
    return LBM_OK;
}

static enum lbm_err
read_schedule(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    if (parse_schedule(text, field) != LBM_OK)
        return REFUSE(r, LBM_E_RANGE, "is \"%.60s\"; it must be \"plain\", \"overlapped\" or \"pipelined\"",
                      text);
    return LBM_OK;
}

static enum lbm_err
read_text(const struct reading *r, void *field)
{
    const char *text = config_setting_get_string(r->value);
    if (text == NULL)
        return refuse_kind(r);
    if (text[0] == '\0' || strlen(text) > LBM_ETCD_TEXT_MAX)
        return REFUSE(r, LBM_E_RANGE, "must be 1 to %d bytes long", LBM_ETCD_TEXT_MAX);
    memcpy(field, text, strlen(text) + 1);
    return LBM_OK;
}

static enum lbm_err
read_urls(const struct reading *r, void *field)
{
    struct lbm_urls_setting *urls = field;
    int n = config_setting_length(r->value);
    if (!config_setting_is_array(r->value) || n == 0)
        return refuse_kind(r);
    if (n > LBM_ETCD_ENDPOINTS_MAX)
        return REFUSE(r, LBM_E_LIMIT, "has %d entries, at most %d are possible", n, LBM_ETCD_ENDPOINTS_MAX);
    for (int i = 0; i < n; i++) {
        const char *url = config_setting_get_string_elem(r->value, i);
        if (url == NULL)
            return refuse_kind(r);
        size_t len = strlen(url);
        if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) || len > LBM_ETCD_URL_MAX)
            return REFUSE(r, LBM_E_RANGE, "has \"%.60s\"; addresses begin with https:// or http://", url);
        while (len > 0 && url[len - 1] == '/')
            len--;
        memcpy(urls->at[urls->n], url, len);
        urls->at[urls->n++][len] = '\0';
    }
    return LBM_OK;
}

static enum lbm_err
read_point(const struct reading *r, void *field)
{
    struct lbm_point_setting *point = field;
    int n = config_setting_length(r->value);
    if ((!config_setting_is_array(r->value) && !config_setting_is_list(r->value)) || n < 2 ||
        n > LBM_DIMENSIONS_MAX)
        return refuse_kind(r);
    for (int i = 0; i < n; i++) {
        const config_setting_t *coordinate = config_setting_get_elem(r->value, (unsigned)i);
        if (!is_number(coordinate))
            return refuse_kind(r);
        double x = number_of(coordinate);
        if (!(x >= 0 && x <= 1))
            return REFUSE(r, LBM_E_RANGE, "has the coordinate %.10g; each must be in 0 .. 1", x);
        point->at[point->n++] = x;
    }
    return LBM_OK;
}

static enum lbm_err
read_links(const struct reading *r, void *field)
{
    struct lbm_links_setting *links = field;
    int n = config_setting_length(r->value);
    if (!config_setting_is_list(r->value) && !(config_setting_is_array(r->value) && n == 0))
        return refuse_kind(r);
    if (n >= LBM_HOSTS_MAX)
        return REFUSE(r, LBM_E_LIMIT, "has %d entries; a cluster has at most %d hosts", n, LBM_HOSTS_MAX);
    for (int i = 0; i < n; i++) {
        const config_setting_t *entry = config_setting_get_elem(r->value, (unsigned)i);
        struct lbm_node_link link;
        preset_rows(1, &link);
        if (!config_setting_is_group(entry))
            return refuse_kind(r);
        enum lbm_err err = walk_group(entry, LINK_PREFIX, r->path, &link, r->diag);
        if (err == LBM_OK)
            err = lbm_vec_push(links, link);
        if (err != LBM_OK)
            return err;
    }
    return LBM_OK;
}

static enum lbm_err
read_uids(const struct reading *r, void *field)
{
    struct lbm_uids_setting *uids = field;
    int n = config_setting_length(r->value);
    if (!config_setting_is_array(r->value) && !(config_setting_is_list(r->value) && n == 0))
        return refuse_kind(r);
    if (n > LBM_SETTINGS_ADMINS_MAX)
        return REFUSE(r, LBM_E_LIMIT, "has %d entries, at most %d are possible", n, LBM_SETTINGS_ADMINS_MAX);
    for (int i = 0; i < n; i++) {
        const config_setting_t *uid = config_setting_get_elem(r->value, (unsigned)i);
        if (!is_integer(uid))
            return refuse_kind(r);
        /* The top value means "no user" (chown(2)). */
        if (!(number_of(uid) >= 0 && number_of(uid) < UINT32_MAX))
            return REFUSE(r, LBM_E_RANGE, "has %.0f, which is no user id", number_of(uid));
        uids->at[uids->n++] = (uint32_t)number_of(uid);
    }
    return LBM_OK;
}

static enum lbm_err
read_hosts(const struct reading *r, void *field)
{
    struct lbm_operators_setting *hosts = field;
    int n = config_setting_length(r->value);
    if (!config_setting_is_array(r->value) && !(config_setting_is_list(r->value) && n == 0))
        return refuse_kind(r);
    if (n > LBM_OPERATORS_MAX)
        return REFUSE(r, LBM_E_LIMIT, "has %d entries, at most %d are possible", n, LBM_OPERATORS_MAX);
    for (int i = 0; i < n; i++) {
        const config_setting_t *host = config_setting_get_elem(r->value, (unsigned)i);
        enum lbm_err err = is_integer(host) ? in_range(r, number_of(host)) : refuse_kind(r);
        if (err != LBM_OK)
            return err;
        hosts->at[hosts->n++] = (uint32_t)number_of(host);
    }
    return LBM_OK;
}

/* A name is looked up now, and never again. */
static enum lbm_err
read_unix_group(const struct reading *r, void *field)
{
    struct lbm_group_setting *group = field;
    const char *text = config_setting_get_string(r->value);
    if (text == NULL || text[0] == '\0')
        return refuse_kind(r);
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (text[strspn(text, "0123456789")] == '\0') {
        if (errno != 0 || number >= UINT32_MAX)
            return REFUSE(r, LBM_E_RANGE, "is \"%.60s\", which is no group id", text);
        *group = (struct lbm_group_setting){(uint32_t)number, 1};
        return LBM_OK;
    }
    const struct group *entry = getgrnam(text);
    if (entry == NULL)
        return REFUSE(r, LBM_E_NOTFOUND, "is \"%.60s\", and this machine knows no such group", text);
    *group = (struct lbm_group_setting){(uint32_t)entry->gr_gid, 1};
    return LBM_OK;
}

static enum lbm_err
read_group(const struct reading *r, void *field)
{
    char prefix[64];
    if (!config_setting_is_group(r->value))
        return refuse_kind(r);
    snprintf(prefix, sizeof prefix, "%s.", r->row->name);
    return walk_group(r->value, prefix, r->path, field, r->diag);
}

static enum lbm_err (*const readers[LBM_SETTING_KIND_COUNT])(const struct reading *, void *) = {
    [LBM_SETTING_GROUP] = read_group,       [LBM_SETTING_INTEGER] = read_integer,
    [LBM_SETTING_NUMBER] = read_number,     [LBM_SETTING_BOOLEAN] = read_boolean,
    [LBM_SETTING_NAME] = read_name,         [LBM_SETTING_ADDRESS] = read_address,
    [LBM_SETTING_PATH] = read_path,         [LBM_SETTING_SOCKET] = read_socket,
    [LBM_SETTING_LEVEL] = read_level,       [LBM_SETTING_POINT] = read_point,
    [LBM_SETTING_LINKS] = read_links,       [LBM_SETTING_UIDS] = read_uids,
    [LBM_SETTING_ENGINE] = read_word,       [LBM_SETTING_TEXT] = read_text,
    [LBM_SETTING_URLS] = read_urls,         [LBM_SETTING_POLICY] = read_policy,
    [LBM_SETTING_SCHEDULE] = read_schedule, [LBM_SETTING_UNIX_GROUP] = read_unix_group,
    [LBM_SETTING_PROGRAMS] = read_word,     [LBM_SETTING_HOSTS] = read_hosts,
    [LBM_SETTING_LISTEN] = read_listen,     [LBM_SETTING_DURABILITY] = read_word,
};

/* ---- the walk ------------------------------------------------------------------------------------------ */

/* The row of prefix + name, or NULL. */
static const struct lbm_setting *
row_of(const char *prefix, const char *name)
{
    size_t len = strlen(prefix);
    for (size_t i = 0; i < lbm_settings_n; i++) {
        const char *row = lbm_settings_table[i].name;
        if (strncmp(row, prefix, len) == 0 && strcmp(row + len, name) == 0)
            return &lbm_settings_table[i];
    }
    return NULL;
}

/* Refuse a group that lacks a required setting. */
static enum lbm_err
check_required(const config_setting_t *group, const char *prefix, const char *path, struct lbm_diag *diag)
{
    size_t len = strlen(prefix);
    for (size_t i = 0; i < lbm_settings_n; i++) {
        const struct lbm_setting *row = &lbm_settings_table[i];
        const char *name = row->name + len;
        if (strncmp(row->name, prefix, len) != 0 || strchr(name, '.') != NULL || !row->required)
            continue;
        if (config_setting_get_member(group, name) == NULL)
            return lbm_diag_set(diag, LBM_E_NOTFOUND, place_of(group, path),
                                config_setting_source_line(group), "%s is missing: it must be %s", row->name,
                                lbm_setting_kind_text(row->kind));
    }
    return LBM_OK;
}

static enum lbm_err
walk_group(const config_setting_t *group, const char *prefix, const char *path, void *base,
           struct lbm_diag *diag)
{
    int n = config_setting_length(group);
    for (int i = 0; i < n; i++) {
        const config_setting_t *value = config_setting_get_elem(group, (unsigned)i);
        const struct lbm_setting *row = row_of(prefix, config_setting_name(value));
        if (row == NULL)
            return lbm_diag_set(
                diag, LBM_E_UNSUPPORTED, place_of(value, path), config_setting_source_line(value),
                "there is no setting %s%.60s; see lbmapd.conf(5)", prefix, config_setting_name(value));
        struct reading reading = {.value = value, .row = row, .path = path, .diag = diag};
        enum lbm_err err = readers[row->kind](&reading, (char *)base + row->offset);
        if (err == LBM_E_NOMEM)
            return lbm_diag_set(diag, err, path, 0, "out of memory");
        if (err != LBM_OK)
            return err;
    }
    return check_required(group, prefix, path, diag);
}

enum lbm_err
lbm_settings_walk(const config_setting_t *root, const char *path, struct lbm_settings *settings,
                  struct lbm_diag *diag)
{
    return walk_group(root, "", path, settings, diag);
}

void
lbm_settings_preset(struct lbm_settings *settings)
{
    preset_rows(0, settings);
}
