/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast loads level: the spectrum of the Laplacian of H, of diffusion matrices, of sweeps of exchange.
 *
 * Hosts may differ in capacity. What is balanced is the load relative to the capacity, x_p = w_p / s_p, with
 * the capacities scaled to a mean of 1; gamma is the factor by which the slowest part of the deviation from
 * the balanced load shrinks.  ARPACK (igraph) is called: one thread at a time. */
#ifndef LBM_HOST_SPECTRUM_H
#define LBM_HOST_SPECTRUM_H

#include "host/colouring.h"

/* ---- the Laplacian ------------------------------------------------------------------------------- */

/* Ends of the spectrum of S^-1/2 L S^-1/2 without its eigenvalue 0: of the Laplacian if capacities agree. */
struct lbm_laplacian {
    double lambda_2, lambda_max; /* 0 for one host */
    int closed_form;
};

/* Closed forms: chain, ring, mesh, torus, hypercube, star, complete, with equal capacities.
 * Returns 0, *out untouched, if there is none. */
int lbm_laplacian_closed(const struct lbm_hosts *h, struct lbm_laplacian *out);

/* By ARPACK, whatever h is; the closed form's judge.
 * Errors: LBM_E_NOMEM; LBM_E_STATE if the eigensolver does not converge. */
enum lbm_err lbm_laplacian_numeric(const struct lbm_hosts *h, struct lbm_laplacian *out) LBM_MUST_CHECK;

/* The closed form if there is one, else ARPACK.  Errors: as above. */
enum lbm_err lbm_laplacian_of(const struct lbm_hosts *h, struct lbm_laplacian *out) LBM_MUST_CHECK;

/* The distinct eigenvalues of S^-1/2 L S^-1/2 but 0, as many as steps that OPS needs (Diekmann, Frommer and
 * Monien 1999). Closed forms where lbm_laplacian_closed has them, else all of the matrix by LAPACK. Two that
 * differ by less than 1e-9 of the largest count as one.
 * Out:     *value [*n] rising; owned by the caller, free().
 * Errors:  LBM_E_NOMEM; LBM_E_STATE; LBM_E_LIMIT no closed form and more than LBM_SPECTRUM_HOSTS_MAX hosts.
 * Cost:    O(n^3) without a closed form. */
enum { LBM_SPECTRUM_HOSTS_MAX = 1024 }; /* a second of work, 16 MiB */
enum lbm_err lbm_laplacian_distinct(const struct lbm_hosts *h, double **value, uint32_t *n) LBM_MUST_CHECK;

/* All eigenvalues of a symmetric matrix, n >= 1, and the eigenvectors if asked for.
 * In: a [n * n].  Out: value [n] rising; vector [n * n], row k of value k, or NULL.
 * Errors: LBM_E_NOMEM; LBM_E_STATE if LAPACK fails. */
enum lbm_err lbm_eigen_all(const double *a, uint32_t n, double *value, double *vector) LBM_MUST_CHECK;

/* ---- diffusion (CYB89 section 2) ----------------------------------------------------------------- */

/* The best uniform alpha, 2 / (lambda_2 + lambda_max), and the safe one, 1 / (largest degree + 1). The best
 * may leave a host a negative share of its own load (CYB89's constraint (b)) and still converges. */
double lbm_alpha_optimal(const struct lbm_laplacian *l);
double lbm_alpha_safe(const struct lbm_hosts *h);

/* gamma of I - alpha L with uniform alpha: max(|1 - alpha lambda_2|, |1 - alpha lambda_max|). */
double lbm_gamma_uniform(const struct lbm_laplacian *l, double alpha);

/* Second largest and smallest eigenvalue of a diffusion matrix M (CYB89 (3)): gamma is the larger modulus.
 * In: alpha [offset[n]] by link direction, both directions equal, >= 0.
 * Errors: LBM_E_NOMEM; LBM_E_STATE if the eigensolver does not converge. */
enum lbm_err lbm_diffusion_ends(const struct lbm_hosts *h, const double *alpha, double *lambda_2,
                                double *lambda_n) LBM_MUST_CHECK;

/* CYB89 Lemma 2: kappa of the best feasible linear modification (M + kappa I) / (1 + kappa), the larger of
 * -(lambda_2 + lambda_n) / 2 and -own_least, the least diagonal entry of M. */
double lbm_modification(double lambda_2, double lambda_n, double own_least);

/* CYB89 Theorem 1, applied to a diffusion matrix. */
struct lbm_convergence {
    int connected;  /* the network that the alpha > 0 induce */
    int bipartite;  /* it is */
    int own_share;  /* some host keeps a share of its own load: 1 - sum alpha > 0 */
    int feasible;   /* no host gives away more than it has: 1 - sum alpha >= 0 everywhere */
    int converges;  /* by Theorem 1; if not feasible the theorem is silent and gamma < 1 decides */
    char text[256]; /* why, in words */
};

/* In: alpha as above.  Errors: as lbm_diffusion_ends (it is asked only where the theorem is silent). */
enum lbm_err lbm_convergence_check(const struct lbm_hosts *h, const double *alpha,
                                   struct lbm_convergence *out) LBM_MUST_CHECK;

/* ---- exchange (XL95 section 3) ------------------------------------------------------------------- */

/* gamma of one sweep M(lambda), colour by colour. In closed form for chains, meshes, hypercubes, and rings
 * and tori with even sides, of equal capacities; else numerically. In: h of the colouring, 0 <= lambda <= 1.
 * Errors: LBM_E_NOMEM. */
enum lbm_err lbm_gamma_sweep(const struct lbm_hosts *h, const struct lbm_colouring *c, double lambda,
                             double *gamma) LBM_MUST_CHECK;

/* The same, whatever h is: M is applied, never formed, by ARPACK; where that does not converge, as in large
 * networks near lambda_opt, by the decay of a random deviation, to some 1e-3.  Errors: LBM_E_NOMEM. */
enum lbm_err lbm_gamma_sweep_numeric(const struct lbm_hosts *h, const struct lbm_colouring *c, double lambda,
                                     double *gamma) LBM_MUST_CHECK;

/* lambda_opt in closed form: ring 1 / (1 + sin(2 pi / k)); chain, mesh 1 / (1 + sin(pi / k)), torus as ring,
 * k the largest side; hypercubes and k = 2: 1/2. Odd rings: approximately (*exact 0).
 * Returns 0 if h has none. */
int lbm_lambda_closed(const struct lbm_hosts *h, double *lambda, int *exact);

/* lambda_opt of any H, open in XL95: a scan, then a refinement; gamma(lambda) is not smooth and its minimum
 * may lie below 1/2.
 * Out: *lambda to about 1e-4, *gamma there.  Errors: as above.  Cost: some 40 spectra. */
enum lbm_err lbm_lambda_numeric(const struct lbm_hosts *h, const struct lbm_colouring *c, double *lambda,
                                double *gamma) LBM_MUST_CHECK;

#endif
