/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What options and operands of several commands may be, from the lists of the modules that read them. */
#include "base/limits.h"
#include "client/command.h"
#include "host/host.h"

const struct lbm_choice lbm_host_forms[] = {
#define LBM_HOST_FORM(id, name, form, text) {form, text},
    LBM_TOPOLOGY_LIST(LBM_HOST_FORM)
#undef LBM_HOST_FORM
        {"...@cap=FILE", "any of these, with the hosts' capacities from a file"},
    {"...@names=FILE", "any of these, with the hosts' names from a file"},
    {"...@nodes=LIST", "those hosts of a file with these names, as in n[01-16],login"},
    {"...@topology=NAME", "that topology of a topology.yaml, instead of the cluster's"},
    {"...@leaf=PART", "what a host is in hwloc's XML: pu, core, l3, die or package"},
    {"...@island=COST", "what a way costs between fabrics of a Slurm file that nothing joins"},
    {NULL, NULL},
};

const struct lbm_option lbm_vertex_number = {
    .type = LBM_OPTION_INTEGER, .value = "VERTEX", .max = LBM_VERTICES_MAX - 1};
