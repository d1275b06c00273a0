# tests/unit/map
# Mappings: their cost and rounds of a pair, the stages of a plan, whole plans.
unit_map_tests = tests/unit/map/test_multistart tests/unit/map/test_objective tests/unit/map/test_pair_flow \
	tests/unit/map/test_pair_refinement tests/unit/map/test_plan tests/unit/map/test_remap \
	tests/unit/map/test_stages tests/unit/map/test_weights
check_PROGRAMS += $(unit_map_tests)
TESTS += $(unit_map_tests)
map_test_libs = $(map_libs) $(graph_libs) $(CMOCKA_LIBS)
tests_unit_map_test_objective_SOURCES = tests/unit/map/test_objective.c tests/unit/map/map_fixture.c \
	tests/unit/map/map_fixture.h
tests_unit_map_test_objective_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_map_test_objective_LDADD = $(map_test_libs)
pair_trial = tests/unit/map/pair_fixture.c tests/unit/map/pair_fixture.h tests/unit/map/map_fixture.c \
	tests/unit/map/map_fixture.h
tests_unit_map_test_pair_refinement_SOURCES = tests/unit/map/test_pair_refinement.c $(pair_trial)
tests_unit_map_test_pair_refinement_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_map_test_pair_refinement_LDADD = $(map_test_libs)
tests_unit_map_test_pair_flow_SOURCES = tests/unit/map/test_pair_flow.c $(pair_trial)
tests_unit_map_test_pair_flow_CFLAGS = $(tests_unit_map_test_pair_refinement_CFLAGS)
tests_unit_map_test_pair_flow_LDADD = $(map_test_libs)
tests_unit_map_test_stages_SOURCES = tests/unit/map/test_stages.c tests/unit/map/map_fixture.c \
	tests/unit/map/map_fixture.h
tests_unit_map_test_stages_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_map_test_stages_LDADD = $(map_test_libs)
tests_unit_map_test_plan_SOURCES = tests/unit/map/test_plan.c tests/unit/map/map_fixture.c \
	tests/unit/map/map_fixture.h
tests_unit_map_test_plan_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_map_test_plan_LDADD = $(map_test_libs)
tests_unit_map_test_weights_SOURCES = tests/unit/map/test_weights.c tests/unit/map/map_fixture.c \
	tests/unit/map/map_fixture.h
tests_unit_map_test_weights_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_map_test_weights_LDADD = $(map_test_libs)
tests_unit_map_test_remap_SOURCES = tests/unit/map/test_remap.c tests/unit/map/map_fixture.c \
	tests/unit/map/map_fixture.h
tests_unit_map_test_remap_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_map_test_remap_LDADD = $(map_test_libs)
tests_unit_map_test_multistart_SOURCES = tests/unit/map/test_multistart.c tests/unit/map/map_fixture.c \
	tests/unit/map/map_fixture.h
tests_unit_map_test_multistart_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_map_test_multistart_LDADD = lib/threads/libthreads.a $(map_test_libs)
