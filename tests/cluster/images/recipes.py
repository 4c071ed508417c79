# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which images there are and what is in each: the one place to change that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.paths import HERE
from tests.cluster.programs import (
    EXPORTER_MODULES,
    INJECTOR_MODULES,
    NFD_IMAGE_MODULES,
    Module,
)

# Not made of Debian packages.
PAUSE = "pause"
# Where the Debian packages of the kernels lie, beside the image with their headers.
KERNEL_PACKAGES = "kernels"
# RULEBOOK_BASE with collections: a decision environment.
RULEBOOK = "rulebook"


@dataclass(frozen=True)
class Recipe:
    """A Debian root file system: `script` runs in a minimal Debian, as root, with the machine's
    package sources.

    `wheels` are Python packages for the Debian's own Python, in the versions of `constraints`, a file
    of requirements/. `config` is what an OCI image's config says.
    """

    name: str
    about: str
    script: str
    wheels: tuple[str, ...] = ()
    constraints: str = "images.txt"
    config: Mapping[str, object] = field(default_factory=dict)
    beside: str = ""


@dataclass(frozen=True)
class Overlay:
    """An image of RECIPES with programs of ours on top, under several names that differ in what
    they run by themselves.

    package: folder with Python modules and Go programs. scripts: program -> module with a main()
    that it calls. alone: path in the image -> module that stands there as it is. programs: program
    -> Go source. packed: what else is in it. names: image -> entry point.
    """

    name: str
    about: str
    base: str
    package: Path
    scripts: Mapping[str, str]
    alone: Mapping[str, str]
    programs: Mapping[str, str]
    packed: Packed
    names: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Packed:
    """An image of RECIPES with programs that are built of Go modules. programs: path in the image ->
    name of the program."""

    name: str
    about: str
    base: str
    modules: Sequence[Module]
    programs: Mapping[str, str]


