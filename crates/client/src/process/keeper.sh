# Ends what a process leaves behind when it is killed. POSIX, with nothing but grep and sleep.
#
# The first argument is a pattern for the environment of everything that belongs to that process.
# Standard input is held open by it: each line is such a pattern for what is to be ended at once, and
# its end means that the process has ended.

trap '' HUP INT TERM

# Finds the running processes that have $1 in their environment, those in a group or session that
# one of them leads, and all that descend from them: numbers in $running. Those found before stay in
# $known with their start time, so that they are found when their parents have ended. The groups of
# those with the pattern are in $groups.
look() {
    marked=' '
    for file in $(grep -l -e "$1" /proc/[0-9]*/environ </dev/null); do
        file=${file#/proc/}
        marked="$marked${file%%/*} "
    done
    running=
    groups=
    [ "$marked$known" = '  ' ] && return
    ours=' '
    grown=yes
    while [ "$grown" ]; do
        grown=
        for file in /proc/[0-9]*/stat; do
            IFS= read -r stat <"$file" || continue
            pid=${stat%% *}
            case $ours in *" $pid "*) continue ;; esac
            # After the name: 1 state, 2 parent, 3 group, 4 session, 20 start time.
            set -- ${stat##*) }
            id="$pid:${20}"
            case "$marked=$known" in
            *" $pid "*=*) groups="$groups -$3" ;;
            *=*" $id "*) ;;
            *)
                case $ours in
                *" $2 "* | *" $3 "* | *" $4 "*) ;;
                *) continue ;;
                esac
                ;;
            esac
            ours="$ours$pid "
            grown=yes
            case $1 in Z | X) continue ;; esac
            running="$running $pid"
            case $known in *" $id "*) ;; *) known="$known$id " ;; esac
        done
    done
}

# Asks what is found to end, waits half a second, kills what is still there, and looks again until
# nothing is found: something may have been started between look and signal. Whole groups are
# killed, so that what forks and ends all the time does not get away.
sweep() {
    known=' '
    tries=0
    while [ $tries -lt 600 ]; do
        look "$1"
        [ "$running" ] || return
        if [ $tries -eq 0 ]; then
            kill -s TERM $running
        elif [ $tries -ge 10 ]; then
            kill -s KILL -- $running $groups
        fi
        tries=$((tries + 1))
        sleep 0.05 </dev/null || sleep 1 </dev/null
    done
}

while IFS= read -r pattern; do
    sweep "$pattern"
done
sweep "$0"
