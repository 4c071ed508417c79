# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of the roles that differ in name and description only."""

from __future__ import annotations

from string import Template

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.state_roles import (
    StateRole,
    tag_of,
)

_README = Template("""\
# $name

$text

It runs every state that the recipe gives to this role (`role: $name`; in the shipped recipes the state `$tag`).
In a playbook of your own:

```yaml
- name: $title
  hosts: localhost
  connection: local
  gather_facts: false
  vars:
    hardware_enablement_recipe: nvidia-gpu
  roles:
    - hardware.enablement.node_discovery
    - hardware.enablement.$name
```

Used like this it waits until the state is proven on every node; `${name}_wait: false` only applies it. What all state
roles have in common is described with the role [state](../state/README.md).
""")
_TASKS = Template("""\
---
- name: Apply the states of this role
  ansible.builtin.import_role:
    name: hardware.enablement.state
    tasks_from: apply
  vars:
    state_of_role: $name
    state_wait: "{{ ${name}_wait }}"
""")
_DEFAULTS = Template("""\
---
${name}_wait: "{{ hardware_enablement_wait | default(true) }}"
""")
_SPECS = Template("""\
---
argument_specs:
  main:
    short_description: $title
    version_added: 0.1.0
    author: hardware.enablement contributors
    description:
      - $text
      - It runs every state that the recipe gives to this role. The recipe and what all states have in common are set
        by the variables of the role C(state), or the C(hardware_enablement_) ones of the playbooks.
    options:
      ${name}_wait:
        description:
          - Whether to wait until the state is proven on every node. The playbooks turn it off and wait once, for all
            states together.
        type: bool
""")
_META = Template("""\
---
galaxy_info:
  author: hardware.enablement contributors
  description: $title
  license: GPL-3.0-or-later
  min_ansible_version: "2.16"
dependencies: []
""")
_FILES = {
    "README.md": _README,
    "defaults/main.yml": _DEFAULTS,
    "meta/argument_specs.yml": _SPECS,
    "meta/main.yml": _META,
    "tasks/main.yml": _TASKS,
}


def files(name: str, role: StateRole) -> dict[str, str]:
    """The files of a role: path in its folder -> text."""
    words = {"name": name, "tag": tag_of(name), "title": role.title, "text": role.text}
    return {path: template.substitute(words) for path, template in _FILES.items()}
