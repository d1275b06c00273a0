/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "client/launch.h"

#include "file/file.h"

enum lbm_err
lbm_launch_read(const struct lbm_cli *client, size_t first, enum lbm_map_format format,
                struct lbm_hosts *hosts, struct lbm_launch *out, struct lbm_diag *diag)
{
    const struct lbm_option_value *value = &client->value[first];
    int is_launcher = lbm_map_format_needs_names(format);
    *out = (struct lbm_launch){0};
    if (value[LBM_LAUNCH_SLOTS].given && !is_launcher)
        return lbm_diag_set(
            diag, LBM_E_UNSUPPORTED, "--slots", 0,
            "it is for the formats of launchers; give --format rankfile, seq, hydra, slurm or charm");
    if (value[LBM_LAUNCH_CORES].given && format != LBM_MAP_FORMAT_RANKFILE)
        return lbm_diag_set(diag, LBM_E_UNSUPPORTED, "--cores", 0,
                            "only a rankfile names cores; give --format rankfile");
    if (value[LBM_LAUNCH_SLOTS].given)
        out->slots = (uint32_t)value[LBM_LAUNCH_SLOTS].integer;
    if (value[LBM_LAUNCH_CORES].given)
        out->cores = (uint32_t)value[LBM_LAUNCH_CORES].integer;
    enum lbm_err err = LBM_OK;
    if (value[LBM_LAUNCH_NAMES].given)
        err = lbm_file_host_names(value[LBM_LAUNCH_NAMES].text, hosts, diag);
    return err == LBM_OK && is_launcher ? lbm_launch_check_names(format, hosts, diag) : err;
}

void
lbm_launch_remark(const struct lbm_cli *client, enum lbm_map_format format, const struct lbm_hosts *hosts,
                  const struct lbm_launch *launch)
{
    if (hosts->name == NULL && lbm_map_format_needs_names(format))
        lbm_cli_remark(client,
                       "these hosts have no names; their ids are written instead (--names FILE gives names)");
    if (format == LBM_MAP_FORMAT_RANKFILE && launch->slots == 0 && launch->cores == 0 && hosts->slots == NULL)
        lbm_cli_remark(client,
                       "how many cores these hosts have is not known: a core that is named may not be there; "
                       "--cores N says it");
}
