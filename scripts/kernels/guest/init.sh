#!/bin/sh
# The guest's first process: mounts, tries the features, and turns the machine off.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
ip link set lo up
ulimit -n 65536
stty -F /dev/ttyS1 raw -echo 115200
python3 -B /guest/tried.py >/dev/ttyS1 2>&1
echo "exit $?" >/dev/ttyS1
dmesg >/dev/ttyS1
stty -F /dev/ttyS1 drain
echo o >/proc/sysrq-trigger
sleep 60
