/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/import/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file/file.h"
#include "sim/import/vt.h"
#include "sim/numbers.h"

struct options {
    const char *format, *output, *hosts;
    char **files;
    int n_files;
    double phase_s;
    int quiet, help;
};

static void
print_help(void)
{
    printf("usage: lbsim import vt FILE... -o TRACE [options]\n\nMakes a trace for lbsim replay of the load "
           "data of "
           "DARMA/vt: one JSON file a rank (vt_lb_data with\nvt_lb_data_compress=false). Tasks become "
           "vertices, ranks "
           "hosts, phases steps. A task of mean time\nweighs 1000; an edge has the bytes that two tasks "
           "exchange in a "
           "phase on average. A task that is not\nmigratable stays on its rank; one that a phase does not "
           "have weighs "
           "1 then.\n\noptions:\n"
           "  -o, --output TRACE  where to write it; - is standard output, .gz is compressed\n"
           "  --hosts SPEC        the network of the ranks, as for lbctl plan; complete unless told\n"
           "  --phase S           seconds from one phase to the next; 10 unless told\n"
           "  -q, --quiet         no remarks\n"
           "  -h, --help          print this text and exit\n\n"
           "exit status: 0 done, 2 wrong usage or a file that cannot be used\n");
}

static enum lbm_err
take_value(struct options *o, const char *name, const char *value, struct lbm_diag *diag)
{
    if (value == NULL)
        return lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "needs a value");
    if (strcmp(name, "--phase") == 0)
        return sim_read_real(name, value, 0.001, 1e5, &o->phase_s, diag);
    *(strcmp(name, "--hosts") == 0 ? &o->hosts : &o->output) = value;
    return LBM_OK;
}

/* Files move to the front of argv. */
static enum lbm_err
read_options(int argc, char **argv, struct options *o, struct lbm_diag *diag)
{
    static const char *const valued[] = {"-o", "--output", "--hosts", "--phase"};
    *o = (struct options){.files = argv, .phase_s = 10};
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i];
        size_t row = 0;
        while (row < sizeof valued / sizeof *valued && strcmp(valued[row], name) != 0)
            row++;
        enum lbm_err err = LBM_OK;
        if (row < sizeof valued / sizeof *valued)
            err = take_value(o, name, ++i < argc ? argv[i] : NULL, diag);
        else if (strcmp(name, "-q") == 0 || strcmp(name, "--quiet") == 0)
            o->quiet = 1;
        else if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
            o->help = 1;
        else if (name[0] == '-')
            err = lbm_diag_set(diag, LBM_E_SYNTAX, name, 0, "no such option; lbsim import --help lists them");
        else if (o->format == NULL)
            o->format = name;
        else
            o->files[o->n_files++] = argv[i];
        if (err != LBM_OK)
            return err;
    }
    if (o->help)
        return LBM_OK;
    if (o->format == NULL || strcmp(o->format, "vt") != 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, o->format != NULL ? o->format : "", 0,
                            "say what is imported: lbsim import vt FILE... -o TRACE");
    if (o->n_files == 0)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "", 0,
                            "the files are missing: lbsim import vt FILE... -o TRACE");
    if (o->output == NULL)
        return lbm_diag_set(diag, LBM_E_SYNTAX, "--output", 0,
                            "is missing: lbsim import vt FILE... -o TRACE");
    return LBM_OK;
}

/* Brotli has no mark by which it could be known; vt compresses by it unless told. */
static enum lbm_err
compressed(const char *path, const char *what, struct lbm_diag *diag)
{
    return lbm_diag_set(
        diag, LBM_E_UNSUPPORTED, path, 0,
        "%s: unpack it with brotli -d, or let vt write plain JSON with --vt_lb_data_compress=false", what);
}

