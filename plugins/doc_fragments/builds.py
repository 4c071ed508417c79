# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How driver images are looked up and built; the same for all modules that do it."""

from __future__ import annotations


class ModuleDocFragment:
    """What modules that ask registries have alike."""

    DOCUMENTATION = r"""
options:
  lookup_from:
    description:
      - From where images are looked up, instead of what the recipe says. V(controller) asks the registry from where
        this task runs; V(imagestream) asks OpenShift; V(node) has a pod pull the image, for registries that only nodes
        reach.
    type: str
    choices: [controller, imagestream, node]
  registry_auth_file:
    description:
      - Configuration of docker on the machine that this task runs on, with credentials (C(auths)) or the credential
        helpers that know them (C(credHelpers), C(credsStore)). Helpers run there and nowhere else; a build gets only
        what they say of its base image and its target.
    type: path
  push_secret:
    description:
      - Secret (type C(kubernetes.io/dockerconfigjson)) in the recipe's namespace, with which base images are pulled and
        built images pushed. Pull secrets of the recipe's options are used for both, too.
    type: str
  builder:
    description:
      - V(kubernetes) builds with buildah in Jobs, V(openshift) with BuildConfigs, V(auto) with what fits the cluster.
        V(controller) builds nothing here, but returns RV(hardware.enablement.driver_container#module:orders) for
        M(hardware.enablement.image_build).
        V(none) only looks up.
    type: str
    choices: [auto, kubernetes, openshift, controller, none]
    default: auto
  builder_image:
    description: Image with buildah and git for O(builder=kubernetes), such as V(quay.io/buildah/stable:v1.43.0).
    type: str
  build_namespace:
    description:
      - Namespace in which builds run, if it is not that of the operands. It has to be there, with the recipe's pull
        secrets, and, with O(builder=openshift), with O(push_secret).
    type: str
  entitlement_secret:
    description: Secret with entitlement certificates, mounted into builds on OpenShift.
    type: str
  build_node_selector:
    description: Labels of the nodes that build; their architecture is always that of the kernel.
    type: dict
    default: {}
  build_host_network:
    description: Whether builds use the network of their node, where the registry is reached from there only.
    type: bool
    default: false
  build_apparmor:
    description:
      - AppArmor profile of buildah's container, V(Unconfined), V(RuntimeDefault), or V(Localhost/NAME) for one of the
        nodes. The default profile of container runtimes lets nobody mount, and buildah has to.
    type: str
    default: Unconfined
  build_seccomp:
    description: The same for the filter of system calls.
    type: str
    default: Unconfined
  build_capabilities:
    description:
      - Capabilities that buildah's container gets beside those of the container runtime. V(SYS_ADMIN) is needed where
        nodes let no user namespace mount, as those of Ubuntu 24.04 (C(kernel.apparmor_restrict_unprivileged_userns)).
    type: list
    elements: str
    default: []
  build_timeout:
    description: Seconds that one build may take.
    type: int
    default: 1800
  rebuild:
    description: Build again at once what failed before.
    type: bool
    default: false
  parallel:
    description: How many builds run at once.
    type: int
    default: 2
  failure_grace:
    description: Seconds that a build's pod may fail to start before the build counts as failed.
    type: int
    default: 30
"""
