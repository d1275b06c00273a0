/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The configuration file of lbmapd: what may be in it, and what it says.
 *
 * Owns: the table of settings (name, kind, range, default, unit, text) and the values read by it.
 * Never: changes anything; opens nothing but the configuration file. */
#ifndef LBM_DAEMON_SETTINGS_H
#define LBM_DAEMON_SETTINGS_H

#include <limits.h>
#include <stddef.h>
#include <sys/un.h>

#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "daemon/etcd.h"
#include "node/node.h"
#include "store/store.h"

enum {
    LBM_SETTINGS_ADMINS_MAX = 64, /* uids; more people than that are a group's matter */
    LBM_SOCKET_PATH_MAX = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1,
};

/* What a setting's value is. The text says how it is written, for messages and the manual. */
#define LBM_SETTING_KIND_LIST(X)                                                                             \
    X(GROUP, "a group { ... }")                                                                              \
    X(INTEGER, "a whole number")                                                                             \
    X(NUMBER, "a number")                                                                                    \
    X(BOOLEAN, "true or false")                                                                              \
    X(NAME, "a name in quotes: letters, digits, '.', '_' and '-'")                                           \
    X(ADDRESS, "an address in quotes: \"ws3.example:7411\"")                                                 \
    X(LISTEN, "an address in quotes: \"[::]:7411\"")                                                         \
    X(PATH, "a path in quotes")                                                                              \
    X(SOCKET, "a path in quotes, short enough for a socket")                                                 \
    X(LEVEL, "a log level in quotes")                                                                        \
    X(POINT, "coordinates [x, y] or [x, y, z], each in 0 .. 1")                                              \
    X(LINKS, "a list of links ( { host = ID; cost = COST; }, ... )")                                         \
    X(UIDS, "an array of user ids [ 0, 1000 ]")                                                              \
    X(HOSTS, "an array of host ids [ 0, 1 ]")                                                                \
    X(UNIX_GROUP, "the name or the number of a group in quotes: \"staff\", \"1000\"")                        \
    X(ENGINE, "\"auto\", \"local\" or \"etcd\"")                                                             \
    X(POLICY, "a load policy in quotes: \"none\", \"auto\", \"gde\"")                                        \
    X(PROGRAMS, "\"none\", \"own\" or \"users\"")                                                            \
    X(DURABILITY, "\"disk\" or \"memory\"")                                                                  \
    X(SCHEDULE, "\"plain\", \"overlapped\" or \"pipelined\"")                                                \
    X(TEXT, "a short text in quotes")                                                                        \
    X(URLS, "an array of addresses [ \"https://etcd1:2379\" ]")

enum lbm_setting_kind {
#define LBM_SETTING_ENUM(id, text) LBM_SETTING_##id,
    LBM_SETTING_KIND_LIST(LBM_SETTING_ENUM)
#undef LBM_SETTING_ENUM
        LBM_SETTING_KIND_COUNT
};

struct lbm_point_setting {
    double at[LBM_DIMENSIONS_MAX];
    unsigned n; /* 0: not given */
};

struct lbm_links_setting {
    struct lbm_node_link *at;
    size_t n, capacity;
};

struct lbm_uids_setting {
    uint32_t at[LBM_SETTINGS_ADMINS_MAX];
    size_t n;
};

struct lbm_group_setting {
    uint32_t gid;
    int is_given;
};

/* Which local clients may do what (daemon/access.h). */
struct lbm_rights_setting {
    struct lbm_uids_setting admins;
    struct lbm_group_setting read, submit, admin;
};

/* Hosts at which the cluster listens to operators; none: all members. */
struct lbm_operators_setting {
    uint32_t at[LBM_OPERATORS_MAX];
    size_t n;
};

struct lbm_urls_setting {
    char at[LBM_ETCD_ENDPOINTS_MAX][LBM_ETCD_URL_MAX + 1];
    size_t n;
};

/* What the file said. Settings that were absent have their defaults. */
struct lbm_settings {
    char cluster[LBM_NAME_MAX + 1];
    struct {
        char name[LBM_NAME_MAX + 1];
        double capacity;
        int measure;
        char failure_domain[LBM_NAME_MAX + 1]; /* empty: one of its own */
        struct lbm_point_setting site;
        struct lbm_links_setting links;
    } host;
    struct {
        int measure;
        double unit; /* milliseconds */
    } network;
    char listen[LBM_ADDRESS_MAX + 1];
    char address[LBM_ADDRESS_MAX + 1];
    char identity[PATH_MAX];
    double certificate_days;
    char data[PATH_MAX];
    enum lbm_durability durability;
    char control[LBM_SOCKET_PATH_MAX + 1];
    enum lbm_log_place log_engine; /* ETCD: the ensemble that etcd names */
    char etcd_program[PATH_MAX];
    struct {
        struct lbm_urls_setting endpoints;
        char prefix[LBM_ETCD_TEXT_MAX + 1];
        char ca[PATH_MAX], cert[PATH_MAX], key[PATH_MAX]; /* empty: none */
        char user[LBM_ETCD_TEXT_MAX + 1];
        char password_file[PATH_MAX];
    } etcd;
    uint32_t dimensions;
    uint32_t copies;
    uint32_t policy;   /* enum lbm_job_policy_code */
    uint32_t schedule; /* 1 + enum lbm_schedule */
    struct {
        double percent;
    } evict;
    enum lbm_note_level log;
    struct lbm_rights_setting rights;
    struct lbm_operators_setting operators;
    struct {
        enum lbm_programs run;
        double grace; /* seconds; 0: for good */
    } programs;
    int sandbox;
    char pid_file[PATH_MAX]; /* empty: none */
};

/* One row of the table. */
struct lbm_setting {
    const char *name; /* "host.capacity"; entries of a list have the list's name before theirs */
    enum lbm_setting_kind kind;
    int required;       /* nonzero: must be given wherever the group around it is */
    double min, max;    /* INTEGER, NUMBER */
    const char *preset; /* default as text, or NULL: none */
    const char *unit;   /* "" if there is none */
    const char *text;
    size_t offset; /* into struct lbm_settings, or into an entry of the list */
};

extern const struct lbm_setting lbm_settings_table[];
extern const size_t lbm_settings_n;

/* How a value of that kind is written. */
const char *lbm_setting_kind_text(enum lbm_setting_kind kind);

/* Read a configuration file. Relative paths in it are relative to its folder. An absent host.name is the
 * name of the machine up to its first dot.
 * Out:     *out owned by the caller: lbm_settings_free; untouched on error
 * Errors:  diag names file:line and what to write instead: LBM_E_IO, LBM_E_DENIED cannot be read,
 *          LBM_E_SYNTAX not libconfig's grammar or wrong kind, LBM_E_NOTFOUND required but missing,
 *          LBM_E_RANGE, LBM_E_LIMIT, LBM_E_EXISTS duplicate, LBM_E_UNSUPPORTED unknown setting, or
 *          a name to listen at, LBM_E_NOMEM. */
enum lbm_err lbm_settings_read(const char *path, struct lbm_settings *out,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

void lbm_settings_free(struct lbm_settings *settings);

#endif
