#!/bin/sh
# Installs the programs for tests of served devices and of the explorer's pages, if possible. It never fails: tests of
# missing programs are skipped with a message.
packages="libnbd-bin python3-libnbd qemu-utils fio nbdkit sqlite3 fuse3 e2fsprogs chromium"
programs="nbdcopy nbdfuse qemu-io fio nbdkit sqlite3 fusermount3 mkfs.ext4 chromium"

for program in $programs; do
    command -v "$program" >/dev/null || missing=yes
done
/usr/bin/python3 -c 'import nbd' 2>/dev/null || missing=yes
[ -n "${missing:-}" ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "for all tests of served devices and pages: apt install $packages"
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
lock="-o DPkg::Lock::Timeout=30"
install() {
    # shellcheck disable=SC2086
    timeout 240 apt-get install -y -qq --no-install-recommends $lock $packages >/dev/null 2>&1
}
install || { timeout 60 apt-get update -qq $lock >/dev/null 2>&1 && install; } ||
    echo "these could not all be installed, so tests that need them are missing: $packages"
exit 0
