/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "client/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/daemon.h"
#include "client/process.h"
#include "client/progress.h"
#include "file/file.h"

#define STATE_DIR LBM_LOCALSTATEDIR "/lib/lbmap"

enum { ACTIVE_MS = 60000 }; /* to be a member: the control log is elsewhere */

const char *
lbm_setup_port(const char *address)
{
    const char *colon = strrchr(address, ':');
    return colon != NULL && colon[1] != '\0' ? colon + 1 : NULL;
}

void
lbm_setup_identity(const struct lbm_option_value *dir, char path[PATH_MAX])
{
    if (dir->given)
        snprintf(path, PATH_MAX, "%.*s/identity", PATH_MAX - 16, dir->text);
    else
        snprintf(path, PATH_MAX, "%s", STATE_DIR "/identity");
}

static enum lbm_err
make_folder(const char *path, mode_t mode, struct lbm_diag *diag)
{
    if (mkdir(path, mode) == 0 || errno == EEXIST)
        return LBM_OK;
    return lbm_diag_set(diag, errno == EACCES ? LBM_E_DENIED : LBM_E_IO, path, 0, "cannot be made: %s",
                        strerror(errno));
}

/* The folders of the system, which belong to the daemon's user if there is one. */
static enum lbm_err
system_places(struct lbm_setup *setup, struct lbm_diag *diag)
{
    const struct passwd *user = geteuid() == 0 ? getpwnam("lbmap") : NULL;
    snprintf(setup->config, sizeof setup->config, "%s", LBM_SYSCONFDIR "/lbmap/lbmapd.conf");
    snprintf(setup->identity, sizeof setup->identity, "%s", STATE_DIR "/identity");
    snprintf(setup->log, sizeof setup->log, "%s", STATE_DIR "/lbmapd.log");
    snprintf(setup->socket, sizeof setup->socket, "%s", LBM_RUNSTATEDIR "/lbmap/lbmapd.sock");
    if (user != NULL) {
        setup->uid = user->pw_uid;
        setup->gid = user->pw_gid;
    }
    enum lbm_err err = make_folder(LBM_SYSCONFDIR "/lbmap", 0755, diag);
    if (err == LBM_OK)
        err = make_folder(STATE_DIR, 0700, diag);
    return err;
}

static enum lbm_err
own_places(const char *dir, struct lbm_setup *setup, struct lbm_diag *diag)
{
    enum lbm_err err = make_folder(dir, 0755, diag);
    if (err != LBM_OK)
        return err;
    if (realpath(dir, setup->dir) == NULL)
        return lbm_diag_set(diag, LBM_E_IO, dir, 0, "%s", strerror(errno));
    if (strlen(setup->dir) > 90)
        return lbm_diag_set(
            diag, LBM_E_RANGE, dir, 0,
            "is too long: a socket's whole path must be below 108 bytes; choose a shorter folder");
    int len = (int)strlen(setup->dir);
    snprintf(setup->config, sizeof setup->config, "%.*s/lbmapd.conf", len, setup->dir);
    snprintf(setup->identity, sizeof setup->identity, "%.*s/identity", len, setup->dir);
    snprintf(setup->log, sizeof setup->log, "%.*s/lbmapd.log", len, setup->dir);
    snprintf(setup->socket, sizeof setup->socket, "%.*s/lbmapd.sock", len, setup->dir);
    return LBM_OK;
}

static enum lbm_err
take_name(const struct lbm_option_value *given, struct lbm_setup *setup, struct lbm_diag *diag)
{
    char name[256] = "";
    if (given->given)
        snprintf(name, sizeof name, "%s", given->text);
    else if (gethostname(name, sizeof name - 1) == 0)
        name[strcspn(name, ".")] = '\0';
    if (!lbm_pki_name_valid(name))
        return lbm_diag_set(diag, LBM_E_RANGE, "--name", 0,
                            "\"%.60s\" is no name of a host: 1 to %d letters, digits, '.', '_' or '-'", name,
                            LBM_NAME_MAX);
    snprintf(setup->name, sizeof setup->name, "%.*s", LBM_NAME_MAX, name); /* it is valid: no longer */
    return LBM_OK;
}

