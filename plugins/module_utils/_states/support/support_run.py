# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of support_bundle: everything that somebody who was not there needs, in one archive.

Each part is found out for itself: a cluster of which a bundle is made is broken."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import Any, Optional

from ..._cluster.api_client.api_errors import ApiError, Unreachable
from ..._cluster.api_client.client import Client, connect
from ..._cluster.api_client.connection_request import ConnectionRequest
from ..._cluster.api_objects.diff import yaml_lines
from ..._cluster.api_objects.objects import ObjectKey
from ..._json import Obj, part
from ..._recipes.checking.object_names import images_of
from ..._recipes.templates.overlay import RECIPE_FILE
from ..._runs.context import RunContext
from ..._runs.guard import Guard
from ..._runs.report_file import refuse_unwritable, write_whole
from ..._runs.task import Task
from ..._times import timestamp
from ..._verdicts.pod_status import statuses
from ..cleanup.ownership import find_owned
from ..desired import Desired
from ..on_nodes.strays import MembershipRequest
from ..preparation.image_facts import ImageRequest
from ..preparation.prepare import prepare
from ..preparation.recipe_request import RecipeRequest
from ..proof_request import ProofRequest
from ..record import record_store
from ..record.versions import COLLECTION
from ..validate import prove
from . import redaction, support_objects, support_readme
from .support_advice import with_files
from .support_files import SupportFiles, pack

_WHAT, _README = "The support bundle", "README.md"
# What one request may take: who is slow must not take the time of all.
_READ_S, _PATIENCE_S = 15.0, 20.0
_PODS, _AT_A_TIME = 60, 8
_MEBIBYTE = 1024 * 1024
# What bounds the pods of a namespace, and the file of each.
_LIMITS = (("ResourceQuota", "resource-quotas.yaml"), ("LimitRange", "limit-ranges.yaml"))


@dataclass(frozen=True)
class SupportBundleRequest:
    """file: the archive. resources: the SpecialResources, as special_resource_info returns them; unread: why
    they could not be read, and those that a person names are taken for them; bundles:
    name -> the files of its recipe; recipe_dir: where these are, None for where the record says.
    anonymous: whether nodes and images get other names. most: MiB of all texts. seconds: after which
    nothing more is read. lines: of each log."""

    connection: ConnectionRequest
    file: str
    resources: Sequence[Mapping[str, Any]] = ()
    unread: str = ""
    bundles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    recipe_dir: Optional[str] = None
    options: Optional[Mapping[str, Any]] = field(default=None, repr=False)
    anonymous: bool = False
    most: int = 20
    seconds: int = 120
    lines: int = 200


def run(request: SupportBundleRequest, context: RunContext) -> Obj:
    """Make the archive; in check mode all but that. Raises InvalidInput where it cannot be written, before
    anything is asked."""
    refuse_unwritable(_WHAT, request.file)
    now = context.clock()
    files = SupportFiles(context.clock, now + request.seconds, request.most * _MEBIBYTE)
    collection = _SupportReader(request, context, files)
    collection.add_local()
    with files.part_of("the cluster"):
        collection.read(connect(request.connection).hurried(_READ_S, _PATIENCE_S))
    made = timestamp(now)
    files.texts[_README] = support_readme.readme(
        made, collection.sights, list(files.texts), files.missing
    )
    texts = collection.masked(files.texts)
    if not context.check_mode:
        stem = f"support-bundle-{made.replace(':', '')}"
        packed = pack(texts, (_README,), stem, now)
        write_whole(_WHAT, request.file, packed, mode=0o600)
    return {
        "changed": True,
        "file": request.file,
        "files": [_README, *(path for path in texts if path != _README)],
        "missing": [collection.masked_text(each) for each in files.missing],
        "summary": {
            name: collection.masked_text(lines[0]) for name, lines in collection.sights.items()
        },
    }


