# tests/unit/host
# Hosts, regions, exchange.
unit_host_tests = tests/unit/host/test_colour tests/unit/host/test_coordinates tests/unit/host/test_host \
	tests/unit/host/test_host_files tests/unit/host/test_host_networks tests/unit/host/test_host_read \
	tests/unit/host/test_sites tests/unit/host/test_spectrum
check_PROGRAMS += $(unit_host_tests)
TESTS += $(unit_host_tests)
host_test_libs = lib/host/libhost.a lib/graph/libgraph.a lib/base/libbase.a $(host_libs) $(graph_libs) \
	$(CMOCKA_LIBS)
tests_unit_host_test_host_SOURCES = tests/unit/host/test_host.c tests/unit/host/hosts_fixture.c \
	tests/unit/host/hosts_fixture.h
tests_unit_host_test_host_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_host_LDADD = $(host_test_libs)
tests_unit_host_test_coordinates_SOURCES = tests/unit/host/test_coordinates.c
tests_unit_host_test_coordinates_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_coordinates_LDADD = $(host_test_libs)
tests_unit_host_test_sites_SOURCES = tests/unit/host/test_sites.c tests/unit/host/hosts_fixture.c \
	tests/unit/host/hosts_fixture.h
tests_unit_host_test_sites_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_sites_LDADD = $(host_test_libs)
tests_unit_host_test_colour_SOURCES = tests/unit/host/test_colour.c tests/unit/host/hosts_fixture.c \
	tests/unit/host/hosts_fixture.h
tests_unit_host_test_colour_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_colour_LDADD = $(host_test_libs)
tests_unit_host_test_host_read_SOURCES = tests/unit/host/test_host_read.c
tests_unit_host_test_host_read_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_host_read_LDADD = $(host_test_libs)
tests_unit_host_test_host_files_SOURCES = tests/unit/host/test_host_files.c tests/unit/host/distance_check.c \
	tests/unit/host/distance_check.h
tests_unit_host_test_host_files_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_host_files_LDADD = $(host_test_libs)
tests_unit_host_test_host_networks_SOURCES = tests/unit/host/test_host_networks.c \
	tests/unit/host/distance_check.c tests/unit/host/distance_check.h
tests_unit_host_test_host_networks_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_host_networks_LDADD = $(host_test_libs)
tests_unit_host_test_spectrum_SOURCES = tests/unit/host/test_spectrum.c tests/unit/host/hosts_fixture.c \
	tests/unit/host/hosts_fixture.h
tests_unit_host_test_spectrum_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_host_test_spectrum_LDADD = $(host_test_libs)
