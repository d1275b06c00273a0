/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of settings, and what must hold between settings. How values are read: settings_value.c. */
#include "daemon/settings.h"

#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "daemon/address.h"
#include "daemon/settings_value.h"

enum { CONFIG_BYTES_MAX = 1 << 20 }; /* the links of 8192 hosts fit several times */

#define AT(field) offsetof(struct lbm_settings, field)
#define IN_LINK(field) offsetof(struct lbm_node_link, field)

/* In the order of the manual (lbmapd.conf(5)); a group comes before what is in it. */
const struct lbm_setting lbm_settings_table[] = {
    {"cluster", LBM_SETTING_NAME, 0, 0, 0, NULL, "",
     "Name of the cluster. The host that founds it gives it; the others take that.", AT(cluster)},
    {"host", LBM_SETTING_GROUP, 0, 0, 0, NULL, "", "This host. Its number is in its certificate.", 0},
    {"host.name", LBM_SETTING_NAME, 0, 0, 0, NULL, "",
     "Name of this host in tables and pictures; the machine's name if absent.", AT(host.name)},
    {"host.capacity", LBM_SETTING_NUMBER, 0, LBM_DAEMON_CAPACITY_MIN, LBM_DAEMON_CAPACITY_MAX, "1", "",
     "Speed relative to the other hosts: a host of capacity 2 gets twice the load of one of capacity 1.",
     AT(host.capacity)},
    {"host.measure", LBM_SETTING_BOOLEAN, 0, 0, 0, "false", "",
     "Lower the capacity while other programs use the processors this daemon may run on, and raise it again. "
     "What it is set to by hand lasts until it is measured.",
     AT(host.measure)},
    {"host.failure_domain", LBM_SETTING_NAME, 0, 0, 0, NULL, "",
     "Hosts with the same name here may fail together (a rack, a switch): none keeps the copy of another if "
     "there is somebody else. A domain of its own if absent.",
     AT(host.failure_domain)},
    {"host.site", LBM_SETTING_POINT, 0, 0, 0, NULL, "",
     "Point of this host in Omega; near the hosts it is linked to if absent.", AT(host.site)},
    {"host.links", LBM_SETTING_LINKS, 0, 0, 0, NULL, "",
     "Hosts this one is linked to directly. A link may be written at one end or at both.", AT(host.links)},
    {"host.links.host", LBM_SETTING_INTEGER, 1, 0, LBM_HOSTS_MAX - 1, NULL, "", "Number of the other host.",
     IN_LINK(host)},
    {"host.links.cost", LBM_SETTING_INTEGER, 0, 1, LBM_LINK_COST_MAX, "1", "hops",
     "Cost of sending a unit over the link.", IN_LINK(cost)},
    {"network", LBM_SETTING_GROUP, 0, 0, 0, NULL, "", "Of a cluster in which nobody declares links.", 0},
    {"network.measure", LBM_SETTING_BOOLEAN, 0, 0, 0, "false", "",
     "Hosts that name no links are linked to those near them, at costs that follow from the round-trip times "
     "they measure. What the host says that founds the cluster counts.",
     AT(network.measure)},
    {"network.unit", LBM_SETTING_NUMBER, 0, 0.01, 10000, "1", "ms",
     "Round-trip time that costs 1. What the host says that founds the cluster counts.", AT(network.unit)},
    {"listen", LBM_SETTING_LISTEN, 0, 0, 0, "[::]:7411", "",
     "Where connections are accepted: all addresses of this machine, IPv4 as well as IPv6, or one of them.",
     AT(listen)},
    {"address", LBM_SETTING_ADDRESS, 0, 0, 0, NULL, "",
     "Address that other hosts reach this one at, or several with commas between, which they try in turn; "
     "what listen says if absent. A name is looked up whenever somebody connects.",
     AT(address)},
    {"identity", LBM_SETTING_PATH, 0, 0, 0, LBM_LOCALSTATEDIR "/lib/lbmap/identity", "",
     "Folder of this host's certificate and key, which lbctl init and lbctl enroll make. Nobody else may "
     "read "
     "it.",
     AT(identity)},
    {"certificate_days", LBM_SETTING_NUMBER, 0, 0.0001, 825, "90", "days",
     "How long a certificate that is signed here is valid. A host renews its own after two thirds of "
     "that.",
     AT(certificate_days)},
    {"data", LBM_SETTING_PATH, 0, 0, 0, LBM_LOCALSTATEDIR "/lib/lbmap/lbmap.db", "",
     "Database of this host. One daemon at a time uses it.", AT(data)},
    {"durability", LBM_SETTING_DURABILITY, 0, 0, 0, "disk", "",
     "Where the database of this host must have what counts as kept: on its disk, or in its memory, which "
     "outlives the daemon and not the machine.",
     AT(durability)},
    {"control", LBM_SETTING_SOCKET, 0, 0, 0, LBM_RUNSTATEDIR "/lbmap/lbmapd.sock", "",
     "Unix socket for lbctl and applications.", AT(control)},
    {"log_engine", LBM_SETTING_ENGINE, 0, 0, 0, "auto", "",
     "Where the control log is ordered. auto: by an ensemble of etcd that the daemons of three hosts run, or "
     "of five from nine hosts on, which no single machine can stop; by the host that founded the cluster "
     "until "
     "three hosts can run one. local: this host runs no etcd, and as the one that orders the log it keeps "
     "it. "
     "etcd: by an ensemble that exists already; all hosts of the cluster name the same.",
     AT(log_engine)},
    {"etcd_program", LBM_SETTING_PATH, 0, 0, 0, "/usr/bin/etcd", "",
     "With log_engine = \"auto\": the etcd that this host runs a member of the ensemble with. A host where "
     "it is "
     "missing runs none.",
     AT(etcd_program)},
    {"etcd", LBM_SETTING_GROUP, 0, 0, 0, NULL, "", "The ensemble, for log_engine = \"etcd\".", 0},
    {"etcd.endpoints", LBM_SETTING_URLS, 1, 0, 0, NULL, "",
     "Its members. One is asked; when it does not answer, the next.", AT(etcd.endpoints)},
    {"etcd.prefix", LBM_SETTING_TEXT, 0, 0, 0, "/lbmap", "",
     "Keys of the cluster begin with this; each cluster has its own.", AT(etcd.prefix)},
    {"etcd.ca", LBM_SETTING_PATH, 0, 0, 0, NULL, "",
     "Certificates of who may have signed the members', PEM; the system's if absent.", AT(etcd.ca)},
    {"etcd.cert", LBM_SETTING_PATH, 0, 0, 0, NULL, "", "Certificate this host shows, PEM; none if absent.",
     AT(etcd.cert)},
    {"etcd.key", LBM_SETTING_PATH, 0, 0, 0, NULL, "", "Its private key, PEM.", AT(etcd.key)},
    {"etcd.user", LBM_SETTING_TEXT, 0, 0, 0, NULL, "", "User of etcd; nobody logs in if absent.",
     AT(etcd.user)},
    {"etcd.password_file", LBM_SETTING_PATH, 0, 0, 0, NULL, "", "File whose first line is the password.",
     AT(etcd.password_file)},
    {"dimensions", LBM_SETTING_INTEGER, 0, 2, LBM_DIMENSIONS_MAX, "2", "",
     "Dimensions of Omega. What the host says that founds the cluster counts; a site given elsewhere must "
     "have as many coordinates.",
     AT(dimensions)},
    {"copies", LBM_SETTING_INTEGER, 0, 1, LBM_COPIES_MAX, "1", "",
     "Hosts that keep a copy of each record, besides its owner. What the host says that founds the cluster "
     "counts.",
     AT(copies)},
    {"policy", LBM_SETTING_POLICY, 0, 0, 0, "auto", "",
     "Load policy of jobs submitted here that name none: a name that lbctl submit --help lists.", AT(policy)},
    {"schedule", LBM_SETTING_SCHEDULE, 0, 0, 0, "pipelined", "",
     "How their vertices are handed over: plain, overlapped or pipelined.", AT(schedule)},
    {"evict", LBM_SETTING_GROUP, 0, 0, 0, NULL, "",
     "How many unreachable hosts are evicted without an operator.", 0},
    {"evict.percent", LBM_SETTING_NUMBER, 0, 0, 100, "33.4", "% of the members",
     "That many of the members of ten minutes ago may be lost, evicted ones among them, before evictions "
     "wait "
     "for an "
     "operator; 0: he evicts all. A failure domain counts as one member while half of the hosts are left.",
     AT(evict.percent)},
    {"log", LBM_SETTING_LEVEL, 0, 0, 0, "info", "",
     "Least important messages that are logged: error, warning, info or debug. Read again on SIGHUP.",
     AT(log)},
    {"admins", LBM_SETTING_UIDS, 0, 0, 0, NULL, "",
     "Users who may change hosts and others' jobs over the control socket, next to root and the daemon's own "
     "user.",
     AT(rights.admins)},
    {"groups", LBM_SETTING_GROUP, 0, 0, 0, NULL, "",
     "Groups whose members may use the control socket. With any of them everybody may connect, and who is in "
     "none of them is turned away; without, the socket is open to the daemon's own group, which may submit.",
     0},
    {"groups.read", LBM_SETTING_UNIX_GROUP, 0, 0, 0, NULL, "",
     "May look at hosts, jobs, mappings and the control log; the daemon's own group if absent.",
     AT(rights.read)},
    {"groups.submit", LBM_SETTING_UNIX_GROUP, 0, 0, 0, NULL, "",
     "May also submit jobs, and change and serve those; the daemon's own group if absent.",
     AT(rights.submit)},
    {"groups.admin", LBM_SETTING_UNIX_GROUP, 0, 0, 0, NULL, "",
     "May also change hosts and others' jobs; nobody if absent, see admins.", AT(rights.admin)},
    {"operators", LBM_SETTING_HOSTS, 0, 0, LBM_HOSTS_MAX - 1, NULL, "",
     "Hosts at which the cluster listens to administrators, and that may order its control log; all members "
     "if absent. "
     "The same on all hosts.",
     AT(operators)},
    {"programs", LBM_SETTING_GROUP, 0, 0, 0, NULL, "", "Programs that work on jobs (lbctl run).", 0},
    {"programs.run", LBM_SETTING_PROGRAMS, 0, 0, 0, "none", "",
     "Which this host runs. none: none. own: those of jobs of the user that lbmapd runs as. users: those of "
     "all "
     "users' jobs, each as the owner of its job; lbmapd must have been started with the right to become "
     "others. "
     "Whoever may submit jobs as a user to any host of the cluster can then run programs as that user here.",
     AT(programs.run)},
    {"programs.grace", LBM_SETTING_NUMBER, 0, 0, 1e6, "30", "seconds",
     "Where programs talk to each other and this host has none, its vertices go to hosts that have one after "
     "that time, and at once where its program is given up; 0: they stay.",
     AT(programs.grace)},
    {"sandbox", LBM_SETTING_BOOLEAN, 0, 0, 0, "true", "",
     "Allow the daemon the system calls that it needs, and no other.", AT(sandbox)},
    {"pid_file", LBM_SETTING_PATH, 0, 0, 0, NULL, "",
     "File the process id is written to while the daemon runs; none if absent.", AT(pid_file)},
};
const size_t lbm_settings_n = sizeof lbm_settings_table / sizeof lbm_settings_table[0];

