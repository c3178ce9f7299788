#!/bin/sh
# Cuts the power of a served device under a mounted file system, and mounts it again, as a machine does after a power loss.
# Needs root, nbdfuse (libnbd-bin), losetup, and e2fsck; see docs/serving.md.
#
#   remount.sh IMAGE FOLDER [--no-power-fail | ctl-option...]
#
# IMAGE is the served image, and FOLDER the mount point of its file system. With --no-power-fail, the file system is only
# mounted again. Other options are passed to `nacre ctl power-fail`.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 IMAGE FOLDER [--no-power-fail | ctl-option...]" >&2
    exit 2
fi
image=$1 folder=$2
shift 2
nacre=${NACRE:-nacre}
fuse=$folder.fuse

# 1. Cut power: all clients are disconnected, and the device loses its volatile data.
if [ "${1-}" != --no-power-fail ]; then
    "$nacre" ctl power-fail "$image" "$@"
fi

# 2. Remove everything above the device, which can no longer write: the file system, the loop device, nbdfuse.
loop=$(findmnt --noheadings --output SOURCE --target "$folder" 2>/dev/null || true)
umount --lazy "$folder" 2>/dev/null || true
case $loop in
/dev/loop*) losetup --detach "$loop" 2>/dev/null || true ;;
esac
fusermount3 -u -z "$fuse" 2>/dev/null || true

# 3. Connect to the device again: the server and the image are unchanged.
mkdir -p "$fuse" "$folder"
nbdfuse "$fuse" "nbd+unix:///?socket=$image.sock" > /dev/null 2>&1 &
for _ in $(seq 100); do
    [ -e "$fuse/nbd" ] && break
    sleep 0.1
done
loop=$(losetup --find --show --direct-io=on "$fuse/nbd")

# 4. Replay the journal of the file system. Status 1 means that errors were corrected; a higher status is a failure.
status=0
e2fsck -p "$loop" || status=$?
if [ "$status" -gt 1 ]; then
    echo "$loop: e2fsck ended with status $status; inspect it with: e2fsck -f $loop" >&2
    losetup --detach "$loop"
    exit 1
fi

# 5. Mount the file system.
mount "$loop" "$folder"
echo "$folder: mounted again from $loop"
