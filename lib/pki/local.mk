# lib/pki
noinst_LIBRARIES += lib/pki/libpki.a
lib_pki_libpki_a_SOURCES = lib/pki/approvals.c lib/pki/certificate.c lib/pki/context.c lib/pki/identity.c \
	lib/pki/lock.c lib/pki/pki.h \
	lib/pki/subject.c lib/pki/token.c lib/pki/tokens.c
lib_pki_libpki_a_CFLAGS = $(AM_CFLAGS) $(OPENSSL_CFLAGS)
