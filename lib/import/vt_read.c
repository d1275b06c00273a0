/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "import/vt.h"

static const double seconds_max = 1e9, bytes_max = 1e18; /* of a task, of a communication in a phase */

/* Where in a file something is, for messages. */
struct place {
    const char *name;
    const char *what; /* "task", "communication" */
    int64_t phase;
    size_t at;
    struct lbm_diag *diag;
};

static enum lbm_err
refuse(const struct place *place, enum lbm_err err, const char *text)
{
    return lbm_diag_set(place->diag, err, place->name, 0, "phase %" PRId64 ", %s %zu: %s", place->phase,
                        place->what, place->at, text);
}

static int
is_object(const json_t *entity)
{
    const char *type = json_string_value(json_object_get(entity, "type"));
    return type != NULL && strcmp(type, "object") == 0;
}

/* A whole number of 0 .. most. */
static int
is_number(const json_t *value, int64_t most, uint32_t *out)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > most)
        return 0;
    *out = (uint32_t)json_integer_value(value);
    return 1;
}

/* A finite number of 0 .. most: sums of what is measured stay finite. */
static int
is_amount(const json_t *value, double most)
{
    return json_is_number(value) && json_number_value(value) >= 0 && json_number_value(value) <= most;
}

static enum lbm_err
read_key(const struct place *place, const json_t *entity, struct lbm_vt_key *key)
{
    const json_t *id = json_object_get(entity, "id"), *seq = json_object_get(entity, "seq_id");
    const json_t *home = json_object_get(entity, "home");
    *key = (struct lbm_vt_key){.home = LBM_NONE};
    if (!json_is_integer(id) && !json_is_integer(seq))
        return refuse(place, LBM_E_SYNTAX, "an object has neither an id nor a seq_id");
    if (json_is_integer(id)) {
        key->number = json_integer_value(id);
        return LBM_OK;
    }
    key->has_seq = 1;
    key->number = json_integer_value(seq);
    if (home != NULL && !is_number(home, LBM_HOSTS_MAX - 1, &key->home))
        return refuse(place, LBM_E_RANGE, "its home is no rank from 0 to 8191");
    return LBM_OK;
}

static enum lbm_err
no_memory(const char *name, struct lbm_diag *diag)
{
    return lbm_diag_set(diag, LBM_E_NOMEM, name, 0, "no memory for its tasks");
}

static enum lbm_err
read_task(const struct place *place, const json_t *task, uint32_t file, struct lbm_vt_data *data)
{
    const json_t *entity = json_object_get(task, "entity"), *time = json_object_get(task, "time");
    struct lbm_vt_sample sample = {.phase = place->phase, .file = file};
    if (!json_is_object(entity))
        return refuse(place, LBM_E_SYNTAX, "it has no entity");
    if (!is_object(entity)) {
        data->n_other++;
        return LBM_OK;
    }
    enum lbm_err err = read_key(place, entity, &sample.key);
    if (err != LBM_OK)
        return err;
    if (!is_number(json_object_get(task, "node"), LBM_HOSTS_MAX - 1, &sample.node))
        return refuse(place, LBM_E_RANGE, "its node is no rank from 0 to 8191");
    if (!is_amount(time, seconds_max))
        return refuse(place, LBM_E_RANGE, "its time is no number of seconds");
    sample.time_s = json_number_value(time);
    sample.fixed = json_is_false(json_object_get(entity, "migratable"));
    data->n_ranks = sample.node >= data->n_ranks ? sample.node + 1 : data->n_ranks;
    return lbm_vec_push(&data->samples, sample) == LBM_OK ? LBM_OK : no_memory(place->name, place->diag);
}

