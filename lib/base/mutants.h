/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Wrong constants and branches that can be planted on purpose, to measure whether the tables of the papers
 * (lbpapers table) find them.
 *
 * LBM_MUTANT(id, right, wrong) stands for `right`. In a build with -DLBM_MUTANTS it is `wrong` while
 * lbm_mutant names that row; no ordinary build has it. Which tables must notice which row is in
 * tests/unit/papers/test_mutants.c. */
#ifndef LBM_BASE_MUTANTS_H
#define LBM_BASE_MUTANTS_H

#define LBM_MUTANT_LIST(X)                                                                                   \
    X(NONE, "nothing is wrong")                                                                              \
    X(RANDOM_LOAD_LINE, "random-load: another constant in one dimension")                                    \
    X(RANDOM_LOAD_PLANE, "random-load: another constant in two dimensions")                                  \
    X(RANDOM_LOAD_FORM, "random-load: 1/ln n in every dimension")                                            \
    X(GDE_FLOW, "gde: 0.95 of the flow of real loads")                                                       \
    X(GDE_ROUNDING, "gde: whole units are rounded up")                                                       \
    X(GDE_BAND, "gde: a difference of 2 stays")                                                              \
    X(DIFFUSION_FLOW, "diffusion: 0.95 of the flow")                                                         \
    X(ALPHA_OPTIMAL, "diffusion: 0.9 of the optimal alpha")                                                  \
    X(ALPHA_SAFE, "diffusion: 1/(degree + 2)")                                                               \
    X(SECOND_ORDER_BETA, "second-order: beta of gamma, not of gamma^2")                                      \
    X(CHEBYSHEV_FIRST, "chebyshev: omega_2 as all later ones")                                               \
    X(OEM_ODD, "OEM: the host without the bit always has the odd unit")                                      \
    X(DEM_ODD, "DEM: the larger gives the odd unit")                                                         \
    X(DEM_TABLE_BAND, "DEM of Table 1: a difference of 1 moves")                                             \
    X(CWA_FLOOR, "CWA: the lower half has the ceiling")                                                      \
    X(CWA_QUOTA, "CWA: hosts give without regard to their quota")                                            \
    X(CWA_COLLECTION, "CWA: loads are collected in log N steps")                                             \
    X(HYBRID_ORDER, "hybrid: OEM in one dimension less")                                                     \
    X(EDGE_REMAP_BRANCH, "Fig. 9: the second branch as printed")                                             \
    X(TERMINATION_STEP, "termination: the counter grows by 2")                                               \
    X(TERMINATION_EARLY, "termination: the diameter itself is enough")                                       \
    X(THEOREM_1_CONNECTED, "CYB89 Theorem 1 without connectivity")                                           \
    X(THEOREM_1_OWN, "CYB89 Theorem 1 without the share of one's own")                                       \
    X(THEOREM_1_BIPARTITE, "CYB89 Theorem 1: every network is bipartite")                                    \
    X(LEMMA_2_FEASIBLE, "CYB89 Lemma 2 without feasibility")                                                 \
    X(LAMBDA_SCAN, "lambda_opt: a scan of 3 intervals for 24")                                               \
    X(LAMBDA_REFINED, "lambda_opt: no refinement")                                                           \
    X(LAMBDA_RING, "lambda_opt: a ring's as a chain's")                                                      \
    X(GAMMA_AXIS, "gamma of a sweep: half the phase")                                                        \
    X(GAMMA_ODD, "gamma of a sweep: odd rings by the formula of even ones")                                  \
    X(LAPLACIAN_ODD, "Laplacian: an odd ring's largest eigenvalue is 4")                                     \
    X(VARIANCE_DIFFUSION, "CYB89 Theorem 2: the mode of the mean is counted")                                \
    X(VARIANCE_BOUND, "CYB89 Theorem 2: gamma for gamma^2")                                                  \
    X(VARIANCE_EXCHANGE, "CYB89 Theorem 5: n/2^k for n/2^k - 1")                                             \
    X(OVERLAP, "overlapping: a host keeps one unit")                                                         \
    X(PIPELINE, "pipelining: one link a step")                                         \
    X(STOP_LEVEL, "a run ends at twice the bound")                                                           \
    X(STOP_NEIGHBOURS, "a run ends when neighbours differ by twice the bound")                               \
    X(FIELD_BORDER, "field: the last host of an axis is linked to the first")                                \
    X(WALK_REFLECTION, "SAN Theorem 5: the mirror image begins one place late")                              \
    X(WALK_PLANE, "SAN Theorem 15: one of the two walks for both")                                           \
    X(KERNEL_MEAN, "embedding: a vertex counts itself among its neighbours")                                 \
    X(KERNEL_JACOBI, "embedding: all at once, but new positions are used")                                   \
    X(ORDER_REPLACEMENT, "embedding: draws with replacement leave out a quarter")                            \
    X(START_CENTRE, "embedding: the centre is at 0.45")                                                      \
    X(PIN_PERIMETER, "embedding: a side has its pins in its first nine tenths")                              \
    X(WHITEN_VARIANCE, "normalization: variance 1/10 for 1/12")                                              \
    X(WHITEN_SHEAR, "normalization: axes stay correlated")                                                   \
    X(CELL_WEIGHT, "regions: power weights are not looked at")                                               \
    X(CELL_GAIN, "regions: weights change against the lack")                                                 \
    X(CELL_SHARE, "regions: equal shares for unequal capacities")                                            \
    X(LATTICE_FACTOR, "HEI97 (6): one interval more")                                                        \
    X(LATTICE_DECAY, "HEI97 (13): as printed, over n")

enum lbm_mutant {
#define LBM_MUTANT_ENUM(id, text) LBM_MUTANT_##id,
    LBM_MUTANT_LIST(LBM_MUTANT_ENUM)
#undef LBM_MUTANT_ENUM
        LBM_MUTANT_COUNT
};

#ifdef LBM_MUTANTS
extern enum lbm_mutant lbm_mutant; /* of the program that was built so */
#define LBM_MUTANT(id, right, wrong) (lbm_mutant == LBM_MUTANT_##id ? (wrong) : (right))
#else
#define LBM_MUTANT(id, right, wrong) (right)
#endif

#endif
