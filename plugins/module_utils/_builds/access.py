# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run reaches registries: with which credentials, and from where images are looked up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .._cluster.api_client.client import Client
from .._errors import EnablementError
from .._nodes.groups import NodeGroup
from .._nodes.taints import operand_tolerations
from .._registry.image_client import Registries
from .._registry.image_names import parse
from .._registry.policy import RegistryPolicy
from .._registry.registry_errors import (
    Denied,
    ImageNotFound,
    NotTrusted,
    RegistryError,
    RegistryUnauthorized,
)
from .._runs.context import RunContext
from .._states.preparation.prepare import Prepared
from .build_request import BuildRequest
from .cluster_registries import RegistryReader
from .credentials import read_keyring
from .environment import NamespaceSecrets
from .lookups.imagestream import ImageStreamLookup, by_host
from .lookups.key_lookup import KeyLookup
from .lookups.node import NodeLookup
from .orders import Found
from .registry_policy import given_policy, read_config, whole_policy
from .resolve import Find
from .settings import BuildSettings
from .streams import is_internal


class ImageAccess:
    """The registries, for one task. Secrets are read when somebody asks for an image, not before."""

    def __init__(
        self, client: Client, prepared: Prepared, build: BuildRequest, context: RunContext
    ) -> None:
        self._client = client
        self._prepared = prepared
        self._context = context
        self._given = given_policy(build.registry)
        self._secrets = [
            *prepared.options["image_pull_secrets"],
            *filter(None, [build.credentials.push_secret]),
        ]
        self._config = build.credentials.registry_auth_file or ""
        self._policy: RegistryPolicy | EnablementError | None = None
        self._registries: Registries | None = None
        self._keys = KeyLookup(client, prepared.namespace)

    def policy(self) -> RegistryPolicy:
        """Whom to ask and how, the same for all. Raises EnablementError, each time, where a secret
        cannot be had."""
        if self._policy is None:
            try:
                self._policy = self._read()
            except EnablementError as error:
                self._policy = error
        if isinstance(self._policy, EnablementError):
            raise self._policy
        return self._policy

    def registries(self) -> Registries:
        """The client that keeps to the policy. Raises as policy does."""
        if self._registries is None:
            self._registries = Registries(self.policy())
        return self._registries

    def find(
        self,
        source: str,
        settings: BuildSettings,
        groups: Sequence[NodeGroup],
        guard: Callable[[], None],
        *,
        anew: bool = True,
    ) -> Find:
        """How images are looked up from a source (recipes.lookups): a function of reference and
        architecture. anew: see NodeLookup."""
        streams = ImageStreamLookup(self._client).find
        if source == "imagestream":
            return streams
        if source == "node":
            nodes = {group.system.arch: group.nodes[0] for group in groups if group.nodes}
            # As the operands' own pods, wherever builds run, and whoever else is kept away.
            recipe, taints = self._prepared.recipe, self._prepared.taints
            tolerations = (
                *operand_tolerations(recipe.name, recipe.devices.resources, taints),
                *settings.pods.tolerations,
            )
            settings = replace(
                settings,
                scope=replace(settings.scope, namespace=self._prepared.namespace),
                pods=replace(settings.pods, tolerations=tolerations),
            )
            dry = self._context.check_mode
            clock = self._context.clock
            lookup = NodeLookup(self._client, settings, nodes, guard, clock, dry=dry, anew=anew)
            return by_host(streams, lookup.find)
        return self.images

    @property
    def images(self) -> Find:
        """The look-up from here, which needs no node."""
        return by_host(ImageStreamLookup(self._client).find, self._in_registry)

    def _read(self) -> RegistryPolicy:
        own = read_config(self._config, self._context.secrets)
        named = read_keyring(self._client, self._prepared.namespace, self._secrets)
        cluster = RegistryReader(self._client, self._context.progress).read()
        policy = whole_policy(self._given, cluster, own, named, self._prepared.options["proxy"])
        self._context.secrets.update(policy.keyring.secrets)
        return policy

    def _in_registry(self, reference: str, arch: str) -> Found | None:
        """The image by the registry's own API. Raises RegistryError for everything but "there is
        none"."""
        parsed = parse(reference)
        image = self.registries().find(parsed, arch)
        if image is None:
            return None
        return Found(str(parsed.pinned(image.digest)), image.digest, dict(image.labels))

    def unsigned(self, reference: str, key: str) -> str:
        """Why an image, pinned by its digest, is not signed by a key of those that a recipe names; ""
        where it is. Raises as KeyLookup does, RegistryError where that cannot be asked."""
        keys = self._keys.named(key)
        if is_internal(reference):
            return (
                f"{reference} is not used, since a signature in OpenShift's internal registry cannot be"
                " looked up; name it in a registry that answers here"
            )
        if self.registries().is_signed(parse(reference), keys):
            return ""
        prints = " or ".join(each.fingerprint for each in keys)
        return (
            f"{reference} is not used, since the key with the fingerprint {prints} has not"
            " signed it; sign it (cosign sign --key), or correct the key"
        )

    def identity(self) -> str:
        """How registries are asked, and in which versions of the Secrets as whom; "" where that is
        not known."""
        try:
            policy = self.policy()
        except EnablementError:
            return ""
        secrets = NamespaceSecrets(self._client, self._prepared.namespace)
        accounts = [secrets.identity(name) for name in self._secrets]
        return repr((policy.ca, policy.verify, list(policy.mirrors), list(policy.trusts), accounts))

    def may_push(self, target: str, namespace: str, names: Sequence[str]) -> None:
        """Raise EnablementError where a registry refuses what is pushed, RegistryError where it
        says so itself.

        names: the Secrets of a namespace with which it is pushed; none for those of this run.
        """
        registries = self.registries()
        if names:
            keyring = read_keyring(self._client, namespace, names)
            self._context.secrets.update(keyring.secrets)
            registries = Registries(replace(self.policy(), keyring=keyring))
        try:
            registries.may_push(parse(target))
        except (RegistryUnauthorized, Denied, ImageNotFound, NotTrusted):
            raise
        except RegistryError:  # it may be better by then, or answer only where builds run
            return
