# lib/store
noinst_LIBRARIES += lib/store/libstore.a
lib_store_libstore_a_SOURCES = lib/store/apply.c lib/store/apply_replica.c lib/store/apply_rows.c \
	lib/store/blob.c lib/store/boot.c lib/store/check.c lib/store/column.c lib/store/files.c lib/store/internal.h \
	lib/store/load.c lib/store/schema.c \
	lib/store/sql.c lib/store/store.c lib/store/store.h
lib_store_libstore_a_CFLAGS = $(AM_CFLAGS) $(SQLITE_CFLAGS) $(ZLIB_CFLAGS)
