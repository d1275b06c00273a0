#!/usr/bin/env bash
# A host that stands still and a link that takes its time hold nobody up, with real daemons: the others have
# their share and settle, and all of them once it goes on. How long it takes is printed.
for tool in python3 sqlite3; do
    command -v "$tool" >/dev/null && continue
    echo "skipped: $tool is not installed (apt-get install $tool)"
    exit 77
done
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
log=local # balancing is what this is about
. "$tests/field_lib.sh"
. "$tests/delay_lib.sh"

# part PHASE LEAST MOST: hosts that take part are in that phase, and host 0 has that many vertices.
part() {
    ask 0 jobs job --json >"$scratch/json" # status 5 while a host is away
    grep -q "\"heard_phase\": \"$1\"" "$scratch/json" &&
        at_most "$2" "$(field 0 8)" && at_most "$(field 0 8)" "$3"
}
# step CAPACITY LEAST MOST TEXT: host 0 is to have so much; sets `took`, milliseconds.
step() {
    local begin
    begin=$(now_us)
    expect "a capacity of $1" ask 0 set 0 --capacity "$1"
    until_true 60 "$4" part SETTLED "$2" "$3" || return
    took=$((($(now_us) - begin) / 1000))
    ok "$4: after $took ms"
}

start mesh:2x3
"$lbctl" -q cluster down --dir "$dir"
for host in 0 1 2 3 4 5; do
    echo 'evict = { percent = 0.0; };' >>"$dir/h$host/lbmapd.conf"
done
expect "it is up again, and nobody is evicted" "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon"
expect "gen" "$lbctl" -q gen lattice:30x30 -o "$scratch/guest.graph"
expect "submit" ask 0 -q submit "$scratch/guest.graph" --name job
expect "it settles" settles 0 job
[ "$failed" -eq 0 ] || { tail -n 3 "$dir"/h*/lbmapd.log; exit 1; }

# Capacity 3 of 8: 337 of 900 vertices, less while a host stands still: it and whose backup it is keep 150 each.
step 3 320 355 "host 0 has its share"
without=$took
until_true 60 "it settles" has_settled
step 1 140 160 "it gives it back"
until_true 60 "it settles" has_settled

# others HOST: that many hosts give one another vertices, host 0 among them, while that one stands still: it and those
# whose backup it is give none. None at all if it is the backup of host 0.
others() {
    ask 0 hosts | awk -v still="$1" '
        NR > 1 { backup[$1] = $9 }
        END {
            split("0-1 0-2 1-3 2-3 2-4 3-5 4-5", link)
            n = there[0] = backup[0] != still
            for (round = 1; round <= 6; round++)
                for (i in link) {
                    split(link[i], end, "-")
                    for (k = 1; k <= 2; k++)
                        if (there[end[k]] && !there[end[3 - k]] && end[3 - k] != still && backup[end[3 - k]] != still)
                            n += there[end[3 - k]] = 1
                }
            print n
        }'
}
still=0 most=2
for host in 3 4 5; do
    n=$(others "$host")
    [ "$n" -le "$most" ] || still=$host most=$n
done
[ "$still" -ne 0 ] || { bad "no host can stand still: $(ask 0 hosts)"; exit 1; }
expect "host $still stands still" "$lbctl" -q cluster kill "$still" --signal STOP --dir "$dir"
sleep 3
step 3 220 355 "host 0 has its share, the others have settled"
at_most "$took" "$((2 * without + 5000))" || bad "it took $took ms, and $without ms with all hosts"
refused 5 "host $still is unreachable" ask 0 wait job --timeout 0.5
expect "host $still goes on" "$lbctl" -q cluster kill "$still" --signal CONT --dir "$dir"
until_true 60 "all have settled" has_settled
step 1 140 160 "host 0 gives it back"
until_true 60 "it settles" has_settled

slow_link 200 1 4
sleep 5
step 3 220 355 "host 0 has its share next to a slow link"
at_most "$took" "$((2 * without + 5000))" || bad "it took $took ms, and $without ms without a slow link"
until_true 60 "all have settled" has_settled
step 1 140 160 "it gives it back"
until_true 60 "it settles" has_settled
! grep -q Traceback "$scratch/delayer" || bad "$(tail -n 5 "$scratch/delayer")"
one_owner job 900
exit "$failed"
