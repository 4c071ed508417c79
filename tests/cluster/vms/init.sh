#!/bin/sh
# The first process of a virtual machine, and all of its services. A service manager takes three times as long to Ready.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t securityfs securityfs /sys/kernel/security
mount -t devtmpfs devtmpfs /dev 2>/dev/null
mkdir -p /dev/pts /dev/shm /dev/mqueue
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t mqueue mqueue /dev/mqueue
mount -t tmpfs -o mode=0755 tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t cgroup2 cgroup2 /sys/fs/cgroup
# Bidirectional mount propagation of pods wants a shared root.
mount --make-rshared /
# What makes it this node of this cluster, see machine.py.
tar -xf /dev/vdb -C /
hostname "$(cat /etc/hostname)"
# As udev does for hardware that it finds, but for what is on a blacklist.
cat /sys/bus/virtio/devices/*/modalias | xargs modprobe -aq
# Debian's own service for modules-load.d.
VERBOSE=no /etc/init.d/kmod start
modprobe -a overlay bridge br_netfilter veth
ip link set lo up
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up
ip route add default via 10.0.2.2
# What is started again whenever it ends, as installers of runtimes rely on; $1: its log.
keep() {
  log=/var/log/$1.log
  shift
  (while true; do "$@" >> "$log" 2>&1; sleep 1; done) &
}
keep containerd containerd --config=/etc/containerd/config.toml --log-level=info
# Without groups of pods, whose folders it would read every two seconds, and with statistics once a minute.
keep kubelet kubelet --config=/etc/kubernetes/kubelet.yaml --kubeconfig=/etc/kubernetes/kubelet.conf \
  "--hostname-override=$(cat /etc/hostname)" --cloud-provider=external --v=2 --cgroups-per-qos=false --housekeeping-interval=1m
# NFD's worker, from when it is asked for.
(until [ -e /etc/kubernetes/feature-worker.sh ]; do sleep 2; done; keep feature-worker sh /etc/kubernetes/feature-worker.sh) &
# The console of commands: no echo, no limit of a line's length, and no prompts, of which there are none without a terminal
# for errors.
stty -F /dev/ttyS1 raw -echo
while true; do setsid sh < /dev/ttyS1 > /dev/ttyS1 2> /dev/null; done
