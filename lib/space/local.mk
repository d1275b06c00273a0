# lib/space
noinst_LIBRARIES += lib/space/libspace.a
lib_space_libspace_a_SOURCES = lib/space/space.h lib/space/balance.c lib/space/cells.c lib/space/cuts.c \
	lib/space/interface.c \
	lib/space/metric.h \
	lib/space/near.c lib/space/near.h lib/space/polygon.c lib/space/polygon.h lib/space/regions.c