enum lbm_err
lbm_setup_begin(const struct lbm_cli *client, struct lbm_setup *setup, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = client->value;
    char path[PATH_MAX];
    *setup = (struct lbm_setup){.listen = value[LBM_SETUP_AT].text, .uid = (uid_t)-1, .gid = (gid_t)-1};
    enum lbm_err err = take_name(&value[LBM_SETUP_NAME], setup, diag);
    if (err == LBM_OK && lbm_setup_port(setup->listen) == NULL)
        err = lbm_diag_set(diag, LBM_E_SYNTAX, "--listen", 0, "%s is no address with a port", setup->listen);
    if (err == LBM_OK)
        err = value[LBM_SETUP_DIR].given ? own_places(value[LBM_SETUP_DIR].text, setup, diag)
                                         : system_places(setup, diag);
    if (err != LBM_OK)
        return err;
    if (access(lbm_identity_path(setup->identity, LBM_IDENTITY_CA, path), F_OK) == 0)
        return lbm_diag_set(
            diag, LBM_E_EXISTS, setup->identity, 0,
            "this host belongs to a cluster already; to leave it for another one, let it leave, stop "
            "its daemon and move its identity and its database away");
    if (access(setup->config, F_OK) == 0)
        return lbm_diag_set(diag, LBM_E_EXISTS, setup->config, 0,
                            "there is a configuration already; move it away first");
    if (value[LBM_SETUP_ADDRESS].given) {
        if (lbm_setup_port(value[LBM_SETUP_ADDRESS].text) == NULL ||
            strlen(value[LBM_SETUP_ADDRESS].text) > LBM_ADDRESS_MAX)
            return lbm_diag_set(diag, LBM_E_SYNTAX, "--address", 0, "%.80s is no address with a port",
                                value[LBM_SETUP_ADDRESS].text);
        snprintf(setup->address, sizeof setup->address, "%s", value[LBM_SETUP_ADDRESS].text);
    }
    return lbm_identity_folder(setup->identity, diag);
}

enum lbm_err
lbm_setup_configure(const struct lbm_setup *setup, const char *cluster, int measures, struct lbm_diag *diag)
{
    struct lbm_buf text = {0};
    lbm_buf_printf(&text, "cluster = \"%s\";\nhost = { name = \"%s\"; };\n", cluster, setup->name);
    if (measures)
        lbm_buf_printf(&text, "network = { measure = true; };\n");
    if (setup->copies != 0)
        lbm_buf_printf(&text, "copies = %" PRIu32 ";\n", setup->copies);
    lbm_buf_printf(&text, "listen = \"%s\";\naddress = \"%s\";\n", setup->listen, setup->address);
    if (setup->dir[0] != '\0')
        lbm_buf_printf(&text, "identity = \"identity\";\ndata = \"lbmap.db\";\ncontrol = \"lbmapd.sock\";\n"
                              "pid_file = \"lbmapd.pid\";\n");
    enum lbm_err err = text.failed ? LBM_E_NOMEM : lbm_file_write(setup->config, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

/* ---- the start ------------------------------------------------------------------------------------------
 */

static enum lbm_err
give_away(const struct lbm_setup *setup, struct lbm_diag *diag)
{
    static const char *const files[] = {LBM_IDENTITY_CA,       LBM_IDENTITY_CA_KEY, LBM_IDENTITY_CERT,
                                        LBM_IDENTITY_KEY,      LBM_IDENTITY_FOUND,  LBM_IDENTITY_TOKENS,
                                        LBM_IDENTITY_CONTACTS, LBM_IDENTITY_LOCK};
    char path[PATH_MAX];
    if (setup->uid == (uid_t)-1)
        return LBM_OK;
    int failed =
        chown(STATE_DIR, setup->uid, setup->gid) != 0 || chown(setup->identity, setup->uid, setup->gid) != 0;
    for (size_t i = 0; !failed && i < sizeof files / sizeof *files; i++)
        failed = chown(lbm_identity_path(setup->identity, files[i], path), setup->uid, setup->gid) != 0 &&
                 errno != ENOENT;
    return failed ? lbm_diag_set(diag, LBM_E_IO, setup->identity, 0, "cannot be given to the user lbmap: %s",
                                 strerror(errno))
                  : LBM_OK;
}

/* systemctl enable --now lbmapd. Errors: LBM_E_STATE it does not say yes. */
static enum lbm_err
start_service(struct lbm_diag *diag)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        execlp("systemctl", "systemctl", "--quiet", "enable", "--now", "lbmapd", (char *)NULL);
        _exit(127);
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
        return LBM_OK;
    return lbm_diag_set(diag, LBM_E_STATE, "lbmapd", 0,
                        "the service does not start; see systemctl status lbmapd");
}

static enum lbm_err
start_daemon(const struct lbm_cli *client, const struct lbm_setup *setup, struct lbm_diag *diag)
{
    char program[PATH_MAX];
    pid_t pid;
    if (setup->dir[0] == '\0') {
        if (access("/run/systemd/system", F_OK) == 0)
            return start_service(diag);
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "lbmapd", 0,
                            "there is no systemd here to start it: start it as its user by your own means");
    }
    if (client->value[LBM_SETUP_DAEMON].given)
        snprintf(program, sizeof program, "%s", client->value[LBM_SETUP_DAEMON].text);
    else
        lbm_process_daemon_path(program, sizeof program);
    return lbm_process_start(program, setup->config, setup->log, &pid, diag);
}

