# lib/trace
noinst_LIBRARIES += lib/trace/libtrace.a
lib_trace_libtrace_a_SOURCES = lib/trace/read.c lib/trace/trace.c lib/trace/trace.h lib/trace/words.c \
	lib/trace/words.h lib/trace/write.c
