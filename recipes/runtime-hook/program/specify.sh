#!/bin/sh
# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Makes a CDI specification of a list of what a piece of hardware needs in containers.
#
# specify.sh LIST: lines "WORD VALUE", see the recipe's option inventory. HOST: the node's root. KIND: of the
# specification (vendor/class). OUT: the folder that the container runtime reads.

exec 2>&1
set -uf

fail() {
  echo "$*"
  exit 1
}

# What goes into JSON as it is, and into a path of the node.
plain() {
  case $2 in
    *[!A-Za-z0-9_./:+=,@%-]* | "" | *..*) fail "$1 $2: only letters, digits and _./:+=,@%- are allowed here, and no .." ;;
  esac
}

# The path on the node of a library that is named without a folder; nothing where there is none.
find_library() {
  for folder in /lib64 /usr/lib64 /lib /usr/lib /usr/local/lib64 /usr/local/lib \
    /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu /lib/aarch64-linux-gnu /usr/lib/aarch64-linux-gnu; do
    if [ -e "$HOST$folder/$1" ]; then
      echo "$folder/$1"
      return
    fi
  done
}

add_mount() {
  mounts="$mounts${mounts:+, }{\"hostPath\": \"$1\", \"containerPath\": \"$1\",
    \"options\": [\"ro\", \"nosuid\", \"nodev\", \"rbind\"]}"
}

devices="" mounts="" variables=""
while read -r word value; do
  case $word in "" | "#"*) continue ;; esac
  needed=yes
  case $word in *"?") needed=no word=${word%"?"} ;; esac
  plain "$word" "$value"
  path=$value
  case $word in
    library) case $value in /*) ;; *) path=$(find_library "$value") ;; esac ;;
    device | binary | directory) case $value in /*) ;; *) fail "$word $value: expected an absolute path" ;; esac ;;
    variable)
      name=${value%%=*} text=${value#*=}
      [ "$name" != "$value" ] || fail "variable $value: expected NAME=VALUE"
      case $text in
        @*)
          path=$(find_library "${text#@}")
          [ -n "$path" ] || fail "variable $value: the node has no library ${text#@}"
          text=$path
          ;;
      esac
      variables="$variables${variables:+, }\"$name=$text\""
      continue
      ;;
    *) fail "$word: expected device, library, binary, directory or variable" ;;
  esac
  if [ -z "$path" ] || [ ! -e "$HOST$path" ]; then
    [ "$needed" = no ] || fail "the node has no $word $value: is the driver installed and loaded?"
    continue
  fi
  case $word in
    device) devices="$devices${devices:+, }{\"path\": \"$path\"}" ;;
    *) add_mount "$path" ;;
  esac
done <"$1"
[ -n "$devices$mounts$variables" ] || fail "there is nothing to give to containers: the option inventory is empty"
# In one step: a container runtime reads all of it or none. Hidden files it does not read.
file=$OUT/$(echo "$KIND" | tr / -).json
cat >"$OUT/.specify" <<SPEC || fail "cannot write to the folder of CDI specifications"
{"cdiVersion": "0.6.0", "kind": "$KIND", "devices": [{"name": "all", "containerEdits": {
  "env": ["HARDWARE_ENABLEMENT_HOOK=$KIND"]}}],
 "containerEdits": {"env": [$variables], "deviceNodes": [$devices], "mounts": [$mounts]}}
SPEC
mv "$OUT/.specify" "$file"
echo "ready: $file"