const char *
lbm_setting_kind_text(enum lbm_setting_kind kind)
{
    static const char *const texts[] = {
#define KIND_TEXT(id, text) text,
        LBM_SETTING_KIND_LIST(KIND_TEXT)
#undef KIND_TEXT
    };
    return (unsigned)kind < LBM_SETTING_KIND_COUNT ? texts[kind] : "unknown";
}

static enum lbm_err
fail_at(const config_setting_t *setting, enum lbm_err code, const char *text, struct lbm_diag *diag)
{
    return lbm_diag_set(diag, code, config_setting_source_file(setting), config_setting_source_line(setting),
                        "%s", text);
}

static enum lbm_err
check_engine(const config_t *file, const char *path, const struct lbm_settings *s, struct lbm_diag *diag)
{
    const config_setting_t *etcd = config_lookup(file, "etcd");
    if (s->log_engine != LBM_LOG_PLACE_ETCD)
        return etcd == NULL ? LBM_OK
                            : fail_at(etcd, LBM_E_RANGE,
                                      "etcd is not used: add log_engine = \"etcd\", or remove it", diag);
    if (etcd == NULL)
        return lbm_diag_set(diag, LBM_E_NOTFOUND, path, 0,
                            "log_engine is \"etcd\", but etcd = { endpoints = [ URL ]; } is missing");
    if ((s->etcd.cert[0] != '\0') != (s->etcd.key[0] != '\0'))
        return fail_at(etcd, LBM_E_NOTFOUND, "etcd.cert and etcd.key go together: one is missing", diag);
    if ((s->etcd.user[0] != '\0') != (s->etcd.password_file[0] != '\0'))
        return fail_at(etcd, LBM_E_NOTFOUND, "etcd.user and etcd.password_file go together: one is missing",
                       diag);
    return LBM_OK;
}

