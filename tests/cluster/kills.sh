#!/usr/bin/env bash
# Twelve real daemons with an application each. Again and again one host is lost for good: daemon and application
# are killed and its folder is emptied. Measured is how long it takes until others work on all that it had, with
# higher tokens. Then it comes back, as a new incarnation with nothing.
#   KILLS_RUNS   how often (1)
#   KILLS_HOW    kill (default); crash: its folder stays; stop: the daemon is frozen for a minute instead, every other
#                time its application too; the returned daemon finds itself evicted and begins again
#   KILLS_HOSTS  the cluster (mesh:4x3)
#   KILLS_GUEST  vertices of the job, if not 4elt
#   KILLS_SEED   which hosts
#   KILLS_BOUND  seconds that 99 runs of 100 may take; otherwise they are only printed. 13 where the machine has
#                nothing else to do
command -v sqlite3 >/dev/null || { echo "skipped: sqlite3 is not installed (apt-get install sqlite3)"; exit 77; }
. "${top_srcdir:?run by make check}/tests/cluster/cluster_lib.sh"
. "$tests/field_lib.sh"
runs=${KILLS_RUNS:-1}
how=${KILLS_HOW:-kill}
bound=${KILLS_BOUND:-none}
RANDOM=${KILLS_SEED:-$$}
echo "seed of this run: KILLS_SEED=${KILLS_SEED:-$$}"

# take_away HOST RUN
take_away() {
    if [ "$how" = stop ]; then
        [ $(($2 % 2)) -eq 1 ] || kill -STOP "${worker_pid[$1]}"
        "$lbctl" cluster kill "$1" --signal STOP --dir "$dir"
    else
        kill -KILL "${worker_pid[$1]}"
        "$lbctl" cluster kill "$1" --dir "$dir"
        [ "$how" = crash ] || find "$dir/h$1" -mindepth 1 ! -name lbmapd.conf ! -path "*/identity*" -delete
    fi
}

# moved HOST: of what it had (file lost) is now worked on elsewhere; prints how many, and when the last came.
moved() {
    local host
    for host in "${!worker_pid[@]}"; do
        [ "$host" -eq "$1" ] || tail -c "+$((${size[$host]} + 1))" "${history_of[$host]}"
    done | awk -v lost="$scratch/lost" '
        BEGIN { while ((getline line < lost) > 0) { split(line, part, " "); token[part[1]] = part[2] } }
        $2 == "acquire" && ($3 in token) && $4 > token[$3] && !($3 in first) { first[$3] = $1 }
        END { for (v in first) { n++; if (first[v] > last) last = first[v] } printf "%d %.0f\n", n, last }'
}

# pieces HOST: seconds from the loss until a host says so, until the log has it, until another host has taken over, by the
# logs of the daemons since then (wall).
pieces() {
    cat "$dir"/h*/lbmapd.log | python3 -c '
import datetime, sys
host, begin = sys.argv[1], float(sys.argv[2])
marks = {"said": "host %s (h%s) is unreachable, and others say so too" % (host, host), "logged": "host %s is evicted;" % host,
         "taken over": "took over from host %s:" % host}
first = {}
for line in sys.stdin:
    for name, mark in marks.items():
        if mark in line:
            at = datetime.datetime.strptime(line.split()[0], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
            if at.timestamp() >= begin:
                first[name] = min(first.get(name, 1e9), at.timestamp() - begin)
print(", ".join("%s %.2f" % (name, first[name]) for name in marks if name in first))' "$1" "$wall"
}

# run NUMBER
run() {
    local host=$((1 + RANDOM % (hosts - 1))) # host 0 is the one that is asked, and may order the control log
    local wall other begin n last wanted seconds incarnation
    declare -A size
    incarnation=$(field "$host" 14)
    held "${history_of[$host]}" >"$scratch/lost"
    wanted=$(wc -l <"$scratch/lost")
    [ "$wanted" -eq "$(field "$host" 8)" ] || bad "run $1: host $host has $(field "$host" 8) vertices, its application $wanted"
    for other in "${!worker_pid[@]}"; do size[$other]=$(stat -c %s "${history_of[$other]}"); done
    begin=$(now_us)
    wall=$(date +%s.%N)
    take_away "$host" "$1"
    run_elsewhere() { read -r n last < <(moved "$host"); [ "$n" -ge "$wanted" ]; }
    if ! patiently 60 run_elsewhere; then
        bad "run $1: host $host: $n of $wanted vertices run elsewhere"
        return 1
    fi
    seconds=$(awk -v a="$begin" -v b="$last" 'BEGIN { printf "%.2f", (b - a) / 1e6 }')
    echo "$seconds" >>"$scratch/seconds"
    pieces "$host" >"$scratch/pieces"
    cat "$scratch/pieces" >>"$scratch/all_pieces"
    if [ "$how" = stop ]; then
        last=$(((begin + 60000000 - $(now_us)) / 1000000))
        [ "$last" -le 0 ] || sleep "$last"
        "$lbctl" cluster kill "$host" --signal CONT --dir "$dir"
        kill -CONT "${worker_pid[$host]}"
    else
        "$lbctl" -q cluster up --dir "$dir" --daemon "$daemon" >"$scratch/output" 2>&1 || bad "run $1: host $host: $(cat "$scratch/output")"
        work "$host"
    fi
    until_true 60 "run $1: host $host is back" is_state "$host" ACTIVE
    [ "$(field "$host" 14)" -gt "$incarnation" ] || bad "run $1: host $host comes back with what it had"
    sleep 1 # so that rounds have begun
    settles 0 job >"$scratch/output" 2>&1 || bad "run $1: does not settle: $(tail -n 3 "$scratch/output")"
    until_true 30 "run $1: in sync" in_sync
    until_true 30 "run $1: every vertex is worked on" all_worked_on
    printf 'run %s: host %s, %s vertices: all run elsewhere after %s s; %s; settled again after %s s; load %s\n' "$1" "$host" \
        "$wanted" "$seconds" "$(cat "$scratch/pieces")" "$(((($(now_us) - begin)) / 1000000))" "$(cut -d' ' -f1 /proc/loadavg)"
    one_owner job "$vertices" | grep -v '^ok'
}

field_start "${KILLS_HOSTS:-mesh:4x3}" ${KILLS_GUEST:+"airfoil:$KILLS_GUEST"}
for ((i = 1; i <= runs && failed == 0; i++)); do run "$i"; done
one_owner job "$vertices"
field_end
[ "$bound" != none ] || bound=$((1 << 30))
distribution "runs, seconds until all runs elsewhere" "$bound" <"$scratch/seconds"
for piece in said logged "taken over"; do
    sed -nE "s/.*$piece ([0-9.]+).*/\1/p" "$scratch/all_pieces" | distribution "  $piece after, seconds" "$bound"
done
late=$(awk -v bound="$bound" '$1 > bound' "$scratch/seconds" | wc -l)
if [ $((late * 100)) -le "$runs" ]; then ok "$late of $runs runs took longer than $bound s"; else bad "$late of $runs runs took longer than $bound s"; fi
[ "$failed" -eq 0 ] || tail -n 5 "$dir"/h*/lbmapd.log
exit "$failed"