static enum lbm_err
read_files(const struct options *o, struct vt_data *data, struct lbm_diag *diag)
{
    enum lbm_err err = LBM_OK;
    for (int i = 0; err == LBM_OK && i < o->n_files; i++) {
        const char *path = o->files[i];
        size_t end = strlen(path), len;
        char *text;
        if (end > 3 && strcmp(path + end - 3, ".br") == 0)
            return compressed(path, "is compressed by brotli", diag);
        err = lbm_file_read(path, &text, &len, diag);
        if (err != LBM_OK)
            return err == LBM_E_SYNTAX ? compressed(path, "is no text; it may be compressed by brotli", diag)
                                       : err;
        if (text[strspn(text, " \t\r\n\xef\xbb\xbf")] != '{') {
            free(text);
            return compressed(path, "is no JSON; it may be compressed by brotli", diag);
        }
        err = vt_read(path, text, len, (uint32_t)i, data, diag);
        free(text);
    }
    return err;
}

static enum lbm_err
make_hosts(const struct options *o, uint32_t n_ranks, struct lbm_hosts *h, struct lbm_diag *diag)
{
    char spec[32];
    snprintf(spec, sizeof spec, n_ranks > 1 ? "complete:%" PRIu32 : "chain:%" PRIu32, n_ranks);
    return lbm_file_hosts(o->hosts != NULL ? o->hosts : spec, h, diag);
}

static void
remark(const struct options *o, const struct vt_data *data, const struct lbm_trace *trace,
       const struct vt_scale *scale)
{
    if (o->quiet)
        return;
    fprintf(stderr,
            "lbsim: %" PRIu32 " tasks on %" PRIu32 " ranks, %" PRIu32 " phases, %" PRIu64
            " pairs that talk; a unit of load is %g s, of an edge %g bytes a phase\n",
            trace->g.n, data->n_ranks, scale->n_phases, lbm_graph_directions(&trace->g) / 2, scale->load_s,
            scale->edge_bytes);
    if (data->n_other + scale->n_unknown != 0)
        fprintf(stderr,
                "lbsim: left out: %" PRIu64 " entries that are not of objects, %" PRIu64
                " communications with tasks that no phase has\n",
                data->n_other, scale->n_unknown);
}

static enum lbm_err
write_trace(const struct options *o, const struct lbm_trace *trace, const struct vt_scale *scale,
            struct lbm_diag *diag)
{
    char comment[160];
    struct lbm_buf text = {0};
    snprintf(comment, sizeof comment,
             "from load data of vt: a unit of load is %g s, of an edge %g bytes a phase", scale->load_s,
             scale->edge_bytes);
    lbm_trace_put_head(&text, trace, comment);
    for (size_t i = 0; i < trace->steps.n; i++)
        lbm_trace_put_step(&text, trace, &trace->steps.at[i]);
    lbm_trace_put_end(&text, trace->end_us);
    enum lbm_err err = text.failed ? lbm_diag_set(diag, LBM_E_NOMEM, o->output, 0, "no memory for the trace")
                                   : lbm_file_write(o->output, text.at, text.len, diag);
    lbm_buf_free(&text);
    return err;
}

enum lbm_err
import_command(int argc, char **argv, int *status, struct lbm_diag *diag)
{
    struct options o;
    struct vt_data data = {0};
    struct vt_scale scale;
    struct lbm_hosts h = {0};
    struct lbm_trace trace;
    *status = 0;
    enum lbm_err err = read_options(argc, argv, &o, diag);
    if (err != LBM_OK)
        return err;
    if (o.help) {
        print_help();
        return LBM_OK;
    }
    err = read_files(&o, &data, diag);
    if (err == LBM_OK)
        err = make_hosts(&o, data.n_ranks != 0 ? data.n_ranks : 1, &h, diag);
    if (err == LBM_OK)
        err = vt_trace(&data, &h, o.phase_s, &trace, &scale, diag);
    if (err == LBM_OK) {
        err = write_trace(&o, &trace, &scale, diag);
        if (err == LBM_OK)
            remark(&o, &data, &trace, &scale);
        lbm_trace_free(&trace);
    }
    lbm_hosts_free(&h);
    vt_free(&data);
    return err;
}