_INSTALL = "apt-get update -qq && apt-get install -y -qq --no-install-recommends"
_ENV = {"Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}

NODE = Recipe(
    "node",
    "the root file system of real nodes: runc, CNI plugins",
    f"{_INSTALL} runc containernetworking-plugins kmod procps iproute2",
)

KIND_NODE = Recipe(
    "kind-node",
    "the root file system of kind's nodes: systemd, runc, CNI plugins, iptables",
    # What kind's own images/base/Dockerfile does: only its own services start.
    f"""{_INSTALL} systemd runc containernetworking-plugins conntrack iptables iproute2 kmod procps
rm -f /etc/systemd/system/*.wants/* /usr/lib/systemd/system/sockets.target.wants/*udev*
for target in basic local-fs multi-user; do rm -f /usr/lib/systemd/system/$target.target.wants/*; done
rm -f /usr/lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service
echo ReadKMsg=no >> /etc/systemd/journald.conf
ln -s /usr/lib/systemd/systemd /usr/sbin/init
# It would register with the kernel, which is that of all.
ln -s /dev/null /etc/systemd/system/systemd-binfmt.service
mkdir -p /opt/cni
ln -s /usr/lib/cni /opt/cni/bin
""",
)

BUILDER = Recipe(
    "builder",
    "buildah, which builds and pushes images",
    f"""{_INSTALL} buildah netavark ca-certificates git
# What works in a pod: no mounts, no overlay on an overlay.
mkdir -p /etc/containers
cat > /etc/containers/storage.conf <<END
[storage]
driver = "vfs"
runroot = "/run/containers/storage"
graphroot = "/var/lib/containers/storage"
END
""",
    config={
        "Env": [*_ENV["Env"], "BUILDAH_ISOLATION=chroot", "STORAGE_DRIVER=vfs"],
        "Cmd": ["/bin/bash"],
    },
)

KMOD_BASE = Recipe(
    "kmod-base",
    "compiler, headers of two kernels and what packs modules, for kernel modules",
    # The newest kernel for clouds of each of the release's two newest series, of those that the
    # archive has with headers: a signed kernel comes into it hours after its headers. They are
    # installed in one go and kept together, because it forgets a kernel's headers as soon as there is
    # a newer one.
    f"""apt-get update -qq
architecture=$(dpkg --print-architecture)
found=$(apt-cache search -n "^linux-(headers|image)-[0-9]+[.][0-9]+[.].*-cloud-$architecture$" | cut -d' ' -f1)
kernels=$(printf '%s\\n' $found | cut -d- -f3- | sort -V | uniq -d)
series=$(printf '%s\\n' $kernels | cut -d. -f1,2 | uniq | tail -n 2)
chosen=$(for one in $series; do printf '%s\\n' $kernels | grep "^$one[.]" | tail -n 1; done)
{_INSTALL} gcc make kmod libc6-dev xz-utils zstd $(printf 'linux-headers-%s ' $chosen)
# Each build pulls and unpacks all of it, file by file, so without what compiling a module does not
# read: kernels, headers of other machines and of whole classes of devices, the empty files by which
# the kernel's own build knows what changed, sanitizers, optimisation at link time, names of hardware.
case $architecture in amd64) own=x86 ;; *) own=$architecture ;; esac
find /usr/src/linux-headers-*/arch -mindepth 1 -maxdepth 1 -type d ! -name "$own" -exec rm -r {{}} +
find /usr/src/linux-headers-*/include/config -mindepth 1 -empty -delete
find /usr/src/linux-headers-*-common/include -regextype egrep -type d \\
    -regex '.*/(drm|dt-bindings|iio|media|mfd|mtd|platform_data|rdma|scsi|soc|sound|usb)' -prune -exec rm -r {{}} +
find /usr/lib/gcc /usr/lib/*-linux-gnu \\( -name lto1 -o -name "lib*san*" \\) -delete
rm -rf /boot/* /usr/lib/modules/*/kernel /usr/bin/*-lto-dump* /usr/bin/*gold* /usr/lib/udev/hwdb*
# The kernels themselves, for virtual machines: of no other moment, so that modules made here fit them.
mkdir /{KERNEL_PACKAGES}
cd /{KERNEL_PACKAGES}
apt-get download -qq -o APT::Sandbox::User=root $(printf 'linux-image-%s ' $chosen)
""",
    config={**_ENV, "Cmd": ["/bin/bash"]},
    beside=KERNEL_PACKAGES,
)

PYTHON_BASE = Recipe(
    "python-base",
    "Python with grpcio, for stand-ins of operands",
    f"{_INSTALL} python3 ca-certificates kmod",
    wheels=("grpcio",),
    config={"Env": [*_ENV["Env"], "PYTHONUNBUFFERED=1"], "Cmd": ["/usr/bin/python3"]},
)

RULEBOOK_BASE = Recipe(
    "rulebook-base",
    "ansible-rulebook and a Java for it",
    # Java's package runs Java when it is installed, which wants more of a machine than there is here.
    f"""{_INSTALL} python3 ca-certificates
cd /tmp
apt-get download -qq openjdk-17-jre-headless
dpkg -x openjdk-17-jre-headless_*.deb /
cd /usr/lib/jvm
ln -s java-17-openjdk-* java-17
""",
    wheels=("ansible-rulebook", "ansible-core", "kubernetes", "PyYAML"),
    constraints="constraints-rulebook.txt",
    config={"Env": [*_ENV["Env"], "PYTHONUNBUFFERED=1", "JAVA_HOME=/usr/lib/jvm/java-17"]},
)

RECIPES = {
    recipe.name: recipe
    for recipe in (NODE, KIND_NODE, BUILDER, KMOD_BASE, PYTHON_BASE, RULEBOOK_BASE)
}


INJECTOR = Packed(
    "device-injector",
    "a stand-in of NRI's device injector",
    "python-base",
    INJECTOR_MODULES,
    {"/usr/bin/plugin": "device-injector"},
)

GPU = Overlay(
    "gpu",
    "what behaves like NVIDIA's driver, toolkit, device plugin, exporter and CUDA sample",
    "python-base",
    HERE / "images" / "gpu",
    scripts={
        "device-plugin": "device_plugin",
        "dcgm-exporter": "exporter",
        "gpu-feature-discovery": "discovery",
        "lsmod": "kernel_tools",
        "rmmod": "kernel_tools",
        "nvidia-ctk": "ctk",
        "nvidia-ctk-installer": "toolkit",
        "nvidia-device-plugin": "nvidia_device_plugin",
        "nvidia-driver": "driver",
        "vector-add": "vector_add",
    },
    alone={"/usr/bin/nvidia-smi": "smi"},
    programs={"nvidia-container-runtime": "nvidia_runtime.go"},
    packed=INJECTOR,
    names={"gpu": [], "gpu-exporter": ["dcgm-exporter"], "gpu-vector-add": ["vector-add"]},
)

EXPORTERS = Packed(
    "exporters",
    "what publishes which resources NUMA nodes have free",
    "python-base",
    EXPORTER_MODULES,
    {
        "/usr/bin/resource-topology-exporter": "resource-topology-exporter",
        "/usr/bin/nfd-topology-updater": "nfd-topology-updater",
        "/usr/bin/nfd-gc": "nfd-gc",
    },
)

NFD = Packed(
    "nfd",
    "Node Feature Discovery",
    "python-base",
    NFD_IMAGE_MODULES,
    {f"/usr/bin/{name}": name for name in ("nfd-gc", "nfd-master", "nfd-worker")},
)

PACKED = {packed.name: packed for packed in (EXPORTERS, NFD, INJECTOR)}

OVERLAYS = {overlay.name: overlay for overlay in (GPU,)}


def reference(name: str) -> str:
    """The name under which containerd knows an image of ours."""
    return f"localhost/{name}:1"
