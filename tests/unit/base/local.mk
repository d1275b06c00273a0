# tests/unit/base
# Errors, memory, id maps, random streams.
# Numbers that leave the program do not change.
unit_base_tests = tests/unit/base/test_base tests/unit/base/test_numbers
check_PROGRAMS += $(unit_base_tests)
TESTS += $(unit_base_tests)
tests_unit_base_test_base_SOURCES = tests/unit/base/test_base.c
tests_unit_base_test_base_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_base_test_base_LDADD = lib/base/libbase.a $(CMOCKA_LIBS)
tests_unit_base_test_numbers_SOURCES = tests/unit/base/test_numbers.c
tests_unit_base_test_numbers_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS) $(PROTOBUF_CFLAGS)
tests_unit_base_test_numbers_LDADD = $(CMOCKA_LIBS)
$(tests_unit_base_test_numbers_OBJECTS): $(pb_headers)
