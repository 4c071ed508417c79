# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.annotation_proofs import (
    proofs_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.kernel_affine import (
    fnv64a,
    kernel_suffix,
    made_affine,
    without_state_labels,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.sro_annotations import (
    annotations_of,
    in_text,
    misspelt_in,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput

SRO = "specialresource.openshift.io"


def thing(kind: str, *, spec: Any = None, **annotations: str) -> dict[str, Any]:
    """An object with annotations of the operator; _ stands for -."""
    named = {f"{SRO}/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {
        "apiVersion": "apps/v1" if kind in ("DaemonSet", "Deployment", "StatefulSet") else "v1",
        "kind": kind,
        "metadata": {"name": "x", "annotations": named},
        "spec": {"template": {"spec": spec or {"containers": [{"name": "c"}]}}},
    }


@pytest.mark.parametrize(
    "domain", [SRO, "specialresrouce.openshift.io", "specialResource.openshift.io"]
)
def test_all_spellings_are_heeded(domain: str) -> None:
    manifest = {"kind": "Pod", "metadata": {"name": "x", "annotations": {f"{domain}/wait": "true"}}}
    assert annotations_of(manifest) == {"wait": "true"}


def test_those_that_the_operator_did_not_heed_are_told() -> None:
    files = {"a.yaml": "a: 1\n  specialresrouce.openshift.io/wait-for-logs: x\n"}
    assert [(path, line) for path, line, _text in misspelt_in(files, ["a.yaml"])] == [("a.yaml", 2)]


@pytest.mark.parametrize(
    ("annotation", "why"),
    [
        ({"wiat": "true"}, "did you mean wait"),
        ({"wait": "yes"}, 'expected "true" or "false"'),
        ({"kernel_affine": "True"}, 'expected "true" or "false"'),
        ({"wait_for_logs": "("}, "no regular expression"),
    ],
)
def test_wrong_ones_are_refused(annotation: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        annotations_of(thing("Pod", **annotation))


def test_others_are_none_of_ours() -> None:
    annotations = {"example.org/wiat": "x", "openshift.io/scc": "privileged", "callback": "a"}
    manifest = {"kind": "Pod", "metadata": {"name": "x", "annotations": annotations}}
    assert annotations_of(manifest) == {"callback": "a"}


def test_values_are_found_in_templates() -> None:
    text = (
        f'  {SRO}/state: "driver-container"\n  # {SRO}/wait: "true"\n  {SRO}/state: {{{{ .x }}}}\n'
    )
    assert in_text(text, "state") == ["driver-container", "{{ .x }}"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)],
)
def test_the_hash_is_fnv_1a(text: str, value: int) -> None:
    assert fnv64a(text) == value


def test_the_suffix_is_the_operators_where_that_is_well_defined() -> None:
    kernel = {"raw": "4.18.0-305.19.1.el8_4.x86_64", "label": "4.18.0-305.19.1.el8_4.x86_64"}
    variables = {"kernel": kernel, "arch": "amd64", "pool": ""}
    hashed = fnv64a("8.4-4.18.0-305.19.1.el8-4.x86-64")
    assert kernel_suffix(variables, "8.4") == f"-{hashed:x}"
    generic = {"kernel": {"raw": "6.8.0-60-generic"}, "arch": "amd64", "pool": ""}
    others = [generic, {**generic, "arch": "arm64"}, {**generic, "pool": "a"}]
    assert len({kernel_suffix(each, "24.04") for each in others}) == 3


def test_an_object_for_each_kernel_is_told_apart_by_name_and_label() -> None:
    made = made_affine(thing("DaemonSet"), "-1f", "6.8.0")
    assert made["metadata"]["name"] == "x-1f"
    assert made["metadata"]["labels"]["app"] == made["spec"]["selector"]["matchLabels"]["app"]
    assert made["spec"]["template"]["metadata"]["labels"] == {"app": "x-1f"}
    # Kept to the kernel's nodes by our own affinity.
    assert "nodeSelector" not in made["spec"]["template"]["spec"]
    stateful = made_affine(thing("StatefulSet"), "-1f", "6.8.0")
    selector = stateful["spec"]["template"]["spec"]["nodeSelector"]
    assert selector == {"feature.node.kubernetes.io/kernel-version.full": "6.8.0"}
    run = made_affine(
        {"kind": "BuildRun", "apiVersion": "shipwright.io/v1alpha1", "metadata": {"name": "b"}},
        "-1f",
        "6.8.0",
    )
    assert run["spec"]["buildRef"]["name"] == run["metadata"]["name"] == "b-1f"


def test_labels_that_only_the_operator_sets_are_not_waited_for() -> None:
    own = {"key": f"{SRO}/driver-container-x", "operator": "In", "values": ["ready"]}
    other = {"key": "example.org/a", "operator": "Exists"}
    for expressions, kept in (([own, other], [other]), ([own], None)):
        required = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
        spec = {
            "nodeSelector": {f"{SRO}/state-x-0000": "Ready", "a": "b"},
            "affinity": {
                "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}
            },
        }
        made = without_state_labels(thing("DaemonSet", spec=spec))["spec"]["template"]["spec"]
        assert made["nodeSelector"] == {"a": "b"}
        found = made["affinity"]["nodeAffinity"].get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        )
        assert found == (kept and {"nodeSelectorTerms": [{"matchExpressions": kept}]})


def test_what_is_waited_for() -> None:
    assert (
        proofs_of([thing("ConfigMap"), thing("Service", wait_="x") | {"metadata": {"name": "s"}}])
        == []
    )
    (rollout,) = proofs_of([thing("DaemonSet", wait="true"), thing("Deployment")])
    assert rollout.kind == "rollout"
    (pod,) = proofs_of([thing("Pod", wait="true")])
    assert pod.spec["field"] == {"path": "status.phase", "equals": "Succeeded"}
    (crd,) = proofs_of([thing("CustomResourceDefinition")])
    assert crd.spec["condition"] == {"type": "Established"}
    (certificate,) = proofs_of([thing("Certificate", wait="true")])
    assert certificate.spec["condition"] == {"type": "Ready"}
    (build,) = proofs_of([thing("BuildConfig", wait="true")])
    assert (build.kind, build.spec["name"]) == ("build", "x")
    (secret,) = proofs_of([thing("Secret", wait="true")])
    assert set(secret.spec) == {"api_version", "kind", "name"}


def test_logs_are_of_each_nodes_pod_or_of_the_objects() -> None:
    found = proofs_of([thing("DaemonSet", wait_for_logs="ready")])
    assert [proof.kind for proof in found] == ["rollout", "logs"]
    assert dict(found[1].spec) == {"match": "ready", "tail": 100}
    (_rollout, logs) = proofs_of([thing("Deployment", wait_for_logs="ready")])
    assert (logs.spec["kind"], logs.spec["name"]) == ("Deployment", "x")
    several = thing(
        "DaemonSet", spec={"containers": [{"name": "a"}, {"name": "b"}]}, wait_for_logs="x"
    )
    assert proofs_of([several])[1].spec["container"] == "a"
