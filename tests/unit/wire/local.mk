# tests/unit/wire
# For scripts/same: samples of all messages as bytes.
unit_wire_tests = tests/unit/wire/test_wire tests/unit/wire/test_wire_rules
check_PROGRAMS += $(unit_wire_tests)
TESTS += $(unit_wire_tests)
check_PROGRAMS += tests/unit/wire/wire_bytes
tests_unit_wire_test_wire_SOURCES = tests/unit/wire/test_wire.c tests/unit/wire/wire_sample.c \
	tests/unit/wire/wire_sample.h
tests_unit_wire_test_wire_CFLAGS = $(AM_CFLAGS) $(PROTOBUF_CFLAGS) $(CMOCKA_CFLAGS)
tests_unit_wire_test_wire_LDADD = lib/wire/libwire.a lib/wire/libpb.a lib/base/libbase.a $(PROTOBUF_LIBS) \
	$(CMOCKA_LIBS) -lm
tests_unit_wire_test_wire_rules_SOURCES = tests/unit/wire/test_wire_rules.c tests/unit/wire/wire_sample.c \
	tests/unit/wire/wire_sample.h
tests_unit_wire_test_wire_rules_CFLAGS = $(tests_unit_wire_test_wire_CFLAGS)
tests_unit_wire_test_wire_rules_LDADD = $(tests_unit_wire_test_wire_LDADD)
tests_unit_wire_wire_bytes_SOURCES = tests/unit/wire/wire_bytes.c tests/unit/wire/wire_sample.c \
	tests/unit/wire/wire_sample.h
tests_unit_wire_wire_bytes_CFLAGS = $(tests_unit_wire_test_wire_CFLAGS)
tests_unit_wire_wire_bytes_LDADD = $(tests_unit_wire_test_wire_LDADD)
$(tests_unit_wire_test_wire_OBJECTS) $(tests_unit_wire_test_wire_rules_OBJECTS) \
	$(tests_unit_wire_wire_bytes_OBJECTS): $(pb_headers)
