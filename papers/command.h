/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commands of lbpapers, and a row that their tables of options share. */
#ifndef LBM_PAPERS_COMMAND_H
#define LBM_PAPERS_COMMAND_H

#include "cli/command.h"

extern const struct lbm_command command_table, command_plot, command_embed, command_list;

#define PAPERS_SEED_OPTION                                                                                   \
    {                                                                                                        \
        .name = "seed", .type = LBM_OPTION_INTEGER, .value = "S", .max = LBM_OPTION_INTEGER_MAX,             \
        .fallback = "1", .text = "of all that is drawn"                                                      \
    }

#endif
