#!/bin/sh
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Makes virtual functions of this node's network adapters, binds them to their driver, and writes down for
# the device plugin which adapters are whose. What is as it should be is left alone.
#
# POLICIES: a line for each: NAME VENDOR DEVICES INTERFACES ADDRESSES LINK NUMBER DRIVER MTU MODE VDPA FIRMWARE
# SELECTOR; lists with commas, * for any, - for what is not to be set. SELECTOR is what else the device plugin selects
# by, as the end of a JSON object.
# SYS: where sysfs is. RUN: a folder that a reboot clears, as it clears virtual functions.

# Functions of this shell have no variables of their own: those of the loop below are its alone.

# One stream: a log has the lines of two in any order, and its last one is shown where this fails.
exec 2>&1
set -u

fail() {
  echo "$*"
  exit 1
}

# need NAME: a program of tools_image.
need() {
  command -v "$1" >/dev/null || fail "the image of option tools_image has no program $1: name one that has it"
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

# has_link FOLDER LINK: whether its ports are of this kind, by the numbers of the kernel's if_arp.h.
has_link() {
  case $2 in ethernet) type=1 ;; infiniband) type=32 ;; *) return 0 ;; esac
  for interface in "$1"/net/*; do
    [ "$(cat "$interface/type" 2>/dev/null)" = "$type" ] && return 0
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

# mode_of FOLDER: of the adapter's switch, legacy or switchdev.
mode_of() { devlink dev eswitch show "pci/${1##*/}" | sed -n 's/.* mode \([a-z]*\).*/\1/p'; }

# switch FOLDER MODE
switch() {
  [ "$(mode_of "$1")" != "$2" ] || return 0
  devlink dev eswitch set "pci/${1##*/}" mode "$2" ||
    fail "adapter ${1##*/} does not go to mode $2: see the kernel's log, and whether it is part of a bridge"
}

# enlarge FOLDER NUMBER: adapters of NVIDIA, whose firmware says how many there can be at most.
enlarge() {
  address=${1##*/}
  if [ "$(cat "$RUN/firmware/$address" 2>/dev/null)" != "$2" ]; then
    mstconfig -d "$address" -y set SRIOV_EN=True NUM_OF_VFS="$2" || fail "the firmware of adapter $address is not changed"
    mkdir -p "$RUN/firmware"
    echo "$2" >"$RUN/firmware/$address"
  fi
  fail "adapter $address can have $2 virtual functions after the node's next reboot (playbook remedy)," \
    "or after it was without power where a reboot changes nothing"
}

# make FOLDER NUMBER DRIVER NAME MODE FIRMWARE: so many virtual functions of the adapter.
make() {
  address=${1##*/} number=$2
  there=$(cat "$1/sriov_numvfs") most=$(cat "$1/sriov_totalvfs")
  [ "$number" -le "$most" ] || [ "$6" != true ] || enlarge "$1" "$number"
  [ "$number" -le "$most" ] ||
    fail "adapter $address has at most $most virtual functions, and policy $4 wants $number: lower virtual_functions"
  if [ "$there" -ne "$number" ] || { [ "$5" != - ] && [ "$(mode_of "$1")" != "$5" ]; }; then
    # Those of somebody else may be in use by what we know nothing of.
    [ "$there" -eq 0 ] || [ -f "$RUN/made/$address" ] ||
      fail "adapter $address has $there virtual functions that somebody else made: take these away first," \
        "or have no policy fit this adapter"
    [ "$there" -eq 0 ] || echo 0 >"$1/sriov_numvfs"
    # Intel's ice changes its mode while there are none; mlx5 makes them in legacy mode alone.
    early=legacy
    [ "$(driver_of "$1")" != ice ] || early=$5
    [ "$5" = - ] || switch "$1" "$early"
    # Functions for user space must not come up as interfaces of the node in between, and mlx5 changes its mode only
    # under functions without a driver.
    autoprobe=1
    [ "$3" = kernel ] && [ "$5" != switchdev ] || autoprobe=0
    [ ! -f "$1/sriov_drivers_autoprobe" ] || echo "$autoprobe" >"$1/sriov_drivers_autoprobe"
    echo "$number" >"$1/sriov_numvfs" ||
      fail "the kernel makes no $number virtual functions of adapter $address: see its log, and SR-IOV in the firmware"
    : >"$RUN/made/$address"
    [ "$5" = - ] || switch "$1" "$5"
    echo "adapter $address: $there virtual functions before, $number now"
  fi
  # Where this is off, a kernel's driver does not take a function that it is shown either.
  [ "$3" != kernel ] || [ ! -f "$1/sriov_drivers_autoprobe" ] || echo 1 >"$1/sriov_drivers_autoprobe"
}

# set_mtu FOLDER MTU LEAST: of the interfaces that the node sees; with LEAST a larger one stays.
set_mtu() {
  for interface in "$1"/net/*; do
    [ -f "$interface/mtu" ] || continue
    there=$(cat "$interface/mtu")
    [ "$there" -eq "$2" ] && continue
    [ "$3" = least ] && [ "$there" -gt "$2" ] && continue
    echo "$2" >"$interface/mtu" || fail "interface ${interface##*/} does not take MTU $2: see the kernel's log"
  done
}

# give_guid FOLDER FUNCTION INDEX: an InfiniBand function without one never comes up.
give_guid() {
  for device in "$2"/infiniband/*; do
    [ "$(cat "$device/node_guid" 2>/dev/null)" = 0000:0000:0000:0000 ] || return 0
  done
  guid="02$(od -A n -N 7 -t x1 /dev/urandom | tr ' ' ':')"
  for interface in "$1"/net/*; do
    ip link set dev "${interface##*/}" vf "$3" node_guid "$guid" port_guid "$guid" ||
      fail "virtual function ${2##*/} takes no GUID: see the kernel's log"
  done
  # The driver reads it when it takes the function.
  [ ! -e "$2/driver" ] || echo "${2##*/}" >"$2/driver/unbind"
  echo "${2##*/}" >"$SYS/bus/pci/drivers_probe"
}

