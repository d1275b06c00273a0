# tests/papers
# lbpapers: every number of the papers.
papers_scripts = tests/papers/tables.sh
dist_check_SCRIPTS += $(papers_scripts)
TESTS += $(papers_scripts)
tests/papers/tables.log: sim/lbsim papers/lbpapers
