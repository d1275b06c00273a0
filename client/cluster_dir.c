/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/cluster_dir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "client/cluster_pki.h"
#include "client/process.h"
#include "file/file.h"
#include "file/own.h"

/* DIR/NAME/FILE. Folders are short enough: open_dir checked. */
const char *
lbm_cluster_path(const struct lbm_cluster *cluster, const struct lbm_place *place, const char *file,
                 char path[LBM_CLUSTER_PATH_MAX])
{
    snprintf(path, LBM_CLUSTER_PATH_MAX, "%s/%s/%s", cluster->dir, place->name, file);
    return path;
}

pid_t
lbm_cluster_process(const struct lbm_cluster *cluster, const struct lbm_place *place)
{
    char pid_file[LBM_CLUSTER_PATH_MAX], config[LBM_CLUSTER_PATH_MAX];
    return lbm_process_find(lbm_cluster_path(cluster, place, "lbmapd.pid", pid_file),
                            lbm_cluster_path(cluster, place, "lbmapd.conf", config));
}

/* The absolute name of the folder, made if it is wanted and absent. */
enum lbm_status
lbm_cluster_open(const struct lbm_cli *client, const char *dir, struct lbm_cluster *cluster, int make)
{
    struct lbm_diag diag;
    int made = make && mkdir(dir, 0777) == 0;
    if (make && !made && errno != EEXIST) {
        lbm_diag_set(&diag, LBM_E_IO, dir, 0, "cannot be made: %s", strerror(errno));
        return lbm_cli_refuse(client, &diag);
    }
    if (realpath(dir, cluster->dir) == NULL) {
        lbm_diag_set(&diag, LBM_E_NOTFOUND, dir, 0, "%s", strerror(errno));
        return lbm_cli_refuse(client, &diag);
    }
    if (make && lbm_file_own_directory(cluster->dir, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    if (strlen(cluster->dir) > 80) {
        if (made)
            (void)rmdir(cluster->dir);
        lbm_diag_set(&diag, LBM_E_RANGE, cluster->dir, 0,
                     "is too long: a socket's whole path must be below 108 bytes; choose a shorter folder");
        return lbm_cli_refuse(client, &diag);
    }
    return LBM_STATUS_DONE;
}

enum lbm_status
lbm_cluster_load(const struct lbm_cli *client, struct lbm_cluster *cluster)
{
    char path[PATH_MAX + 32];
    struct lbm_diag diag;
    json_error_t error;
    size_t i;
    json_t *host;
    snprintf(path, sizeof path, "%s/cluster.json", cluster->dir);
    json_t *root = json_load_file(path, 0, &error), *hosts = json_object_get(root, "hosts");
    if (!json_is_array(hosts)) {
        json_decref(root);
        if (access(path, F_OK) == 0) {
            lbm_diag_set(&diag, LBM_E_SYNTAX, path, root == NULL ? (unsigned)error.line : 0, "%s",
                         root == NULL ? error.text : "there is no list of hosts in it");
            return lbm_cli_refuse(client, &diag);
        }
        lbm_diag_set(&diag, LBM_E_NOTFOUND, path, 0,
                     "there is no cluster here; start one with lbctl cluster up --hosts");
        return lbm_cli_refuse(client, &diag);
    }
    json_array_foreach(hosts, i, host)
    {
        struct lbm_place place = {.id = (uint32_t)json_integer_value(json_object_get(host, "id"))};
        const char *name = json_string_value(json_object_get(host, "name"));
        const char *address = json_string_value(json_object_get(host, "address"));
        if (name == NULL || address == NULL || strchr(name, '/') != NULL) {
            json_decref(root);
            lbm_diag_set(&diag, LBM_E_SYNTAX, path, 0, "host %zu has no usable name or address", i);
            return lbm_cli_refuse(client, &diag);
        }
        snprintf(place.name, sizeof place.name, "%s", name);
        snprintf(place.address, sizeof place.address, "%s", address);
        if (lbm_vec_push(&cluster->places, place) != LBM_OK) {
            json_decref(root);
            return LBM_STATUS_FAILED;
        }
    }
    json_decref(root);
    return LBM_STATUS_DONE;
}

enum lbm_status
lbm_cluster_save(const struct lbm_cli *client, const struct lbm_cluster *cluster)
{
    char path[PATH_MAX + 32];
    struct lbm_diag diag;
    json_t *hosts = json_array();
    for (size_t i = 0; i < cluster->places.n; i++) {
        const struct lbm_place *place = &cluster->places.at[i];
        json_array_append_new(hosts, json_pack("{s:i, s:s, s:s}", "id", (int)place->id, "name", place->name,
                                               "address", place->address));
    }
    json_t *root = json_pack("{s:o}", "hosts", hosts);
    lbm_diag_set(&diag, LBM_E_NOMEM, cluster->dir, 0, "no memory for the list of hosts");
    char *text = json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    snprintf(path, sizeof path, "%s/cluster.json", cluster->dir);
    enum lbm_err err = text != NULL ? lbm_file_write(path, text, strlen(text), &diag) : LBM_E_NOMEM;
    free(text);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_fail(client, &diag);
}

enum lbm_status
lbm_cluster_configure(const struct lbm_cli *client, const struct lbm_cluster *cluster,
                      const struct lbm_place *place, const struct lbm_place_config *config)
{
    char path[LBM_CLUSTER_PATH_MAX];
    struct lbm_buf text = {0};
    struct lbm_diag diag;
    lbm_diag_set(&diag, LBM_E_NOMEM, cluster->dir, 0, "no memory for a configuration");
    snprintf(path, sizeof path, "%s/%s", cluster->dir, place->name);
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        lbm_diag_set(&diag, LBM_E_IO, path, 0, "cannot be made: %s", strerror(errno));
        return lbm_cli_fail(client, &diag);
    }
    if (lbm_file_own_directory(path, &diag) != LBM_OK)
        return lbm_cli_refuse(client, &diag);
    if (lbm_cluster_identity(cluster, place, config->leader, &diag) != LBM_OK)
        return lbm_cli_fail(client, &diag);
    lbm_buf_printf(&text, "host = {\n    name = \"%s\";\n    capacity = %.17g;\n", place->name,
                   config->capacity);
    for (unsigned k = 0; config->site != NULL && k < config->m; k++)
        lbm_buf_printf(&text, "%s%.17g", k == 0 ? "    site = ( " : ", ", config->site[k]);
    if (config->site != NULL)
        lbm_buf_printf(&text, " );\n");
    lbm_buf_printf(&text, "    links = (");
    for (size_t i = 0; i < config->n_links; i++)
        lbm_buf_printf(&text, "%s { host = %" PRIu32 "; cost = %" PRIu32 "; }", i != 0 ? "," : "",
                       config->links[i].q, config->links[i].cost);
    lbm_buf_printf(&text, " );\n};\n");
    lbm_buf_printf(&text,
                   "cluster = \"local\";\ndimensions = %u;\ncopies = %" PRIu32
                   ";\nlisten = \"%s\";\nidentity = \"identity\";\ndata "
                   "= \"lbmap.db\";\ncontrol = \"lbmapd.sock\";\n"
                   "pid_file = \"lbmapd.pid\";\nlog_engine = \"%s\";\nprograms = { run = \"own\"; };\n",
                   config->m, config->copies, place->address, config->log_engine);
    enum lbm_err err = text.failed ? LBM_E_NOMEM
                                   : lbm_file_write(lbm_cluster_path(cluster, place, "lbmapd.conf", path),
                                                    text.at, text.len, &diag);
    lbm_buf_free(&text);
    return err == LBM_OK ? LBM_STATUS_DONE : lbm_cli_fail(client, &diag);
}
