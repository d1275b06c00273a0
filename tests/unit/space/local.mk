# tests/unit/space
unit_space_tests = tests/unit/space/test_interface tests/unit/space/test_space
check_PROGRAMS += $(unit_space_tests)
TESTS += $(unit_space_tests)
tests_unit_space_test_interface_SOURCES = tests/unit/space/test_interface.c tests/unit/space/regions_fixture.h
tests_unit_space_test_interface_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_space_test_interface_LDADD = lib/space/libspace.a lib/base/libbase.a $(CMOCKA_LIBS) -lm
tests_unit_space_test_space_SOURCES = tests/unit/space/test_space.c tests/unit/space/regions_fixture.h
tests_unit_space_test_space_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_space_test_space_LDADD = lib/space/libspace.a lib/base/libbase.a $(CMOCKA_LIBS) -lm
