# tests/unit/pki
unit_pki_tests = tests/unit/pki/test_pki tests/unit/pki/test_tls
check_PROGRAMS += $(unit_pki_tests)
TESTS += $(unit_pki_tests)
pki_test_cflags = $(AM_CFLAGS) $(OPENSSL_CFLAGS) $(CMOCKA_CFLAGS)
pki_test_libs = lib/pki/libpki.a lib/base/libbase.a $(OPENSSL_LIBS) $(CMOCKA_LIBS)
tests_unit_pki_test_pki_SOURCES = tests/unit/pki/test_pki.c tests/unit/daemon/identities.h
tests_unit_pki_test_pki_CFLAGS = $(pki_test_cflags)
tests_unit_pki_test_pki_LDADD = $(pki_test_libs)
tests_unit_pki_test_tls_SOURCES = tests/unit/pki/test_tls.c tests/unit/daemon/identities.h
tests_unit_pki_test_tls_CFLAGS = $(pki_test_cflags)
tests_unit_pki_test_tls_LDADD = $(pki_test_libs)
