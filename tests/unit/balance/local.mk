# tests/unit/balance
unit_balance_tests = tests/unit/balance/test_balance tests/unit/balance/test_flow \
	tests/unit/balance/test_neighbour_policy tests/unit/balance/test_policy \
	tests/unit/balance/test_policy_auto
check_PROGRAMS += $(unit_balance_tests)
TESTS += $(unit_balance_tests)
tests_unit_balance_test_balance_SOURCES = tests/unit/balance/test_balance.c
tests_unit_balance_test_balance_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_balance_test_balance_LDADD = lib/balance/libbalance.a lib/base/libbase.a $(CMOCKA_LIBS) -lm
tests_unit_balance_test_flow_SOURCES = tests/unit/balance/test_flow.c $(field_make)
tests_unit_balance_test_flow_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_balance_test_flow_LDADD = lib/balance/libbalance.a $(host_test_libs)
tests_unit_balance_test_neighbour_policy_SOURCES = tests/unit/balance/test_neighbour_policy.c \
	tests/unit/host/hosts_fixture.c tests/unit/host/hosts_fixture.h
tests_unit_balance_test_neighbour_policy_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_balance_test_neighbour_policy_LDADD = lib/balance/libbalance.a $(host_test_libs)
field_make = tests/unit/balance/field_fixture.c tests/unit/balance/field_fixture.h \
	tests/unit/host/hosts_fixture.c tests/unit/host/hosts_fixture.h
tests_unit_balance_test_policy_SOURCES = tests/unit/balance/test_policy.c $(field_make)
tests_unit_balance_test_policy_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_balance_test_policy_LDADD = lib/balance/libbalance.a $(host_test_libs)
tests_unit_balance_test_policy_auto_SOURCES = tests/unit/balance/test_policy_auto.c $(field_make)
tests_unit_balance_test_policy_auto_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_balance_test_policy_auto_LDADD = lib/balance/libbalance.a $(host_test_libs)