/* Others must be told of one address. */
static enum lbm_err
take_address(const char *path, struct lbm_settings *s, struct lbm_diag *diag)
{
    struct lbm_address listen;
    if (s->address[0] != '\0')
        return LBM_OK;
    enum lbm_err err = lbm_address_parse(s->listen, path, 0, &listen, diag);
    if (err != LBM_OK)
        return err;
    if (lbm_address_is_any(&listen))
        return lbm_diag_set(
            diag, LBM_E_NOTFOUND, path, 0,
            "address is missing: %s is every address of this machine; say which one other hosts "
            "reach it at",
            s->listen);
    memcpy(s->address, s->listen, sizeof s->address);
    return LBM_OK;
}

/* Links lead to other hosts, each once. */
static enum lbm_err
check_links(const config_t *file, const struct lbm_settings *s, struct lbm_diag *diag)
{
    unsigned char seen[LBM_HOSTS_MAX] = {0};
    const config_setting_t *links = config_lookup(file, "host.links");
    for (size_t i = 0; i < s->host.links.n; i++) {
        uint32_t host = s->host.links.at[i].host;
        const config_setting_t *entry = config_setting_get_elem(links, (unsigned)i);
        if (seen[host])
            return lbm_diag_set(diag, LBM_E_EXISTS, config_setting_source_file(entry),
                                config_setting_source_line(entry), "second link to host %u", host);
        seen[host] = 1;
    }
    return LBM_OK;
}

