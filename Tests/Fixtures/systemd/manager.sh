#!/bin/bash
# A real systemd user manager, with a journal, for one test. Used by UserManager.swift, as root:
#
#     manager.sh outside DIR     makes the namespaces and runs the rest in them, until it is killed
#     manager.sh inside DIR      the rest, as process 1 of its own
#
# DIR/home is the user's home, DIR/run their runtime directory. What is installed goes to layers above /usr, /etc and /var
# that only these processes see. "ready" on the standard output when the manager is running.
set -eu
directory=$2

# The manager takes the control group in which it is started for its own: one to itself, or two tests would share units.
leave_for_own_cgroup() {
    local line hierarchy path base
    while IFS=: read -r line hierarchy path; do
        case $hierarchy in
            name=systemd) base=/sys/fs/cgroup/systemd ;;
            "") base=/sys/fs/cgroup/unified; [ -d $base ] || base=/sys/fs/cgroup ;;
            *) continue ;;
        esac
        mkdir -p "$base/appgroup-tests/${directory##*/}"
        echo $$ >"$base/appgroup-tests/${directory##*/}/cgroup.procs"
    done </proc/self/cgroup
}

mount_layers() {
    mkdir -p "$directory/layer"
    mount -t tmpfs tmpfs "$directory/layer"
    for name in usr etc var; do
        mkdir -p "$directory/layer/$name/upper" "$directory/layer/$name/work"
        mount -t overlay overlay "/$name" \
            -o "lowerdir=/$name,upperdir=$directory/layer/$name/upper,workdir=$directory/layer/$name/work"
    done
    mount -t tmpfs tmpfs /run
    # Where they are, systemd is running.
    mkdir -p /run/systemd/system /run/systemd/journal
}

# wait_until COMMAND…: what tells nobody is asked again and again.
wait_until() {
    local count
    for count in $(seq 3000); do
        "$@" && return
        sleep 0.02
    done
    echo "waited a minute in vain for: $*" >&2
    return 1
}
is_running() { [ "$(systemctl --user is-system-running 2>/dev/null)" = running ]; }

case $1 in
    outside)
        leave_for_own_cgroup
        exec unshare --mount --pid --fork --mount-proc --kill-child "$0" inside "$directory"
        ;;
    inside)
        mount_layers
        mkdir -p -m 0700 "$directory/home" "$directory/run"
        export HOME=$directory/home XDG_RUNTIME_DIR=$directory/run PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
        unset DBUS_SESSION_BUS_ADDRESS
        /lib/systemd/systemd-journald &
        wait_until test -S /run/systemd/journal/stdout
        /lib/systemd/systemd --user --log-target=journal &
        wait_until is_running
        echo ready
        # Process 1 collects the children of others. It is killed when the test is over.
        while true; do wait -n || true; sleep 0.2; done
        ;;
esac