class _SupportReader:
    """Reads part by part."""

    def __init__(
        self, request: SupportBundleRequest, context: RunContext, files: SupportFiles
    ) -> None:
        self._request = request
        # Nobody is shown what this run finds, and nothing is written.
        self._context = RunContext(check_mode=True, clock=context.clock, secrets=context.secrets)
        self._files = files
        self._nodes: Sequence[Obj] = ()
        self._images: set[str] = set()
        self._sights: dict[str, list[str]] = {}

    @property
    def sights(self) -> dict[str, list[str]]:
        """Recipe -> the lines that status would show, with the files that are here."""
        paths = self._files.texts.keys()
        return {name: with_files(name, lines, paths) for name, lines in self._sights.items()}

    def add_local(self) -> None:
        """What is known without a cluster: versions, and of each recipe what it says of itself."""
        ansible = sys.modules.get("ansible.release")
        versions = {
            "collection": COLLECTION,
            "ansible": getattr(ansible, "__version__", ""),
            "python": platform.python_version(),
        }
        self._add_yaml("versions.yaml", versions)
        for name, bundle in self._request.bundles.items():
            self._files.add(f"{name}/recipe.yml", bundle.get(RECIPE_FILE, ""))

    def read(self, client: Client) -> None:
        """All parts, the most telling first; after the deadline none is begun. Raises Unreachable."""
        self._add_version(client)
        with self._files.part_of("nodes.yaml"):
            self._nodes = client.list(client.kind("v1", "Node")).items
            self._add_yaml(
                "nodes.yaml", {"nodes": list(map(support_objects.node_entry, self._nodes))}
            )
        if self._request.unread:
            self._files.missing.append(f"Special resources: {self._request.unread}")
        elif not self._request.resources:
            self._files.missing.append("Special resources: none is enabled on this cluster")
        for resource in self._request.resources:
            self._read_resource(client, str(resource["name"]), part(resource, "spec"))
        with self._files.part_of("node-features.yaml"):
            api_version, kind = "nfd.k8s-sigs.io/v1alpha1", "NodeFeature"
            if not self._is_late("node-features.yaml") and client.serves(api_version, kind):
                found = client.list(client.kind(api_version, kind)).items
                self._files.add("node-features.yaml", support_objects.documents(found))

    def masked(self, texts: Mapping[str, str]) -> dict[str, str]:
        """The texts as somebody else may read them, and by names that these tell: pods are called like nodes
        and images."""
        return {self.masked_text(path): self.masked_text(text) for path, text in texts.items()}

    def masked_text(self, text: str) -> str:
        """The same of one text."""
        return self._aliases.put_into(redaction.without_secrets(text, self._context.secrets))

    @cached_property
    def _aliases(self) -> redaction.Aliases:
        if not self._request.anonymous:
            return redaction.Aliases({})
        return redaction.Aliases(redaction.aliases_of(self._nodes, self._images))

    def _is_late(self, what: str) -> bool:
        """Whether there is no time left for a part, which is then missing."""
        if self._files.is_late:
            self._files.missing.append(f"{what}: no time was left")
        return self._files.is_late

    def _add_yaml(self, path: str, value: Mapping[str, Any]) -> None:
        self._files.add(path, "\n".join([*yaml_lines(value), ""]))

    def _add_version(self, client: Client) -> None:
        """What the cluster runs. Raises Unreachable: then nothing else is answered, either."""
        try:
            version = client.version()
        except Unreachable:
            raise
        except ApiError as error:
            self._files.missing.append(f"cluster-version.yaml: {error}")
        else:
            self._add_yaml("cluster-version.yaml", {"kubernetes": version.get("gitVersion")})

    def _read_resource(self, client: Client, name: str, spec: Mapping[str, Any]) -> None:
        if self._is_late(f"{name}/"):
            return
        with self._files.part_of(f"{name}/record.yaml"):
            if record := record_store.read(client, name):
                # Until more is known.
                self._sights[name] = support_objects.sight_of_record(record)
                self._files.add(f"{name}/record.yaml", support_objects.documents([record]))
        self._read_namespace(client, name, str(spec.get("namespace") or name))
        bundle = self._request.bundles.get(name)
        if bundle is None:
            why = f"{name}/: recipe {spec.get('recipe')} is not here, so what it wants is not known"
            self._files.missing.append(why)
            return
        with self._files.part_of(f"{name}/rendered.yaml"):
            desired = self._desired(client, name, spec, bundle)
            self._read_report(desired, name)
            self._read_objects(desired, name)
            self._read_rivals(desired, name)

    def _desired(
        self, client: Client, name: str, spec: Mapping[str, Any], bundle: Mapping[str, str]
    ) -> Desired:
        given = RecipeRequest(
            recipe=str(spec.get("foundAs") or spec.get("recipe") or name),
            recipe_dir=self._request.recipe_dir or spec.get("recipeDir"),
            bundle=bundle,
            instance=name,
            options=self._request.options and {**part(spec, "options"), **self._request.options},
        )
        prepared = prepare(given, self._context, client)
        return Desired(client, prepared, MembershipRequest(), ImageRequest(), self._context.clock)

    def _read_report(self, desired: Desired, name: str) -> None:
        request = ProofRequest(wait=False, require_ready=False, report="all")
        guard = Guard(desired.client, name, self._context)
        states = list(desired.recipe.states.values())
        report = prove(desired, states, request, self._context, guard)
        self._sights[name] = report["table"]
        lines = self.sights[name]
        self._files.add(f"{name}/report.txt", "".join(f"{line}\n" for line in lines))
        self._files.add(f"{name}/report.json", json.dumps(report, indent=1, default=str) + "\n")

    def _read_objects(self, desired: Desired, name: str) -> None:
        wanted = support_objects.keyed(
            item.manifest for state in desired.rendered.values() for item in state.objects
        )
        live: dict[ObjectKey, Obj] = find_owned(
            desired.client,
            desired.prepared,
            list(desired.recipe.states),
            desired.record,
            wanted.values(),
        )
        self._learn(wanted.values())
        self._context.secrets.update(
            redaction.secret_values(obj for obj in live.values() if obj["kind"] == "Secret")
        )
        self._files.add(f"{name}/differences.txt", support_objects.differences(wanted, live))
        self._files.add(f"{name}/rendered.yaml", support_objects.documents(wanted.values()))
        self._files.add(f"{name}/live.yaml", support_objects.documents(live.values()))

    def _read_rivals(self, desired: Desired, name: str) -> None:
        """Other device plugins, whatever they serve, and the logs of their pods."""
        found = desired.foreign_plugins
        if not found:
            return
        self._learn(found)
        self._files.add(f"{name}/rivals.yaml", support_objects.documents(found))
        for rival in found:
            meta = rival["metadata"]
            labels = part(rival, "spec", "selector", "matchLabels")
            selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
            with self._files.part_of(f"{name}/rivals/{meta['name']}"):
                pods = desired.client.list(
                    desired.client.kind("v1", "Pod"), namespace=meta["namespace"], labels=selector
                ).items
                self._read_logs(desired.client, f"{name}/rivals", pods)

    def _read_namespace(self, client: Client, name: str, namespace: str) -> None:
        """What is in the namespace of the operands: pods, what is complained of, what limits them, and logs.
        Secrets are read for their values alone, which no log may show."""
        with self._files.part_of(
            f"Secrets of namespace {namespace}, so that logs were not searched for them"
        ):
            secrets = client.list(client.kind("v1", "Secret"), namespace=namespace).items
            self._context.secrets.update(redaction.secret_values(secrets))
        with self._files.part_of(f"{name}/events.txt"):
            events = client.list(client.kind("v1", "Event"), namespace=namespace).items
            self._files.add(f"{name}/events.txt", support_objects.events_text(events))
        for kind, path in _LIMITS:
            with self._files.part_of(f"{name}/{path}"):
                found = client.list(client.kind("v1", kind), namespace=namespace).items
                self._files.add(f"{name}/{path}", support_objects.documents(found))
        with self._files.part_of(f"{name}/pods.yaml"):
            pods = client.list(client.kind("v1", "Pod"), namespace=namespace).items
            self._learn(pods)
            pods.sort(key=support_objects.is_troubled, reverse=True)
            entries = [support_objects.pod_entry(pod) for pod in pods]
            self._add_yaml(f"{name}/pods.yaml", {"pods": entries})
            self._read_logs(client, name, pods)

    def _read_logs(self, client: Client, folder: str, pods: Sequence[Obj]) -> None:
        wanted = iter(self._logs_of(folder, support_objects.worth_reading(pods, _PODS)))
        while batch := list(islice(wanted, _AT_A_TIME)):
            if self._is_late(f"{folder}/logs/"):
                return
            calls = [partial(client.logs, **asked) for _path, asked in batch]
            answers = client.parallel(calls, workers=_AT_A_TIME)
            for (path, _asked), answer in zip(batch, answers, strict=True):
                if isinstance(answer, ApiError):
                    self._files.missing.append(f"{path}: {answer}")
                elif answer:
                    self._files.add(path, answer)

    def _logs_of(self, folder: str, pods: Sequence[Obj]) -> Iterator[tuple[str, dict[str, Any]]]:
        """(path, what is asked for) of each log."""
        for pod in pods:
            meta = pod["metadata"]
            for status in statuses(pod):
                stem = f"{folder}/logs/{meta['name']}-{status['name']}"
                asked = {
                    "namespace": meta["namespace"],
                    "pod": meta["name"],
                    "container": status["name"],
                    "tail": self._request.lines,
                }
                yield f"{stem}.log", asked
                if status.get("restartCount"):
                    yield f"{stem}-previous.log", {**asked, "previous": True}

    def _learn(self, objects: Any) -> None:
        """Which images there are, for who calls them otherwise."""
        self._images |= {image for obj in objects for _path, image in images_of(obj)}


TASK = Task(SupportBundleRequest, run)
