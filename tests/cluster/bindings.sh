#!/usr/bin/env bash
# The bindings for C++ and Fortran on four real daemons: docs/examples/heat.cpp and heat.f90 compute at once, a job
# each. The programs of host 0 are killed, so that all others wait for its vertices; host 3 is lost for good with its
# programs; those of host 0 are started again. Both fields are those of one loop in C, bit for bit. A function that
# throws, and an error of liblbmap, reach the caller.
#   HEAT_STEPS  steps of a vertex (1000)
cxx=$(command -v "${CXX:-g++}") fc=$(command -v "${FC:-gfortran}")
[ -n "$cxx$fc" ] || { echo "skipped: neither a C++ nor a Fortran compiler is installed"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
steps=${HEAT_STEPS:-1000}
library=$top_builddir/.libs
export LD_LIBRARY_PATH=$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if nm -D "$library/liblbmap.so" 2>/dev/null | grep -q __asan_; then
    echo "skipped: liblbmap is built with sanitizers"
    exit 77
fi

examples=$top_srcdir/docs/examples bindings=$top_srcdir/bindings languages=() others=() compiling=()
# compile NAME COMMAND...: in the background, while the cluster starts.
compile() {
    local name=$1
    shift
    "$@" -L"$library" -llbmap -o "$scratch/$name" >"$scratch/$name.made" 2>&1 </dev/null &
    compiling+=("$! $name")
}
have_compiled() {
    local p name
    while read -r p name; do
        if wait "$p"; then ok "$name compiles"; else bad "$name: $(head -n 5 "$scratch/$name.made")"; fi
    done < <(printf '%s\n' "${compiling[@]}")
}
exact=(-O1 -ffp-contract=off)
strict=(-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -I"$bindings/cpp" -I"$top_srcdir/include")
if [ -n "$cxx" ]; then
    compile cpp "$cxx" "${strict[@]}" "${exact[@]}" "$examples/heat.cpp"
    compile all "$cxx" "${strict[@]}" "$tests/bindings_all.cpp"
    languages+=(cpp)
else
    skip "C++: g++ is not installed"
fi
if [ -n "$fc" ]; then
    mkdir "$scratch/f"
    compile fortran "$fc" -std=f2018 "${exact[@]}" -J "$scratch" "$bindings/fortran/lbmap.f90" "$examples/heat.f90"
    cc -I"$top_srcdir/include" -c "$tests/bindings_sizes.c" -o "$scratch/sizes.o" || bad "bindings_sizes.c"
    compile sizes "$fc" -std=f2018 -J "$scratch/f" "$bindings/fortran/lbmap.f90" "$tests/bindings_sizes.f90" \
        "$scratch/sizes.o"
    languages+=(fortran)
else
    skip "Fortran: gfortran is not installed"
fi

# begin LANGUAGE HOST: its program.
begin() {
    "$scratch/$1" "$1" "$steps" "$scratch/$1.$2" "$dir/h$2/lbmapd.sock" 2>"$scratch/$1.error.$2" </dev/null &
    pid[$2]="${pid[$2]:-} $!"
}
# end HOST: its programs, at once.
end() {
    local p
    for p in ${pid[$1]}; do
        kill -KILL "$p" 2>/dev/null || bad "a program of host $1 has ended already: more HEAT_STEPS are needed"
        wait "$p" 2>/dev/null
    done
    pid[$1]=
}
declare -A pid
# shellcheck disable=SC2086
have_ended() { ! kill -0 ${pid[*]} 2>/dev/null; }
# shellcheck disable=SC2086
trap 'kill -KILL ${pid[*]} 2>/dev/null; finish' EXIT

start mesh:2x2
have_compiled
[ "$failed" -eq 0 ] || exit 1
[ -z "$fc" ] || expect "structs have the same layout in C and Fortran" "$scratch/sizes"
expect "a mesh" "$lbctl" -q gen airfoil:400 -o "$scratch/mesh.graph"
"$top_builddir/tests/cluster/heat_alone" "$scratch/mesh.graph" "$steps" >"$scratch/alone"
[ -z "$cxx" ] || others=(all other)
for job in "${languages[@]}" "${others[@]}"; do expect "$job: submit" ask 0 submit "$scratch/mesh.graph" --name "$job"; done
for job in "${languages[@]}" "${others[@]}"; do expect "$job: it settles" settles 0 "$job"; done
for language in "${languages[@]}"; do
    for host in 1 2 3; do begin "$language" "$host"; done
done
[ -z "$cxx" ] ||
    expect "a handle, callbacks, exceptions in C++" timeout 60 "$scratch/all" all other "$dir"/h*/lbmapd.sock
for language in "${languages[@]}"; do begin "$language" 0; done
sleep 0.5
end 0
began=$SECONDS
until_true 30 "in sync" in_sync
end 3
"$lbctl" -q cluster kill 3 --dir "$dir"
until_true 60 "host 3 is evicted" is_state 3 EVICTED && ok "host 3 is evicted after $((SECONDS - began)) s"
for language in "${languages[@]}"; do begin "$language" 0; done
patiently 60 have_ended || bad "the programs do not end"
for host in 0 1 2; do
    for p in ${pid[$host]}; do
        kill -0 "$p" 2>/dev/null || wait "$p" || bad "host $host: $(tail -qn 3 "$scratch"/*.error."$host")"
    done
done
# C++ writes what printf's %a does, Fortran 17 digits.
digits() { printf '%.16e\n' $(cat) | sed -E 's/e([+-])([0-9][0-9])$/e\10\2/'; }
same() {
    case $1 in
        cpp) cmp "$scratch/cpp.0" "$scratch/alone" ;;
        fortran) cmp <(tr -d ' ' <"$scratch/fortran.0" | tr E e) <(digits <"$scratch/alone") ;;
    esac
}
for language in "${languages[@]}"; do
    if same "$language"; then
        ok "$language: $(wc -l <"$scratch/alone") temperatures after $steps steps are those of one loop in C"
    else
        bad "$language: temperatures differ"
    fi
done

exit "$failed"
