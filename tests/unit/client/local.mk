# tests/unit/client
# The option parser; the programs that have commands, without a daemon.
unit_client_tests = tests/unit/client/test_drawing tests/unit/client/test_options
check_PROGRAMS += $(unit_client_tests)
TESTS += $(unit_client_tests)
tests_unit_client_test_drawing_SOURCES = tests/unit/client/test_drawing.c
tests_unit_client_test_drawing_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_client_test_drawing_LDADD = $(client_libs) $(CMOCKA_LIBS)
tests_unit_client_test_options_SOURCES = tests/unit/client/test_options.c
tests_unit_client_test_options_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_client_test_options_LDADD = client/libclient.a lib/cli/libcli.a lib/base/libbase.a $(CMOCKA_LIBS) -lm
