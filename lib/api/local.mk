# lib/api
# What applications link: base and wire compiled again for a shared library that exports lbmap_ alone.
include_HEADERS = include/lbmap.h include/lbmap_steps.h
lib_LTLIBRARIES = liblbmap.la
liblbmap_la_SOURCES = include/lbmap.h lib/api/call.c lib/api/call.h lib/api/mutants.h lib/api/system.c \
	lib/api/system.h lib/api/lbmap.c lib/api/change.c lib/api/sketch.c lib/api/sketch.h lib/api/talk.c \
	lib/api/load.c lib/api/page.c lib/api/page.h lib/api/lease.c lib/api/service.h lib/api/letters.h \
	lib/api/letters_desk.c lib/api/letters_rows.c lib/api/letters_rows.h lib/api/letters_turn.c lib/api/send.c \
	lib/api/send.h lib/api/peers.c lib/api/peers.h lib/api/steps.c lib/api/steps.h lib/api/steps_bytes.h \
	lib/api/steps_mail.c lib/api/steps_pieces.c lib/api/steps_line.c lib/api/steps_export.c lib/api/steps_end.c \
	lib/api/steps_reduce.c lib/api/steps_others.c lib/api/steps_vertices.c include/lbmap_steps.h lib/api/payloads.c lib/api/payloads.h \
	lib/api/returns.c lib/api/returns.h lib/api/serve.c lib/api/serve.h lib/api/checkpoint.c \
	lib/api/checkpoint.h lib/base/check.c lib/base/check.h lib/base/err.c lib/base/err.h lib/base/limits.h \
	lib/base/idmap.c lib/base/idmap.h lib/base/mem.c lib/base/mem.h $(lib_wire_libwire_a_SOURCES)
liblbmap_la_CFLAGS = $(AM_CFLAGS) $(PROTOBUF_CFLAGS) $(NETTLE_CFLAGS)
liblbmap_la_LIBADD = lib/api/libpb.la $(PROTOBUF_LIBS) $(NETTLE_LIBS) -lm
liblbmap_la_LDFLAGS = $(LBM_CFLAGS) $(LBM_RELRO) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(top_srcdir)/lib/api/liblbmap.map
EXTRA_liblbmap_la_DEPENDENCIES = lib/api/liblbmap.map
EXTRA_DIST += lib/api/liblbmap.map
noinst_LTLIBRARIES = lib/api/libpb.la
lib_api_libpb_la_SOURCES =
nodist_lib_api_libpb_la_SOURCES = $(pb_built)
lib_api_libpb_la_CFLAGS = $(LBM_CFLAGS) $(PROTOBUF_CFLAGS)
$(liblbmap_la_OBJECTS) $(lib_api_libpb_la_OBJECTS): $(pb_headers)
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = lib/api/lbmap.pc
