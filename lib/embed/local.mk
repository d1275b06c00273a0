# lib/embed
noinst_LIBRARIES += lib/embed/libembed.a
lib_embed_libembed_a_SOURCES = lib/embed/coarsen.h lib/embed/contract.c lib/embed/diffuse.c \
	lib/embed/embed.h lib/embed/levels.c lib/embed/main_axis.h lib/embed/matching.c lib/embed/modes.c \
	lib/embed/moments.c lib/embed/order.c lib/embed/order.h lib/embed/pins.c lib/embed/pivot_sums.c \
	lib/embed/pivots.c lib/embed/rules.c lib/embed/rules.h lib/embed/start.c
