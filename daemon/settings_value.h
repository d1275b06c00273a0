/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From libconfig's tree to struct lbm_settings, by the table. Only settings.c includes this. */
#ifndef LBM_DAEMON_SETTINGS_VALUE_H
#define LBM_DAEMON_SETTINGS_VALUE_H

#include <libconfig.h>

#include "daemon/settings.h"

/* Write every default of the table. */
void lbm_settings_preset(struct lbm_settings *settings);

/* Read the whole tree: unknown settings, wrong kinds and values out of range are refused, and so is a
 * group that lacks a required setting.
 * In:      path of the file, for paths relative to it and for messages
 * Out:     what was read up to an error stays in *settings, for the caller to free. */
enum lbm_err lbm_settings_walk(const config_setting_t *root, const char *path, struct lbm_settings *settings,
                               struct lbm_diag *diag) LBM_MUST_CHECK;

/* Nonzero if text may name a host or a cluster. */
int lbm_setting_name_valid(const char *text);

#endif