static enum lbm_err
take_active(struct lbmap *handle, const Lbm__Response *chunk, void *arg)
{
    const char *name = ((const void **)arg)[0];
    int *active = ((void **)arg)[1];
    (void)handle;
    for (size_t i = 0; chunk->hosts != NULL && i < chunk->hosts->n_hosts; i++)
        *active |= strcmp(chunk->hosts->hosts[i]->name, name) == 0 &&
                   strcmp(chunk->hosts->hosts[i]->state, "ACTIVE") == 0;
    return LBM_OK;
}

static int
is_active(const struct lbm_cli *client, const struct lbm_setup *setup)
{
    struct lbm_daemon daemon;
    int active = 0;
    const void *arg[] = {setup->name, &active};
    if (lbm_daemon_open(&daemon, client, setup->socket, 2000, 1) != LBM_STATUS_DONE)
        return 0;
    Lbm__Empty empty = LBM__EMPTY__INIT;
    Lbm__Request request = LBM__REQUEST__INIT;
    request.what_case = LBM__REQUEST__WHAT_HOSTS;
    request.hosts = &empty;
    int answered = lbm_api_call(&daemon.handle, &request, take_active, arg) == LBM_OK;
    lbm_daemon_close(&daemon);
    return answered && active;
}

enum lbm_status
lbm_setup_start(const struct lbm_cli *client, const struct lbm_setup *setup)
{
    const struct timespec pause = {0, 100000000};
    struct lbm_diag diag;
    if (give_away(setup, &diag) != LBM_OK)
        return lbm_cli_fail(client, &diag);
    if (client->value[LBM_SETUP_STAY].given)
        return LBM_STATUS_DONE;
    if (start_daemon(client, setup, &diag) != LBM_OK)
        return lbm_cli_fail(client, &diag);
    for (int64_t end_ms = lbm_progress_now_ms() + ACTIVE_MS; !is_active(client, setup);
         nanosleep(&pause, NULL))
        if (lbm_progress_now_ms() >= end_ms) {
            lbm_diag_set(&diag, LBM_E_TIMEOUT, setup->name, 0, "is no active member yet; see %s",
                         setup->dir[0] != '\0' ? setup->log : "journalctl -u lbmapd");
            (void)lbm_cli_fail(client, &diag);
            return LBM_STATUS_TIMED_OUT;
        }
    return LBM_STATUS_DONE;
}
