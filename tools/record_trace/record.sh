#!/usr/bin/env bash
# Record the block requests of PostgreSQL under pgbench; README.md tells the whole story.
#
#   record.sh [--install] OUTPUT_DIR
#
# Makes OUTPUT_DIR/pgbench.csv (the trace), phases.csv (when each phase began) and
# recording.txt (versions and settings). Needs root, because it mounts a file system.
# --install fetches missing Debian packages. Settings can be changed by environment
# variables, listed below. Everything started here is ended here, also after an error.
set -euo pipefail

SCALE=${SCALE:-64}                     # pgbench scale: about 15 MiB each
IMAGE_SIZE=${IMAGE_SIZE:-4G}           # size of the disk; the file is sparse
SHARED_BUFFERS=${SHARED_BUFFERS:-16MB}
CACHE_MIB=${CACHE_MIB:-16}             # page cache allowed to the database
PORT=${PORT:-54731}                    # names the Unix socket only; no TCP is used
SECONDS_FACTOR=${SECONDS_FACTOR:-100}  # length of every phase in percent
SEED=${SEED:-20261121}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf 'record: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

install_packages=no
if [[ ${1:-} == --install ]]; then
    install_packages=yes
    shift
fi
[[ $# == 1 ]] || fail "usage: record.sh [--install] OUTPUT_DIR"
[[ $EUID == 0 ]] || fail "root is needed for losetup and mount"
mkdir -p "$1"
out=$(cd "$1" && pwd)

if [[ $install_packages == yes ]]; then
    # Where PostgreSQL is new, Debian's package may start a cluster of its own. It is not used.
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=300 libnbd-bin fuse3 e2fsprogs postgresql
fi
pg_bin=$(find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin | sort -V | tail -n 1)
[[ -x $pg_bin/initdb && -x $pg_bin/pgbench ]] || fail "PostgreSQL is missing; try --install"
for program in nbdfuse losetup mkfs.ext4 fusermount3 runuser python3; do
    command -v "$program" >/dev/null || fail "$program is missing; try --install"
done

# ---- A work folder of our own, and its removal -----------------------------------------

work=$(mktemp -d "$out/work.XXXXXX")
chmod a+x "$out" "$work"               # the postgres user must be able to pass through
disk=$work/disk
mnt=$work/mnt
data=$mnt/data
mkdir "$disk" "$mnt"
server_pid='' fuse_pid='' limit_pid='' report_pid='' loop=''

stop_pid() {
    if [[ -n $1 ]]; then
        kill "$1" 2>/dev/null || true
        wait "$1" 2>/dev/null || true
    fi
}

clean_up() {
    local status=$?
    trap - EXIT
    set +e
    cd /
    stop_pid "$report_pid"
    stop_pid "$limit_pid"
    [[ -f $data/postmaster.pid ]] && stop_postgres
    mountpoint -q "$mnt" && umount "$mnt"
    [[ -n $loop ]] && losetup -d "$loop"
    if [[ -n $fuse_pid ]]; then
        mountpoint -q "$disk" && fusermount3 -u "$disk"
        wait "$fuse_pid" 2>/dev/null
    fi
    stop_pid "$server_pid"
    if mountpoint -q "$mnt" || mountpoint -q "$disk"; then
        say "something is still mounted under $work; it stays"
    else
        [[ $status == 0 ]] || cp "$work"/*.log "$out" 2>/dev/null
        rm -rf "$work"
    fi
    exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

wait_for() { # wait_for DESCRIPTION COMMAND...
    local what=$1 tries
    shift
    for ((tries = 0; tries < 100; tries++)); do
        "$@" && return
        sleep 0.1
    done
    fail "gave up waiting for $what"
}

# ---- PostgreSQL ------------------------------------------------------------------------

as_postgres() { (cd / && runuser -u postgres -- "$@"); }
stop_postgres() { as_postgres "$pg_bin/pg_ctl" -D "$data" -w -t 120 -m fast stop >/dev/null; }
start_postgres() {
    as_postgres "$pg_bin/pg_ctl" -D "$data" -w -t 120 -l "$mnt/postgres.log" start >/dev/null
}
bench() { as_postgres "$pg_bin/pgbench" -h "$mnt" -p "$PORT" "$@" bench; }
query() { as_postgres "$pg_bin/psql" -X -q -A -t -h "$mnt" -p "$PORT" -d "$1" -c "$2"; }

# ---- The disk: server, FUSE file, loop device, file system -----------------------------

python3 "$here/nbd_log_server.py" --paused --socket "$work/nbd.sock" \
    --image "$work/image" --size "$IMAGE_SIZE" --log "$out/pgbench.csv" \
    2>"$work/server.log" &
server_pid=$!
wait_for "the NBD server" test -S "$work/nbd.sock"

nbdfuse "$disk" "nbd+unix:///disk?socket=$work/nbd.sock" 2>"$work/nbdfuse.log" &
fuse_pid=$!
wait_for nbdfuse test -f "$disk/nbd"

# Without --direct-io=on the host would cache the FUSE file and reads would never arrive.
loop=$(losetup --find --show --direct-io=on "$disk/nbd")
[[ $(losetup --noheadings --output DIO "$loop" | tr -d ' ') == 1 ]] ||
    fail "$loop does not use direct I/O"

say "making the file system and the database (not recorded)"
# Nothing is left for the kernel to initialize later, during the recording.
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$loop"
mount_disk() { mount -o noatime,discard "$loop" "$mnt"; }
mount_disk
chown postgres: "$mnt"
chmod 700 "$mnt"

as_postgres "$pg_bin/initdb" -D "$data" --auth=trust --locale=C --encoding=UTF8 >/dev/null
cat >>"$data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$mnt'
port = $PORT
shared_buffers = $SHARED_BUFFERS
max_connections = 20
checkpoint_timeout = 90s
max_wal_size = 256MB
min_wal_size = 128MB
max_parallel_workers_per_gather = 0
log_checkpoints = on
CONF
start_postgres
query postgres 'CREATE DATABASE bench'
bench -i -q -s "$SCALE" >"$work/load.log" 2>&1
query bench 'CHECKPOINT'
database_size=$(query bench "SELECT pg_size_pretty(pg_database_size('bench'))")
stop_postgres

# Unmounting empties every cache above the disk: the recording begins cold.
umount "$mnt"
mount_disk
start_postgres
python3 "$here/page_cache_limit.py" "$data" --mib "$CACHE_MIB" 2>"$work/limit.log" &
limit_pid=$!

# ---- The recording ---------------------------------------------------------------------

{
    echo "date            $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo "kernel          $(uname -r)"
    echo "postgresql      $("$pg_bin/postgres" --version)"
    echo "nbdfuse         $(nbdfuse --version | head -n 1)"
    echo "e2fsprogs       $(mkfs.ext4 -V 2>&1 | head -n 1)"
    echo "python          $(python3 --version)"
    echo "loop            $(losetup --noheadings --output LOG-SEC,DIO "$loop") (sector, direct I/O)"
    echo "read-ahead      $(cat "/sys/block/${loop#/dev/}/queue/read_ahead_kb") KiB"
    echo "image           $IMAGE_SIZE"
    echo "scale           $SCALE, $database_size"
    echo "shared_buffers  $SHARED_BUFFERS"
    echo "page cache      $CACHE_MIB MiB"
    echo "seed            $SEED"
} >"$out/recording.txt"
cp "$here"/pgbench/*.sql "$work"
chmod 644 "$work"/*.sql

kill -USR1 "$server_pid"
start_ns=$(date +%s%N)
echo "start_us,phase" >"$out/phases.csv"

phase_seed=$SEED
phase() { # phase NAME SECONDS PGBENCH_OPTIONS...
    local name=$1 seconds=$(($2 * SECONDS_FACTOR / 100))
    shift 2
    ((phase_seed += 1)) # the same seed again would draw the same accounts again
    say "phase $name, $seconds s"
    echo "$((($(date +%s%N) - start_ns) / 1000)),$name" >>"$out/phases.csv"
    echo "== $name" >>"$work/pgbench.log"
    # Without --no-vacuum pgbench first vacuums the small tables and empties the history.
    # In the background, because a signal to this script interrupts `wait` but not pgbench,
    # which ends by itself when clean_up stops PostgreSQL.
    bench -M prepared -j 1 -T "$seconds" --random-seed="$phase_seed" "$@" \
        >>"$work/pgbench.log" 2>&1 &
    wait "$!"
}
zipf_read=$work/zipf_read.sql
zipf_update=$work/zipf_update.sql

phase tpcb 100 -c 4 -R 150 -b tpcb-like
phase hot_set_1 140 -c 8 -R 900 -D hot_set=1 \
    -f "$zipf_read@7" -f "$zipf_update@2" -b tpcb-like@1
phase select_only 60 -c 4 -R 500 -S
phase hot_set_2 140 -c 8 -R 900 -D hot_set=2 \
    -f "$zipf_read@7" -f "$zipf_update@2" -b tpcb-like@1

# A report reads the whole table while the hot set is in use. (pgbench finds the scale
# itself only when one of its own scripts takes part.)
(sleep $((20 * SECONDS_FACTOR / 100)) && bench -n -c 1 -t 1 -f "$work/report.sql" \
    >"$work/report.log" 2>&1) &
report_pid=$!
phase report 60 -s "$SCALE" -c 8 -R 500 -D hot_set=2 \
    -f "$zipf_read@9" -f "$zipf_update@1"
wait "$report_pid"
report_pid=''

phase mixed 100 -c 8 -R 500 -D hot_set=1 \
    -f "$zipf_read@4" -f "$zipf_update@2" -b select-only@2 -b tpcb-like@2

kill -USR2 "$server_pid"
stop_pid "$limit_pid"
limit_pid=''
stop_postgres
checkpoints=$(grep -c 'checkpoint complete' "$mnt/postgres.log" || true)
echo "checkpoints     $checkpoints in PostgreSQL's log, loading included" >>"$out/recording.txt"
cp "$work/pgbench.log" "$out/pgbench.log"

say "describing the trace"
python3 "$here/trace_stats.py" "$out/pgbench.csv" | tee "$out/stats.txt"
