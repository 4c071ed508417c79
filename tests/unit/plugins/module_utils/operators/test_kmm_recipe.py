# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of Kernel Module Management as recipes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._operators.field_mapping import (
    mapping_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_module import (
    FIELDS,
    MAPPING_FIELDS,
    fields_of,
    kernel_cases,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_recipe import (
    recipe_files,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    Templates,
)

Obj = dict[str, Any]
KNOWN = yaml.safe_load(Path(__file__).with_name("kmm_fields.yml").read_text())
DOCKERFILE = """\
ARG DTK_AUTO
FROM ${DTK_AUTO} AS builder
RUN --mount=type=secret,id=x cat /run/secrets/token && make KVER={{not a template}}
FROM registry.example.com/ubi
COPY --from=builder /x /opt/lib/modules/
"""


def module(mappings: list[Obj] | None = None, plugin: Obj | None = None, **container: Any) -> Obj:
    """A Module."""
    loader = {"modprobe": {"moduleName": "card"}, **container}
    if mappings is not None:
        loader["kernelMappings"] = mappings
    spec: Obj = {"selector": {"card": "yes"}, "moduleLoader": {"container": loader}}
    if plugin:
        spec["devicePlugin"] = plugin
    return {"metadata": {"name": "card", "namespace": "cards"}, "spec": spec}


def image(made: Obj, kernel: str) -> str:
    """The image of a kernel, as the recipe has it."""
    files = recipe_files(made, "card", "", {"d": DOCKERFILE})
    recipe = yaml.safe_load(files["recipe.yml"])
    template = recipe["states"]["driver_container"]["image"]
    return rendered(files, template, kernel).strip()


def rendered(files: Obj, template: str, kernel: str) -> str:
    """A text of the recipe for a kernel."""
    values = {"kernel": {"raw": kernel}, "options": {"sign_image": "dtk"}}
    return Templates(files, "card").render_text(template, "a text", values)


@pytest.mark.parametrize(
    ("kind", "fields"), [("Module", FIELDS), ("kernelMappings", MAPPING_FIELDS)]
)
def test_every_field_is_spoken_of(kind: str, fields: Any) -> None:
    assert [path for path in KNOWN[kind] if mapping_of(path, fields) is None] == []


def test_the_first_mapping_that_fits_gives_the_image() -> None:
    made = module(
        [
            {"literal": "5.14.0-1.el9.x86_64", "containerImage": "r/one:${KERNEL_XYZ}"},
            {
                "regexp": r"el9(_\d+)?\.x86_64$",
                "containerImage": "r/$MOD_NAME:${KERNEL_FULL_VERSION}",
            },
            {"regexp": "^6", "containerImage": "r/six:${KERNEL_X}-${KERNEL_Y}-${KERNEL_Z}"},
        ]
    )
    assert image(made, "5.14.0-1.el9.x86_64") == "r/one:5.14.0"
    assert image(made, "5.14.0-2.el9_4.x86_64") == "r/card:5.14.0-2.el9_4.x86_64"
    assert image(made, "6.8.12-71-generic+") == "r/six:6-8-12"
    assert image(made, "5.15.0-generic") == ""


def test_a_recipe_with_everything_is_one() -> None:
    plugin = {
        "container": {"image": "p", "volumeMounts": [{"name": "dev", "mountPath": "/dev/card"}]},
        "initContainer": {"image": "q"},
        "volumes": [{"name": "dev", "hostPath": {"path": "/dev/card"}}],
        "serviceAccountName": "plugin",
    }
    made = module(
        [{"regexp": ".*", "build": {"dockerfileConfigMap": {"name": "d"}, "secrets": [{"name": "token"}],
                                    "buildArgs": [{"name": "A", "value": "${MOD_NAMESPACE}"}]}}],
        plugin,
        containerImage="registry.example.com/card:${KERNEL_FULL_VERSION}",
        inTreeModulesToRemove=["nouveau", "x"],
        modprobe={"moduleName": "card", "parameters": ["a=1"], "firmwarePath": "/firmware",
                  "modulesLoadingOrder": ["card", "helper", "base"]},
        sign={"keySecret": {"name": "k"}, "certSecret": {"name": "c"},
              "filesToSign": ["/opt/lib/modules/${KERNEL_FULL_VERSION}/card.ko"]},
    )  # fmt: skip
    made["spec"] |= {"tolerations": [{"operator": "Exists"}], "imageRepoSecret": {"name": "pull"}}
    files = recipe_files(made, "card", "example.com/card", {"d": DOCKERFILE})
    recipe = load(files, "card")
    options = recipe.options
    assert options["load_arguments"].default == [
        "-v",
        "-d",
        "/run/hardware-enablement/card",
        "card",
        "a=1",
    ]
    assert options["unload_arguments"].default[:2] == ["-r", "-v"]
    assert options["load_before"].default == ["base", "helper"]
    assert options["image_pull_secrets"].default == ["pull"]
    assert options["tolerations"].default == [{"operator": "Exists"}]
    assert options["build_repository"].default == "registry.example.com/card"
    build = yaml.safe_load(files["recipe.yml"])["states"]["driver_container"]["build"]
    assert build["secrets"] == {"token": "token", "sign-key": "k", "sign-cert": "c"}
    assert build["args"]["A"] == "cards"
    text = rendered(files, files["build/Containerfile.j2"], "6.8.0")
    assert text.startswith("ARG DTK_AUTO\nFROM ${DTK_AUTO} AS builder\n")
    assert "cat /run/build-secrets/token && make KVER={{not a template}}" in text
    assert "FROM registry.example.com/ubi AS module-image\nCOPY --from=builder" in text
    file = "/opt/lib/modules/6.8.0/card.ko"
    assert f"COPY --from=module-image {file} /signed{file}" in text
    assert text.rstrip().endswith("FROM module-image\nCOPY --from=module-signer /signed /")
    daemonset = yaml.safe_load(rendered(files, files["device_plugin/daemonset.yaml.j2"], ""))
    pod = daemonset["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["volumes"]] == ["kubelet-device-plugins", "dev"]
    assert pod["initContainers"][0]["image"] == "q"


def test_what_is_signed_need_not_be_built() -> None:
    sign = {
        "keySecret": {"name": "k"},
        "certSecret": {"name": "c"},
        "filesToSign": ["/a.ko"],
        "unsignedImage": "u:${KERNEL_X}",
    }
    files = recipe_files(
        module([{"regexp": ".", "sign": sign}], containerImage="i"), "card", "", {}
    )
    text = rendered(files, files["build/Containerfile.j2"], "6.8.0")
    assert text.startswith("FROM u:6 AS module-image\n")
    assert load(files, "card").options["build"].default is True


def test_raw_arguments_are_taken_as_they_are() -> None:
    raw = {
        "moduleName": "card",
        "rawArgs": {"load": ["-f", "-d", "/opt", "card"], "unload": ["-rf", "card"]},
    }
    options = load(
        recipe_files(module(modprobe=raw, containerImage="i"), "card", "", {}), "card"
    ).options
    assert options["load_arguments"].default == [
        "-f",
        "-d",
        "/run/hardware-enablement/card",
        "card",
    ]
    assert options["unload_arguments"].default == ["-rf", "card"]


def test_what_has_no_counterpart_is_said() -> None:
    made = module([{"literal": "x", "registryTLS": {"insecure": True}}], version="2", later=1)
    made["spec"]["dra"] = {"driverName": "card"}
    found = fields_of(made)
    assert found.dropped.keys() == {"dra", "moduleLoader.container.later"}
    assert found.differs.keys() == {
        "moduleLoader.container.version",
        "moduleLoader.container.kernelMappings[0].registryTLS",
    }


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (module([{"regexp": "(", "containerImage": "i"}]), "regexp '('"),
        (module([{"literal": "x", "containerImage": "i:${OTHER}"}]), "'i:${OTHER}' has a variable"),
    ],
)
def test_what_cannot_be_had_is_refused(made: Obj, why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        kernel_cases(made)
    assert caught.value.why.startswith(why)


def test_a_dockerfile_that_is_not_there_is_named() -> None:
    made = module(
        [{"literal": "x", "build": {"dockerfileConfigMap": {"name": "gone"}}}], containerImage="i"
    )
    with pytest.raises(InvalidInput) as caught:
        recipe_files(made, "card", "", {})
    assert caught.value.where == "ConfigMap gone"
