#!/bin/sh
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Makes virtual functions of this node's network adapters, binds them to their driver, and writes down for
# the device plugin which adapters are whose. What is as it should be is left alone.
#
# POLICIES: a line for each: NAME VENDOR DEVICES INTERFACES NUMBER DRIVER RDMA; lists with commas, * for any.
# SYS: where sysfs is. RUN: a folder that a reboot clears, as it clears virtual functions.

# One stream: a log has the lines of two in any order, and its last one is shown where this fails.
exec 2>&1
set -u

fail() {
  echo "$*"
  exit 1
}

# fits VALUE LIST
fits() {
  [ "$2" = "*" ] && return 0
  case ",$2," in *",$1,"*) return 0 ;; esac
  return 1
}

id() { sed 's/^0x//' "$1"; }

# has_interface FOLDER LIST: whether the adapter has one of these network interfaces.
has_interface() {
  [ "$2" = "*" ] && return 0
  for interface in "$1"/net/*; do
    fits "${interface##*/}" "$2" && return 0
  done
  return 1
}

# The folders of all network adapters that can have virtual functions.
adapters() {
  for folder in "$SYS"/bus/pci/devices/*; do
    [ -f "$folder/sriov_totalvfs" ] || continue
    case $(id "$folder/class") in 02*) echo "$folder" ;; esac
  done
}

# make FOLDER NUMBER DRIVER NAME: so many virtual functions of the adapter.
make() {
  address=${1##*/} number=$2
  there=$(cat "$1/sriov_numvfs") most=$(cat "$1/sriov_totalvfs")
  [ "$number" -le "$most" ] ||
    fail "adapter $address has at most $most virtual functions, and policy $4 wants $number: lower virtual_functions"
  if [ "$there" -ne "$number" ]; then
    # Those of somebody else may be in use by what we know nothing of.
    [ "$there" -eq 0 ] || [ -f "$RUN/made/$address" ] ||
      fail "adapter $address has $there virtual functions that somebody else made: take these away first," \
        "or have no policy fit this adapter"
    [ "$there" -eq 0 ] || echo 0 >"$1/sriov_numvfs"
    # Functions for user space must not come up as interfaces of the node in between.
    autoprobe=1
    [ "$3" = kernel ] || autoprobe=0
    [ ! -f "$1/sriov_drivers_autoprobe" ] || echo "$autoprobe" >"$1/sriov_drivers_autoprobe"
    echo "$number" >"$1/sriov_numvfs" ||
      fail "the kernel makes no $number virtual functions of adapter $address: see its log, and SR-IOV in the firmware"
    : >"$RUN/made/$address"
    echo "adapter $address: $there virtual functions before, $number now"
  fi
}

driver_of() {
  [ -e "$1/driver" ] && basename "$(readlink -f "$1/driver")"
}

# bind FOLDER DRIVER: a virtual function to vfio-pci, or back to the kernel's own.
bind() {
  function=${1##*/} now=$(driver_of "$1")
  if [ "$2" = vfio-pci ]; then
    [ "$now" = vfio-pci ] && return
    [ -d "$SYS/bus/pci/drivers/vfio-pci" ] ||
      fail "the kernel module vfio-pci is not loaded: have the node load it at boot (/etc/modules-load.d)"
    echo vfio-pci >"$1/driver_override"
  else
    [ -n "$now" ] && [ "$now" != vfio-pci ] && return
    echo >"$1/driver_override"
  fi
  [ -z "$now" ] || echo "$function" >"$1/driver/unbind"
  echo "$function" >"$SYS/bus/pci/drivers_probe"
  now=$(driver_of "$1")
  if [ "$2" = vfio-pci ]; then
    [ "$now" = vfio-pci ] ||
      fail "virtual function $function does not go to vfio-pci: is an IOMMU on (intel_iommu=on, amd_iommu=on)?"
  else
    [ -n "$now" ] || fail "virtual function $function has no driver: the kernel has none for it, or it is not loaded"
  fi
}

# The folders of an adapter's virtual functions.
functions_of() {
  for link in "$1"/virtfn*; do
    [ ! -e "$link" ] || readlink -f "$link"
  done
}

mkdir -p "$RUN/made"
rm -f "$RUN/config.json"
taken="," resources=""
while read -r name vendor devices interfaces number driver rdma; do
  [ -n "$name" ] || continue
  case $name in *[!A-Za-z0-9_]*) fail "policy $name: a name has letters, digits and _ only" ;; esac
  case $driver in kernel | vfio-pci) ;; *) fail "policy $name: the driver is kernel or vfio-pci, not $driver" ;; esac
  roots=""
  for folder in $(adapters); do
    address=${folder##*/}
    case $taken in *",$address,"*) continue ;; esac
    fits "$(id "$folder/vendor")" "$vendor" || continue
    fits "$(id "$folder/device")" "$devices" || continue
    has_interface "$folder" "$interfaces" || continue
    taken="$taken$address,"
    make "$folder" "$number" "$driver" "$name"
    for made in $(functions_of "$folder"); do
      bind "$made" "$driver"
    done
    roots="$roots${roots:+, }\"$address\""
  done
  [ -n "$roots" ] || continue
  selector="\"rootDevices\": [$roots]"
  [ "$driver" = kernel ] || selector="$selector, \"drivers\": [\"$driver\"]"
  [ "$rdma" != true ] || selector="$selector, \"isRdma\": true"
  resources="$resources${resources:+, }{\"resourcePrefix\": \"$PREFIX\", \"resourceName\": \"$name\",
    \"selectors\": [{$selector}]}"
done <<LINES
$POLICIES
LINES
[ -n "$resources" ] || fail "no network adapter of this node fits a policy: see lspci -nn, or keep the node out of the pool"
# In one step: whoever reads it finds all of it.
echo "{\"resourceList\": [$resources]}" >"$RUN/config.new"
mv "$RUN/config.new" "$RUN/config.json"
echo "ready:${taken%,}" | tr , ' '
