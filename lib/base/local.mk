# lib/base
noinst_LIBRARIES += lib/base/libbase.a
lib_base_libbase_a_SOURCES = lib/base/check.c lib/base/check.h lib/base/err.c lib/base/err.h lib/base/idmap.c \
	lib/base/idmap.h lib/base/limits.h lib/base/mem.c lib/base/mem.h lib/base/mutants.h lib/base/numbers.h \
	lib/base/rng.c lib/base/rng.h