static enum lbm_err
read_talk(const struct place *place, const json_t *communication, uint32_t file, struct lbm_vt_data *data)
{
    const json_t *from = json_object_get(communication, "from"), *to = json_object_get(communication, "to");
    const json_t *bytes = json_object_get(communication, "bytes");
    struct lbm_vt_talk talk = {.file = file};
    if (!json_is_object(from) || !json_is_object(to))
        return refuse(place, LBM_E_SYNTAX, "it has no two ends");
    if (!is_object(from) || !is_object(to)) {
        data->n_other++;
        return LBM_OK;
    }
    if (!is_amount(bytes, bytes_max))
        return refuse(place, LBM_E_RANGE, "its bytes are no number");
    talk.bytes = json_number_value(bytes);
    enum lbm_err err = read_key(place, from, &talk.from);
    if (err == LBM_OK)
        err = read_key(place, to, &talk.to);
    if (err == LBM_OK && lbm_vec_push(&data->talks, talk) != LBM_OK)
        err = no_memory(place->name, place->diag);
    return err;
}

static enum lbm_err
read_phase(const char *name, const json_t *phase, size_t at, uint32_t file, struct lbm_vt_data *data,
           struct lbm_diag *diag)
{
    const json_t *id = json_object_get(phase, "id"), *tasks = json_object_get(phase, "tasks");
    const json_t *talks = json_object_get(phase, "communications");
    enum lbm_err err = LBM_OK;
    if (!json_is_integer(id) || !json_is_array(tasks) || (talks != NULL && !json_is_array(talks)))
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "phase at place %zu has no id, or no array of tasks",
                            at);
    struct place place = {name, "task", json_integer_value(id), 0, diag};
    struct lbm_vt_phase seen = {place.phase, file};
    for (size_t i = data->phases.n; i-- > 0 && data->phases.at[i].file == file;)
        if (data->phases.at[i].id == seen.id)
            return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "phase %" PRId64 " is there twice", seen.id);
    if (lbm_vec_push(&data->phases, seen) != LBM_OK)
        return no_memory(name, diag);
    for (; err == LBM_OK && place.at < json_array_size(tasks); place.at++)
        err = read_task(&place, json_array_get(tasks, place.at), file, data);
    place.what = "communication";
    for (place.at = 0; err == LBM_OK && place.at < json_array_size(talks); place.at++)
        err = read_talk(&place, json_array_get(talks, place.at), file, data);
    return err;
}

/* What says what kind of file it is, if anything does. */
static const char *
type_of(const json_t *root)
{
    const char *type = json_string_value(json_object_get(json_object_get(root, "metadata"), "type"));
    return type != NULL ? type : json_string_value(json_object_get(root, "type"));
}

static enum lbm_err
read_root(const char *name, const json_t *root, uint32_t number, struct lbm_vt_data *data,
          struct lbm_diag *diag)
{
    const json_t *phases = json_object_get(root, "phases");
    const json_t *rank = json_object_get(json_object_get(root, "metadata"), "rank");
    const char *type = type_of(root);
    uint32_t of = 0;
    enum lbm_err err = LBM_OK;
    if (type != NULL && strcmp(type, "LBDatafile") != 0)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, name, 0, "this is a file of type %.60s, not LBDatafile",
                            type);
    if (!json_is_array(phases))
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0,
                            "there is no array of phases: these are no load data of vt");
    if (rank != NULL && !is_number(rank, LBM_HOSTS_MAX - 1, &of))
        return lbm_diag_set(diag, LBM_E_RANGE, name, 0, "its rank is not from 0 to %d", LBM_HOSTS_MAX - 1);
    data->n_ranks = rank != NULL && of >= data->n_ranks ? of + 1 : data->n_ranks;
    for (size_t i = 0; err == LBM_OK && i < json_array_size(phases); i++)
        err = read_phase(name, json_array_get(phases, i), i, number, data, diag);
    return err;
}

enum lbm_err
lbm_vt_read(const char *name, const char *text, size_t len, uint32_t number, struct lbm_vt_data *data,
            struct lbm_diag *diag)
{
    json_error_t error;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, error.line > 0 ? (uint64_t)error.line : 0,
                            "no JSON: %s", error.text);
    enum lbm_err err = read_root(name, root, number, data, diag);
    json_decref(root);
    return err;
}

void
lbm_vt_free(struct lbm_vt_data *data)
{
    lbm_vec_free(&data->samples);
    lbm_vec_free(&data->talks);
    lbm_vec_free(&data->phases);
}
