# lib/draw
noinst_LIBRARIES += lib/draw/libdraw.a
lib_draw_libdraw_a_SOURCES = lib/draw/draw.c lib/draw/draw.h lib/draw/draw_faces.c lib/draw/draw_inset.c \
	lib/draw/draw_labels.c lib/draw/draw_map.c lib/draw/draw_text.c lib/draw/palette.c lib/draw/palette.h \
	lib/draw/scene.c lib/draw/scene.h
lib_draw_libdraw_a_CFLAGS = $(AM_CFLAGS) $(CAIRO_CFLAGS)
