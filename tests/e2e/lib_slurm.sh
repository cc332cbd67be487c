# lib_slurm.sh - a Slurm of one node on loopback, in the script's folder: munge, slurmctld and slurmd, without systemd.
#
# usage, after lib_files.sh:  . "$(dirname "$0")/lib_slurm.sh"
#
# The daemons are children of the script. At its end, also by a signal, they and all processes of jobs are killed. The
# cluster claims more processors than the machine may have, because its jobs are small. slurm_begin ends the script
# with status 77 where Slurm can't run.

# shellcheck disable=SC2034 # CONTROLLER is for the script
SLURM=$WORK/slurm
export SLURM_CONF=$SLURM/slurm.conf

skip() {
    echo "skipped: $*"
    exit 77
}

# list_processes: prints the processes whose environment has this cluster's configuration, except this shell.
list_processes() {
    local file
    for file in /proc/[0-9]*/environ; do
        file=${file%/environ}
        [ "${file#/proc/}" -ne $$ ] || continue
        if grep -qzxF "SLURM_CONF=$SLURM_CONF" "$file/environ" 2>/dev/null; then
            echo "${file#/proc/}"
        fi
    done
}

slurm_end() {
    local pid
    trap '' TERM INT HUP
    for _ in 1 2 3 4 5; do # a process may start another one meanwhile
        for pid in $(jobs -p) $(list_processes); do
            kill -9 "$pid" 2>/dev/null
        done
        [ -n "$(list_processes)" ] || break
        sleep 0.2
    done
    wait 2>/dev/null
    ! mountpoint -q "$WORK/disk" 2>/dev/null || umount "$WORK/disk" || umount -l "$WORK/disk"
    rm -rf "$WORK"
}

# free_port: prints a port of loopback on which no program listens.
free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

write_configuration() {
    local host user
    host=$(hostname -s)
    user=$(id -un)
    cat >"$SLURM_CONF" <<END
ClusterName=pewter
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$SLURM/munge.socket,cred_expire=5
BatchStartTimeout=1
CredType=cred/munge
StateSaveLocation=$SLURM/state
SlurmdSpoolDir=$SLURM/spool
SlurmctldPidFile=$SLURM/slurmctld.pid
SlurmdPidFile=$SLURM/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MailProg=/bin/true
ReturnToService=2
KillWait=30
MessageTimeout=10
MaxArraySize=${MAX_ARRAY:-1001}
NodeName=$host NodeAddr=127.0.0.1 CPUs=${NODE_CPUS:-6} State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
}

# start_controller [option...]: starts slurmctld; its process is CONTROLLER.
start_controller() {
    slurmctld -D "$@" >>"$SLURM/slurmctld.log" 2>&1 &
    CONTROLLER=$!
}

# start_node: starts slurmd; its process is NODE.
start_node() {
    slurmd -D -N "$(hostname -s)" >>"$SLURM/slurmd.log" 2>&1 &
    NODE=$!
}

# in_job PROCESS: is it a process of a job?
in_job() {
    grep -qz '^SLURM_JOB_ID=' "/proc/$1/environ" 2>/dev/null
}

# hold_tasks: stops the processes of jobs; fails if there is none.
hold_tasks() {
    local pid held=1
    for pid in $(list_processes); do
        if in_job "$pid" && kill -STOP "$pid"; then
            held=0
        fi
    done 2>/dev/null
    return "$held"
}

# crash_node: kills slurmd and all processes of jobs, while some run. They are held first, so that none is at its end:
# the scheduler repeats a lost message only after a minute.
crash_node() {
    local pid
    wait_until 30 hold_tasks
    scontrol update NodeName="$(hostname -s)" State=DRAIN Reason=crash
    hold_tasks # those that began meanwhile
    sleep 1
    kill -9 "$NODE"
    for pid in $(list_processes); do
        if in_job "$pid" || [ "$(cat "/proc/$pid/comm")" = slurmstepd ]; then
            kill -9 "$pid"
        fi
    done 2>/dev/null
}

node_is_up() {
    case $(sinfo --noheader --format=%T 2>/dev/null) in idle | mixed | allocated) ;; *) return 1 ;; esac
}

# wait_until SECONDS COMMAND...: waits until the command succeeds.
wait_until() {
    local until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || return 1
        sleep 0.1
    done
}

slurm_begin() {
    local program
    for program in slurmctld slurmd munged sbatch squeue scancel scontrol sinfo; do
        PATH=$PATH:/usr/sbin:/sbin
        command -v "$program" >/dev/null || skip "$program is not installed (slurm-wlm, munge)"
    done
    trap slurm_end EXIT
    trap 'exit 1' TERM INT HUP
    mkdir -p "$SLURM/state" "$SLURM/spool"
    head -c 128 /dev/urandom >"$SLURM/munge.key"
    chmod 400 "$SLURM/munge.key"
    munged --foreground --force --key-file="$SLURM/munge.key" --socket="$SLURM/munge.socket" \
        --pid-file="$SLURM/munged.pid" --log-file="$SLURM/munged.log" --seed-file="$SLURM/munge.seed" \
        >>"$SLURM/munged.out" 2>&1 &
    wait_until 10 [ -S "$SLURM/munge.socket" ] || skip "munged doesn't start: $(tail -n 1 "$SLURM/munged.out")"
    write_configuration
    start_controller
    start_node
    wait_until 30 node_is_up || skip "slurmctld or slurmd doesn't start: $(tail -qn 2 "$SLURM"/slurm*.log)"
}
