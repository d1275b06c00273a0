# lib/file
noinst_LIBRARIES += lib/file/libfile.a
lib_file_libfile_a_SOURCES = lib/file/archive.c lib/file/checksum.c lib/file/file.h lib/file/hosts.c \
	lib/file/internal.h \
	lib/file/load.c lib/file/own.c lib/file/own.h lib/file/read.c lib/file/utf16.c lib/file/write.c
lib_file_libfile_a_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS) $(ARCHIVE_CFLAGS)