static enum lbm_err
check_between(const config_t *file, const char *path, struct lbm_settings *s, struct lbm_diag *diag)
{
    enum lbm_err err = check_engine(file, path, s, diag);
    if (err == LBM_OK)
        err = check_links(file, s, diag);
    if (err == LBM_OK)
        err = take_address(path, s, diag);
    if (err != LBM_OK)
        return err;
    if (s->host.site.n != 0 && s->host.site.n != s->dimensions)
        return lbm_diag_set(
            diag, LBM_E_RANGE, path, config_setting_source_line(config_lookup(file, "host.site")),
            "host.site has %u coordinates, but dimensions is %u", s->host.site.n, s->dimensions);
    if (s->host.name[0] == '\0')
        return lbm_diag_set(diag, LBM_E_NOTFOUND, path, 0,
                            "host.name is missing, and the machine's own name cannot stand in for it");
    return LBM_OK;
}

/* The machine's name up to the first dot; left empty if it is no name of a host. */
static void
preset_host_name(struct lbm_settings *s)
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0)
        return;
    name[strcspn(name, ".")] = '\0';
    if (lbm_setting_name_valid(name))
        memcpy(s->host.name, name, strlen(name) + 1);
}

/* libconfig's scanner ends the process when a read fails, so what cannot be read is refused before. */
static enum lbm_err
check_readable(const char *path, struct lbm_diag *diag)
{
    struct stat st;
    if (stat(path, &st) != 0 || access(path, R_OK) != 0)
        return lbm_diag_set(diag, errno == EACCES ? LBM_E_DENIED : LBM_E_IO, path, 0, "cannot be read: %s",
                            strerror(errno));
    if (!S_ISREG(st.st_mode))
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "is not a file");
    if (st.st_size > CONFIG_BYTES_MAX)
        return lbm_diag_set(diag, LBM_E_LIMIT, path, 0, "is larger than %d bytes: not a configuration file",
                            CONFIG_BYTES_MAX);
    return LBM_OK;
}

static enum lbm_err
parse(config_t *file, const char *path, struct lbm_diag *diag)
{
    enum lbm_err err = check_readable(path, diag);
    if (err != LBM_OK)
        return err;
    if (config_read_file(file, path) == CONFIG_TRUE)
        return LBM_OK;
    if (config_error_type(file) == CONFIG_ERR_FILE_IO)
        return lbm_diag_set(diag, LBM_E_IO, path, 0, "cannot be read: %s", strerror(errno));
    const char *where = config_error_file(file);
    return lbm_diag_set(diag, LBM_E_SYNTAX, where != NULL ? where : path, (uint64_t)config_error_line(file),
                        "%s", config_error_text(file));
}

enum lbm_err
lbm_settings_read(const char *path, struct lbm_settings *out, struct lbm_diag *diag)
{
    struct lbm_settings s = {0};
    config_t file;
    config_init(&file);
    enum lbm_err err = parse(&file, path, diag);
    if (err == LBM_OK) {
        lbm_settings_preset(&s);
        preset_host_name(&s);
        err = lbm_settings_walk(config_root_setting(&file), path, &s, diag);
    }
    if (err == LBM_OK)
        err = check_between(&file, path, &s, diag);
    config_destroy(&file);
    if (err == LBM_OK)
        *out = s;
    else
        lbm_settings_free(&s);
    return err;
}

void
lbm_settings_free(struct lbm_settings *settings)
{
    lbm_vec_free(&settings->host.links);
}
