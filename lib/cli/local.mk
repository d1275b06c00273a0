# lib/cli
noinst_LIBRARIES += lib/cli/libcli.a
lib_cli_libcli_a_SOURCES = lib/cli/command.h lib/cli/help.c lib/cli/message.c lib/cli/options.c \
	lib/cli/options.h lib/cli/program.c
