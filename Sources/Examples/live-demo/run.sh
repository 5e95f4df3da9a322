#!/bin/bash
# The demo behind `make run`: a private daemon, two observers, and a setting changed in three ways.
#
#   APPGROUPD=… APPGROUPCTL=… run.sh [--once]
#
# Without --once (or DEMO_EXIT=1) the daemon stays to be played with until Ctrl-C. Everything is below one temporary
# directory, which is gone at the end; nothing of yours is touched.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
APPGROUPD=${APPGROUPD:-$(command -v appgroupd || true)}
APPGROUPCTL=${APPGROUPCTL:-$(command -v appgroupctl || true)}
once=${DEMO_EXIT:-}
case ${1:-} in
'') ;;
--once) once=1 ;;
*)
    echo "usage: run.sh [--once]" >&2
    exit 64
    ;;
esac

fail() {
    printf 'live-demo: %s\n' "$*" >&2
    exit 1
}
[[ -x $APPGROUPD && -x $APPGROUPCTL ]] || fail "set APPGROUPD and APPGROUPCTL to the built programs, or say 'make run'"
command -v python3 >/dev/null || fail "python3 is needed to measure and to print"
command -v swiftc >/dev/null || fail "swiftc is needed, for the program that uses Foundation's UserDefaults"

# Paths of sockets are short: so /tmp, whatever TMPDIR says.
home=$(mktemp -d /tmp/appgroupd-demo.XXXXXX)
daemon=
finish() {
    status=$?
    trap '' INT TERM
    if [[ -n $daemon ]]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    rm -rf "$home"
    exit "$status"
}
trap finish EXIT
trap 'echo; echo "live-demo: ended, and $home is removed"; exit 0' INT TERM

# A home of its own, for the daemon, the tool and the program alike. (Without options all would be in the usual places,
# and --socket would not be needed.)
export HOME=$home XDG_CONFIG_HOME=$home/config
unset XDG_CONFIG_DIRS XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
socket=$home/socket

echo "compiling a small program that keeps its settings in Foundation's UserDefaults …"
swiftc -module-cache-path "$home/modules" -o "$home/userdefaults" "$here/userdefaults.swift"

"$APPGROUPD" --socket "$socket" --root "$home/groups" --state "$home/state" 2>"$home/daemon.log" &
daemon=$!
# It is ready when it answers.
until "$APPGROUPCTL" --socket "$socket" --quiet list >/dev/null 2>&1; do
    kill -0 "$daemon" 2>/dev/null || fail "the daemon ended: $(cat "$home/daemon.log")"
    sleep 0.02
done

python3 "$here/show.py" "$APPGROUPCTL" "$socket" "$home/userdefaults" "$daemon"
[[ -z $once ]] || exit 0

cat <<END

The daemon goes on. In another terminal, watch:

  $APPGROUPCTL --socket $socket watch group.com.example.app

and in a third, or with your editor in the file above, change something:

  $APPGROUPCTL --socket $socket write group.com.example.app theme -string blue

Ctrl-C here ends it and removes $home.
END
wait "$daemon" || fail "the daemon ended: $(cat "$home/daemon.log")"