# make_vdpa FUNCTION TYPE: the vDPA device of a virtual function, at its driver.
make_vdpa() {
  function=${1##*/} bus=$SYS/bus/vdpa wanted=$2_vdpa
  device=$bus/devices/vdpa:$function
  [ -d "$bus/drivers/$wanted" ] ||
    fail "the kernel module $wanted is not loaded: have the node load it at boot (/etc/modules-load.d)"
  # As many queues as hardware does on its own; older kernels take no number.
  [ -e "$device" ] || vdpa dev add name "vdpa:$function" mgmtdev "pci/$function" max_vqp 32 ||
    vdpa dev add name "vdpa:$function" mgmtdev "pci/$function" ||
    fail "virtual function $function becomes no vDPA device: its adapter or kernel cannot"
  now=$(driver_of "$device")
  [ "$now" = "$wanted" ] && return
  echo "$wanted" >"$device/driver_override"
  [ -z "$now" ] || echo "vdpa:$function" >"$device/driver/unbind"
  echo "vdpa:$function" >"$bus/drivers_probe"
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

mkdir -p "$RUN/made"
rm -f "$RUN/config.json"
taken="," resources=""
while read -r name vendor devices interfaces addresses link number driver mtu mode vdpa firmware selector; do
  [ -n "$name" ] || continue
  case $name in *[!A-Za-z0-9_]*) fail "policy $name: a name has letters, digits and _ only" ;; esac
  [ "$mode" = - ] || need devlink
  [ "$mode" != switchdev ] || need ethtool
  [ "$vdpa" = - ] || need vdpa
  [ "$link" != infiniband ] || [ "$driver" != kernel ] || need ip
  [ "$firmware" != true ] || need mstconfig
  roots=""
  for folder in $(adapters); do
    address=${folder##*/}
    case $taken in *",$address,"*) continue ;; esac
    fits "$(id "$folder/vendor")" "$vendor" || continue
    fits "$(id "$folder/device")" "$devices" || continue
    fits "$address" "$addresses" || continue
    has_interface "$folder" "$interfaces" || continue
    has_link "$folder" "$link" || continue
    taken="$taken$address,"
    [ "$mode" != switchdev ] || for interface in "$folder"/net/*; do
      ethtool -K "${interface##*/}" hw-tc-offload on || fail "interface ${interface##*/} offloads no flows to its switch"
    done
    make "$folder" "$number" "$driver" "$name" "$mode" "$firmware"
    [ "$mtu" = - ] || set_mtu "$folder" "$mtu" least
    for linked in "$folder"/virtfn*; do
      [ -e "$linked" ] || continue
      made=$(readlink -f "$linked")
      [ "$link" != infiniband ] || [ "$driver" != kernel ] || give_guid "$folder" "$made" "${linked##*/virtfn}"
      bind "$made" "$driver"
      [ "$mtu" = - ] || [ "$driver" != kernel ] || set_mtu "$made" "$mtu" exactly
      [ "$vdpa" = - ] || make_vdpa "$made" "$vdpa"
    done
    roots="$roots${roots:+, }\"$address\""
  done
  [ -n "$roots" ] || continue
  resources="$resources${resources:+, }{\"resourcePrefix\": \"$PREFIX\", \"resourceName\": \"$name\",
    \"selectors\": [{\"rootDevices\": [$roots]$selector}]}"
done <<LINES
$POLICIES
LINES
[ -n "$resources" ] || fail "no network adapter of this node fits a policy: see lspci -nn, or keep the node out of the pool"
# In one step: whoever reads it finds all of it.
echo "{\"resourceList\": [$resources]}" >"$RUN/config.new"
mv "$RUN/config.new" "$RUN/config.json"
echo "ready:${taken%,}" | tr , ' '
