# lib/balance
noinst_LIBRARIES += lib/balance/libbalance.a
lib_balance_libbalance_a_SOURCES = lib/balance/balance.h lib/balance/advise.c lib/balance/arrivals.c \
	lib/balance/diffusion.c lib/balance/exchange.c lib/balance/explain.c lib/balance/field.c \
	lib/balance/field.h lib/balance/field_internal.h lib/balance/field_time.c lib/balance/flow.c \
	lib/balance/flow.h lib/balance/least.c lib/balance/matching.c lib/balance/maxflow.c \
	lib/balance/maxflow.h lib/balance/ops.c lib/balance/potentials.c lib/balance/weights.c \
	lib/balance/whole.c lib/balance/whole.h lib/balance/gde.c lib/balance/hypercube.c lib/balance/internal.h \
	lib/balance/flow_computation.c lib/balance/flow_computation.h lib/balance/policy.c \
	lib/balance/policy.h lib/balance/rule.c \
	lib/balance/run.c lib/balance/schedule.c lib/balance/schedule.h lib/balance/termination.c \
	lib/balance/variance.c lib/balance/walk.c
