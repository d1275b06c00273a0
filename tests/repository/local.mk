# tests/repository
# The repository itself: arrows, packages, documents, words, constants, numbers that leave the program.
repository_scripts = tests/repository/constants.sh tests/repository/contracts.sh tests/repository/deps.sh \
	tests/repository/docs.sh tests/repository/glossary.sh tests/repository/hardening.sh tests/repository/layering.sh \
	tests/repository/licence.sh tests/repository/man.sh tests/repository/symbols.sh \
	tests/repository/wire_fields.sh tests/repository/words.sh
dist_check_SCRIPTS += $(repository_scripts)
TESTS += $(repository_scripts)
EXTRA_DIST += tests/repository/constants.txt tests/repository/wire_fields.txt
tests/repository/man.log: client/lbctl sim/lbsim papers/lbpapers
tests/repository/symbols.log: liblbmap.la
tests/repository/hardening.log: client/lbctl daemon/lbmapd sim/lbsim papers/lbpapers liblbmap.la
