/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look into the library: what a program holds. */
#ifndef LBM_SIM_PROGRAMS_HELD_H
#define LBM_SIM_PROGRAMS_HELD_H

#include <stdint.h>

struct lbm_page;
struct lbm_service;

/* The service that a lease page belongs to. */
struct lbm_service *held_service(struct lbm_page *page);
/* The token by which it holds a vertex, 0: it does not. */
uint64_t held_token(const struct lbm_service *service, uint32_t vertex);

#endif
