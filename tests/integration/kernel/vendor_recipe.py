# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A driver as vendors have them: simple-kmod's recipe with modules of other sources. One asks for
firmware, which the image brings, one has a device and stands on the other, one never comes to an end of
its start until its process is killed, and one is none of this kernel's."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.integration.plays import REPO

DEVICE = "/dev/simple_kmod"
FIRMWARE = "simple-kmod.bin"
FIRMWARE_IN_IMAGE = "/opt/modules/firmware"
_SOURCES = {
    "simple_kmod": """
#include <linux/firmware.h>
#include <linux/module.h>
#include <linux/platform_device.h>
static char *greeting = "hello";
module_param(greeting, charp, 0444);
int simple_kmod_answer(void);
int simple_kmod_answer(void) { return 42; }
EXPORT_SYMBOL_GPL(simple_kmod_answer);
static int __init begin(void)
{
    const struct firmware *firmware;
    struct platform_device *device = platform_device_register_simple("simple_kmod", -1, NULL, 0);
    int error;
    if (IS_ERR(device))
        return PTR_ERR(device);
    error = request_firmware(&firmware, "simple-kmod.bin", &device->dev);
    platform_device_unregister(device);
    if (error)
        return error;
    pr_info("simple_kmod: %s, firmware %.*s\\n", greeting, (int)firmware->size, firmware->data);
    release_firmware(firmware);
    return 0;
}
static void __exit end(void) { pr_info("simple_kmod: goodbye\\n"); }
""",
    "upper": """
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
int simple_kmod_answer(void);
static const struct file_operations operations = { .owner = THIS_MODULE };
static struct miscdevice device = {
    .minor = MISC_DYNAMIC_MINOR, .name = "simple_kmod", .fops = &operations, .mode = 0444,
};
static int __init begin(void)
{
    pr_info("upper: the answer is %d\\n", simple_kmod_answer());
    return misc_register(&device);
}
static void __exit end(void) { misc_deregister(&device); }
""",
    "stuck": """
#include <linux/completion.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
static DECLARE_COMPLETION(never);
static int __init begin(void)
{
    while (!fatal_signal_pending(current))
        wait_for_completion_timeout(&never, 10 * HZ);
    return -EINTR;
}
static void __exit end(void) { }
""",
    "foreign": """
#include <linux/module.h>
static int __init begin(void) { return 0; }
static void __exit end(void) { }
""",
}
_EVERYWHERE = """
module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("of a test");
MODULE_VERSION("{version}");
"""
# The last one is of a kernel for one processor: of the number of the release alone the kernel takes
# no notice, since its symbols have versions of their own.
# Steps begin with ">", since sanity wants no tabs; not for the kernel's own files, which read this one.
_MAKEFILE = """
ifneq ($(KERNELRELEASE),)
obj-m := simple_kmod.o upper.o stuck.o foreign.o
else
.RECIPEPREFIX = >
modules:
> $(MAKE) -C $(HEADERS) M=$(CURDIR) modules
> sed -i 's/ SMP preempt/ ONE preempt/' foreign.ko
> mkdir -p out/$(KERNEL) out/firmware
> cp *.ko out/$(KERNEL)/
> printf of-a-vendor > out/firmware/@FIRMWARE@
endif
"""


def write_recipe(folder: Path, version: str) -> Path:
    """Write the recipe with modules of this version; returns the folder, which recipe_dir may name."""
    recipe = folder / "simple-kmod"
    shutil.rmtree(recipe, ignore_errors=True)
    shutil.copytree(REPO / "recipes" / "simple-kmod", recipe)
    file = recipe / "recipe.yml"
    access = f"device_access:\n  host_paths: [{DEVICE}]\n\noptions:\n"
    file.write_text(file.read_text().replace("options:\n", access, 1))
    source = recipe / "build" / "src"
    for name, text in _SOURCES.items():
        (source / f"{name}.c").write_text(text + _EVERYWHERE.format(version=version))
    (source / "Makefile").write_text(_MAKEFILE.replace("@FIRMWARE@", FIRMWARE))
    return folder
