# tests/tools
# lbctl without a daemon.
tools_scripts = tests/tools/graph_from.sh tests/tools/launch.sh \
	tests/tools/lbctl_offline.sh tests/tools/odd_files.sh
dist_check_SCRIPTS += $(tools_scripts)
TESTS += $(tools_scripts)
EXTRA_DIST += tests/tools/installcheck.sh
