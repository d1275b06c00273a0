/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables that registry.c lists: one function each, next to the numbers that the paper prints. */
#ifndef LBM_PAPERS_PAPERS_H
#define LBM_PAPERS_PAPERS_H

#include "papers/table.h"

#define TABLE_LIST(X)                                                                                        \
    X(xl95_gamma, "xl95-gamma", "XL95 Table II, gamma", "convergence factors by lambda")                     \
    X(xl95_lambda, "xl95-lambda", "XL95 Theorems 3.1 to 3.5",                                                \
      "the optimal lambda, closed form and numerically")                                                     \
    X(xl95_sides_of_two, "xl95-sides-of-two", "XL95 Theorem 3.1, section 3.2",                               \
      "lambda where a side has two hosts")                                                                   \
    X(xl95_open, "xl95-open", "XL95 section 6", "lambda where the paper has no formula")                     \
    X(xl95_table_1, "xl95-table-1", "XL95 Table I", "GDE and diffusion at their best")                       \
    X(xl95_theorem_4_1, "xl95-theorem-4-1", "XL95 Theorem 4.1", "GDE against diffusion")                     \
    X(xl95_fig_6, "xl95-fig-6", "XL95 section 5.1, Fig. 6", "4096 processors in 2 to 12 dimensions")         \
    X(xl95_termination, "xl95-termination", "XL95 section 5",                                                \
      "counters: never early, diameter + 1 late at most")                                                    \
    X(xl95_table_2, "xl95-table-2", "XL95 Table II", "sweeps by lambda, even networks")                      \
    X(xl95_table_3, "xl95-table-3", "XL95 Table III", "sweeps by lambda, odd networks")                      \
    X(xl95_table_4, "xl95-table-4", "XL95 Table IV", "improvement by the optimal lambda, rings")             \
    X(xl95_table_5, "xl95-table-5", "XL95 Table V", "improvement by the optimal lambda, tori")               \
    X(xl95_table_6, "xl95-table-6", "XL95 Table VI", "improvement by the optimal lambda, chains")            \
    X(xl95_table_7, "xl95-table-7", "XL95 Table VII", "improvement by the optimal lambda, meshes")           \
    X(xl95_wator, "xl95-wator", "XL95 section 5.4", "WaTor on a ring of 16, remapped by GDE")                \
    X(xl95_thinning, "xl95-thinning", "XL95 section 5.4", "thinning of an image on a chain of 8, remapped")  \
    X(rjk03_table_1, "rjk03-table-1", "RJK03 Table 1", "largest differences of all multisets of loads")      \
    X(rjk03_bounds, "rjk03-bounds", "RJK03 Theorem 1, Fig. 3", "largest differences that are possible")      \
    X(rjk03_pairs, "rjk03-pairs", "RJK03 sections 2, 3, 5", "single exchanges that the text describes")      \
    X(rjk03_schedules, "rjk03-schedules", "RJK03 Figs 10-21", "transfers: plain, overlapped, pipelined")     \
    X(rjk03_random, "rjk03-random", "RJK03 section 4", "mean largest difference of random loads")            \
    X(rjk03_attained, "rjk03-attained", "RJK03 Theorem 1", "the bound of OEM, attained for every size")      \
    X(rjk03_table_2, "rjk03-table-2", "RJK03 Table 2", "OEM and CWA: collection and uniformity")             \
    X(rjk03_hybrid, "rjk03-hybrid", "RJK03 section 5.5", "OEM in the first dimensions, CWA in the others")   \
    X(rjk03_queue, "rjk03-queue", "RJK03 Figs 7-9", "event simulation: queues and speed-up")                 \
    X(cyb89_theorem_1, "cyb89-theorem-1", "CYB89 Theorem 1", "when diffusion converges")                     \
    X(cyb89_lemma_2, "cyb89-lemma-2", "CYB89 Lemma 2, Theorem 3", "the best diffusion on hypercubes")        \
    X(cyb89_theorem_4, "cyb89-theorem-4", "CYB89 Theorem 4", "a sweep of dimension exchange levels exactly") \
    X(cyb89_table_1, "cyb89-table-1", "CYB89 Table I", "convergence factors")                                \
    X(cyb89_theorem_2, "cyb89-theorem-2", "CYB89 Theorem 2", "variance under arrivals, diffusion")           \
    X(cyb89_theorem_5, "cyb89-theorem-5", "CYB89 Theorem 5", "variance under arrivals, dimension exchange")  \
    X(cyb89_table_2, "cyb89-table-2", "CYB89 Table II", "variances compared")                                \
    X(san_closed_forms, "san-closed-forms", "SAN Theorems 5 and 15", "closed forms against diffusion")       \
    X(san_ring, "san-ring", "SAN Theorem 6", "random loads on odd rings: (ln n)^2, not n^2")                 \
    X(san_worst_case, "san-worst-case", "SAN Theorems 4, 14, 17", "the slowest load takes n^2")              \
    X(san_theorem_20, "san-theorem-20", "SAN Theorem 20", "the optimal lambda takes n on random loads")      \
    X(san_conjecture_21, "san-conjecture-21", "SAN Conjecture 21", "lambda for random loads")                \
    X(san_theorem_18, "san-theorem-18", "SAN Theorem 18", "diffusion on random loads: (ln n)^(2/d)")         \
    X(san_constant, "san-constant", "SAN Conjecture 21", "the constant of random-load by the bound")         \
    X(san_even_tori, "san-even-tori", "SAN section 7", "alpha = 1/(2d) never converges on even tori")        \
    X(policies_steps, "policies-steps", "the policies compared", "steps to 1 % of the mean")                 \
    X(policies_modes, "policies-modes", "the policies compared", "one mode, in closed form")                 \
    X(policies_planar, "policies-planar", "the policies compared", "a planar graph of 200 hosts")            \
    X(hei97_spectrum, "hei97-spectrum", "HEI97 eq. (6)-(9)", "eigenvalues of the model problem")             \
    X(hei97_fig_5, "hei97-fig-5", "HEI97 Fig. 5", "one displaced vertex settles alike at every scale")       \
    X(hei97_fig_6, "hei97-fig-6", "HEI97 Fig. 6", "all vertices start at the centre")                        \
    X(hei97_fig_7, "hei97-fig-7", "HEI97 Fig. 7", "all vertices start at random places")                     \
    X(hei97_fig_8, "hei97-fig-8", "HEI97 Fig. 8, eq. (11)", "decay of the modes of the error")               \
    X(hei97_sweeps, "hei97-sweeps", "HEI97 Fig. 4", "sweeps by the order of updates")                        \
    X(hei97_fig_9, "hei97-fig-9", "HEI97 Fig. 9", "random edges equalize the regions")                       \
    X(hei97_scale, "hei97-scale", "HEI97 section 6", "sweeps by the size of the guest")                      \
    X(hei97_normalization, "hei97-normalization", "HEI97 eqs (7), (12), (13)",                               \
      "modes and a displaced vertex")                                                                        \
    X(hei97_proof, "hei97-proof", "HEI97 section 5", "radius and rank of M")                                 \
    X(hei97_renormalize, "hei97-renormalize", "HEI97 Fig. 4", "coordinates within the bounds of Omega")      \
    X(hei97_regions, "hei97-regions", "HEI97 section 10", "regions of nonuniform area")                      \
    X(hei97_planar, "hei97-planar", "HEI97 section 9", "planar guests at the fixed point, and after Fig. 9") \
    X(hei97_variants, "hei97-variants", "HEI97 section 10", "circles, and averages of angles")               \
    X(hei97_corners, "hei97-corners", "HEI97 section 5", "pins of the corners alone")

#define TABLE_FUNCTION(function, name, source, text) void function(struct table_run *t);
TABLE_LIST(TABLE_FUNCTION)
#undef TABLE_FUNCTION

#endif
