# tests/unit/sim
# The simulator itself: its disks, clocks and checks; a few seeds, replayed.
unit_sim_tests = tests/unit/sim/test_replay tests/unit/sim/test_sim tests/unit/sim/test_sim_checks
check_PROGRAMS += $(unit_sim_tests)
TESTS += $(unit_sim_tests)
tests_unit_sim_test_replay_SOURCES = tests/unit/sim/test_replay.c
tests_unit_sim_test_replay_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_sim_test_replay_LDADD = sim/libexperiment.a lib/trace/libtrace.a $(tests_unit_node_test_node_LDADD)
tests_unit_sim_test_sim_SOURCES = tests/unit/sim/test_sim.c tests/unit/sim/disk_fixture.c \
	tests/unit/sim/disk_fixture.h
tests_unit_sim_test_sim_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_sim_test_sim_LDADD = $(tests_unit_node_test_node_LDADD)
tests_unit_sim_test_sim_checks_SOURCES = tests/unit/sim/test_sim_checks.c tests/unit/sim/disk_fixture.c \
	tests/unit/sim/disk_fixture.h
tests_unit_sim_test_sim_checks_CFLAGS = $(tests_unit_node_test_node_CFLAGS)
tests_unit_sim_test_sim_checks_LDADD = $(tests_unit_node_test_node_LDADD)
$(tests_unit_sim_test_replay_OBJECTS) $(tests_unit_sim_test_sim_OBJECTS) \
	$(tests_unit_sim_test_sim_checks_OBJECTS): $(pb_headers)
