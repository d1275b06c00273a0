# tests/sim
# lbsim: seeds, races told step by step, experiments.
sim_scripts = tests/sim/balance.sh tests/sim/change.sh tests/sim/converge.sh tests/sim/diffuse.sh tests/sim/disturb.sh \
	tests/sim/drift.sh tests/sim/programs.sh tests/sim/races.sh \
	tests/sim/scale.sh \
	tests/sim/seeds.sh tests/sim/vt.sh
dist_check_SCRIPTS += $(sim_scripts)
TESTS += $(sim_scripts)
EXTRA_DIST += tests/sim/lbsim_lib.sh tests/races tests/vt
tests/sim/change.log tests/sim/converge.log tests/sim/diffuse.log tests/sim/disturb.log tests/sim/scale.log \
	tests/sim/vt.log: sim/lbsim
tests/sim/seeds.log: sim/lbsim sim/lbsim-bugs
tests/sim/programs.log: sim/lbsim sim/lbsim-bugs
tests/sim/balance.log: sim/lbsim
tests/sim/races.log: sim/lbsim sim/lbsim-bugs
