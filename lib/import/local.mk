# lib/import
# What other programs recorded.
noinst_LIBRARIES += lib/import/libimport.a
lib_import_libimport_a_SOURCES = lib/import/vt.c lib/import/vt.h lib/import/vt_files.c lib/import/vt_guest.c \
	lib/import/vt_internal.h lib/import/vt_read.c
lib_import_libimport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
