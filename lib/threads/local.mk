# lib/threads
noinst_LIBRARIES += lib/threads/libthreads.a
lib_threads_libthreads_a_SOURCES = lib/threads/parallel.c lib/threads/parallel.h
lib_threads_libthreads_a_CFLAGS = $(AM_CFLAGS) -pthread
