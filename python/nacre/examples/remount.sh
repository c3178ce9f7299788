#!/bin/sh
# Lets the power of a served device fail under a mounted file system, and mounts it again: what a machine does after a
# loss of power. Needs root, nbdfuse (libnbd-bin), losetup and e2fsck; see docs/serving.md.
#
#   remount.sh IMAGE FOLDER [--no-power-fail | ctl-option...]
#
# With --no-power-fail the power has failed already, and the file system is only mounted again.
# IMAGE is served, and FOLDER is where its file system is mounted. Further words go to `nacre ctl power-fail`.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 IMAGE FOLDER [--no-power-fail | ctl-option...]" >&2
    exit 2
fi
image=$1 folder=$2
shift 2
nacre=${NACRE:-nacre}
fuse=$folder.fuse

# 1. The power fails. Every client is cut off, and the device loses what its design loses.
if [ "${1-}" != --no-power-fail ]; then
    "$nacre" ctl power-fail "$image" "$@"
fi

# 2. What stood on the device goes: the file system, the loop device, nbdfuse. None of it can write any more.
loop=$(findmnt --noheadings --output SOURCE --target "$folder" 2>/dev/null || true)
umount --lazy "$folder" 2>/dev/null || true
case $loop in
/dev/loop*) losetup --detach "$loop" 2>/dev/null || true ;;
esac
fusermount3 -u -z "$fuse" 2>/dev/null || true

# 3. The device is there again: the same server, the same image.
mkdir -p "$fuse" "$folder"
nbdfuse "$fuse" "nbd+unix:///?socket=$image.sock" > /dev/null 2>&1 &
for _ in $(seq 100); do
    [ -e "$fuse/nbd" ] && break
    sleep 0.1
done
loop=$(losetup --find --show --direct-io=on "$fuse/nbd")

# 4. The journal of the file system is played back. 1: errors were corrected; anything above is not good.
status=0
e2fsck -p "$loop" || status=$?
if [ "$status" -gt 1 ]; then
    echo "$loop: e2fsck ended with $status; look at it with: e2fsck -f $loop" >&2
    losetup --detach "$loop"
    exit 1
fi

# 5. It is mounted again.
mount "$loop" "$folder"
echo "$folder: mounted again from $loop"
