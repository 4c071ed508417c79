#!/bin/sh
# From an initrd of busybox and the disk's drivers to the machine's own root file system.
/bin/busybox mkdir -p /proc /sys /dev /root
/bin/busybox mount -t devtmpfs devtmpfs /dev
for module in $(/bin/busybox cat /modules); do /bin/busybox insmod "/$module"; done
until [ -b /dev/vda ]; do /bin/busybox sleep 0.1; done
/bin/busybox mount -t ext4 /dev/vda /root
exec /bin/busybox switch_root /root /sbin/init.vm
