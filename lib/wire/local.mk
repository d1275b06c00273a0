# lib/wire
# The schema's C is generated into the build tree and compiled without our warnings: it is not our text.
pb_built = lib/wire/peer.pb-c.c lib/wire/peer.pb-c.h lib/wire/control.pb-c.c lib/wire/control.pb-c.h
BUILT_SOURCES += $(pb_built)
CLEANFILES += $(pb_built)
EXTRA_DIST += lib/wire/peer.proto lib/wire/control.proto
noinst_LIBRARIES += lib/wire/libpb.a
nodist_lib_wire_libpb_a_SOURCES = $(pb_built)
lib_wire_libpb_a_SOURCES =
lib_wire_libpb_a_CFLAGS = $(LBM_CFLAGS) $(PROTOBUF_CFLAGS)
lib/wire/peer.pb-c.c: lib/wire/peer.proto
	$(AM_V_GEN)$(MKDIR_P) lib/wire && $(PROTOC_C) -I$(top_srcdir)/lib --c_out=lib $(top_srcdir)/lib/wire/peer.proto
lib/wire/control.pb-c.c: lib/wire/control.proto lib/wire/peer.proto
	$(AM_V_GEN)$(MKDIR_P) lib/wire && $(PROTOC_C) -I$(top_srcdir)/lib --c_out=lib $(top_srcdir)/lib/wire/control.proto
lib/wire/peer.pb-c.h: lib/wire/peer.pb-c.c
	@test -f $@ || { rm -f lib/wire/peer.pb-c.c; $(MAKE) $(AM_MAKEFLAGS) lib/wire/peer.pb-c.c; }
lib/wire/control.pb-c.h: lib/wire/control.pb-c.c
	@test -f $@ || { rm -f lib/wire/control.pb-c.c; $(MAKE) $(AM_MAKEFLAGS) lib/wire/control.pb-c.c; }
# What includes wire/wire.h is compiled after this (a clean tree knows no dependencies yet).
pb_headers = lib/wire/peer.pb-c.h lib/wire/control.pb-c.h
noinst_LIBRARIES += lib/wire/libwire.a
lib_wire_libwire_a_SOURCES = lib/wire/wire.h lib/wire/check.c lib/wire/check.h lib/wire/check_control.c \
	lib/wire/check_peer.c lib/wire/frame.c lib/wire/lease_page.c lib/wire/lease_page.h lib/wire/pack.c \
	lib/wire/rules.h lib/wire/text.c lib/wire/unpack.c
lib_wire_libwire_a_CFLAGS = $(AM_CFLAGS) $(PROTOBUF_CFLAGS)
$(lib_wire_libpb_a_OBJECTS) $(lib_wire_libwire_a_OBJECTS): $(pb_headers)
