// SPDX-License-Identifier: GPL-2.0-or-later
/* The smallest module worth loading: it greets, and its parameter can be read in sysfs. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

static char *greeting = "hello";
module_param(greeting, charp, 0444);
MODULE_PARM_DESC(greeting, "What the module says when it is loaded");

static int __init simple_kmod_init(void)
{
	pr_info("simple_kmod: %s\n", greeting);
	return 0;
}

static void __exit simple_kmod_exit(void)
{
	pr_info("simple_kmod: goodbye\n");
}

module_init(simple_kmod_init);
module_exit(simple_kmod_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("hardware.enablement contributors");
MODULE_DESCRIPTION("An example of a kernel module that is built for every kernel");
MODULE_VERSION("1.0");
