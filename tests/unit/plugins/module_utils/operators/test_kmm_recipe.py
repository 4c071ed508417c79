# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of Kernel Module Management as recipes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_reading import (
    read_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    with_macros,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_image import (
    building_options,
    lost_mounts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_module import (
    kernel_cases,
    modules_in,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.kmm_recipe import (
    recipe_files,
    recipe_name,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.building import (
    render_build,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.check import (
    check,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.lookups import (
    settled,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    Templates,
)
from tests.unit.plugins.module_utils.operators.kmm_modules import (
    DOCKERFILE,
    DOCKERFILES,
    Obj,
    module,
)
from tests.unit.recipes.checks import TYPES
from tests.unit.recipes.conftest import coarse, group_of

FILES = "/run/hardware-enablement/card"
EL = "5.14.0-427.50.1.el9_4.x86_64"
SIGN = {
    "keySecret": {"name": "k"},
    "certSecret": {"name": "c"},
    "filesToSign": ["/opt/lib/modules/${KERNEL_FULL_VERSION}/*.ko"],
}
CONFIG_MAP = {"dockerfileConfigMap": {"name": "d"}}


def made_of(made: Obj, resource: str = "") -> dict[str, str]:
    """The files of its recipe, which recipe_check has nothing against."""
    files = recipe_files(made, "card", resource, DOCKERFILES)
    found = check(with_macros(dict(files)), "card", {}, TYPES, read=read_recipe)
    assert [str(each) for each in (*found.errors, *found.warnings)] == []
    return files


def recipe_of(files: dict[str, str]) -> Obj:
    """Its recipe.yml."""
    recipe: Obj = yaml.safe_load(files["recipe.yml"])
    return recipe


def image(made: Obj, kernel: str) -> str:
    """The image of a kernel, as the recipe has it."""
    files = recipe_files(made, "card", "", DOCKERFILES)
    template = recipe_of(files)["states"]["driver_container"]["image"]
    return rendered(files, template, kernel).strip()


def rendered(files: Obj, template: str, kernel: str) -> str:
    """A text of the recipe for a kernel."""
    values = {"kernel": {"raw": kernel}, "options": {"sign_image": "dtk"}}
    return Templates(with_macros(dict(files)), "card").render_text(template, "a text", values)


def options_of(**container: Any) -> Obj:
    """The defaults of a recipe's options."""
    found = load(recipe_files(module(**container), "card", "", DOCKERFILES), "card").options
    return {name: option.default for name, option in found.items()}


def daemonset(files: dict[str, str], state: str) -> Obj:
    """The DaemonSet of a device plugin or DRA driver."""
    made: Obj = yaml.safe_load(rendered(files, files[f"{state}/daemonset.yaml.j2"], ""))
    return made


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


@pytest.mark.parametrize(
    ("text", "kernel", "expected"),
    [
        ("r/c:$KERNEL_FULL_VERSION", "6.12.38+deb13-amd64", "r/c:6.12.38_deb13-amd64"),
        ("r/c:${KERNEL_VERSION}", "6.1.0~rc1,a@b-cloud", "r/c:6.1.0_rc1_a_b-cloud"),
        ("r/c:$KERNEL_FULL_VERSION", "5.10.123+", "r/c:5.10.123"),
        ("r/c:$KERNEL_XYZ-${KERNEL_Z}", "6.12.38+deb13-amd64", "r/c:6.12.38_deb13-38_deb13"),
        ("r/c:$KERNEL_XYZ", "6.9-rc1-next", "r/c:6.9.rc1"),
        ("$MOD_NAMESPACE/$MOD_NAME:1", EL, "cards/card:1"),
        ("r/c:${KERNEL_X:-0}${KERNEL_Y-0}${KERNEL_Z:=7}", EL, "r/c:5140"),
        ("r/c:1${OTHER}${OTHER:-.2}${OTHER-$KERNEL_X}${OTHER:+no}${KERNEL_X:+y}", EL, "r/c:1.25y"),
        ("r/c:$${KERNEL_X}", EL, "r/c:${KERNEL_X}"),
        ("r/$_c$_:$", EL, "r/$_:$"),
        ("r/c", EL, "r/c"),
        ("r/{{c}}{$KERNEL_X", EL, "r/{{c}}{5"),
    ],
)
def test_an_image_is_the_one_that_kmm_would_use(text: str, kernel: str, expected: str) -> None:
    assert image(module(containerImage=text), kernel) == expected


def test_a_regular_expression_is_go_s() -> None:
    made = module([{"regexp": r"(?P<x>[[:digit:]]+)\.8.*(?i)GENERIC\z"}])
    assert image(made, "6.8.0-60-generic") == "r/card:1"
    assert image(made, "6.8.0-60-generic-x") == ""


def test_a_recipe_with_everything_is_one() -> None:
    plugin = {
        "container": {"image": "p:1", "volumeMounts": [{"name": "dev", "mountPath": "/dev/card"}]},
        "initContainer": {"image": "q:1"},
        "volumes": [{"name": "dev", "hostPath": {"path": "/dev/card"}}],
        "serviceAccountName": "plugin",
    }
    made = module(
        [{"regexp": ".*", "build": {**CONFIG_MAP, "secrets": [{"name": "token"}],
                                    "buildArgs": [{"name": "A", "value": "${MOD_NAMESPACE} {{x}}"},
                                                  {"name": "MOD_NAME", "value": "other"}]}}],
        plugin,
        containerImage="registry.example.com/card:${KERNEL_FULL_VERSION}",
        inTreeModulesToRemove=["nouveau", "x"],
        modprobe={"moduleName": "card", "parameters": ["a=1"], "firmwarePath": "/firmware",
                  "args": {"load": ["--first-time"]}, "modulesLoadingOrder": ["card", "helper", "base"]},
        sign=SIGN,
    )  # fmt: skip
    made["spec"] |= {"tolerations": [{"operator": "Exists"}], "imageRepoSecret": {"name": "pull"}}
    files = made_of(made, "example.com/card")
    options = load(files, "card").options
    assert options["load_arguments"].default == ["-vd", FILES, "--first-time", "card", "a=1"]
    assert options["unload_arguments"].default == ["-rvd", FILES, "card", "helper", "base"]
    assert options["load_before"].default == ["base", "helper"]
    assert options["image_pull_secrets"].default == ["pull"]
    assert options["tolerations"].default == [{"operator": "Exists"}]
    assert options["build_repository"].default == "registry.example.com/card"
    build = recipe_of(files)["states"]["driver_container"]["build"]
    assert build["secrets"] == {"token": "token", "sign-key": "k", "sign-cert": "c"}
    arguments = {name: rendered(files, text, EL) for name, text in build["args"].items()}
    assert arguments == {
        "A": "${MOD_NAMESPACE} {{x}}",
        "KERNEL_VERSION": EL,
        "KERNEL_FULL_VERSION": EL,
        "MOD_NAME": "card",
        "MOD_NAMESPACE": "cards",
    }
    text = rendered(files, files["build/Containerfile.j2"], "6.8.0")
    assert text.startswith("ARG DTK_AUTO\nFROM ${DTK_AUTO} AS builder\n")
    assert "cat /run/build-secrets/token && make KVER={{not a template}}" in text
    assert "FROM registry.example.com/ubi AS module-image\nCOPY --from=builder" in text
    assert "COPY --from=module-image /opt /signed/opt\n" in text
    assert "for file in /signed/opt/lib/modules/6.8.0/*.ko; do" in text
    assert text.rstrip().endswith("FROM module-image\nCOPY --from=module-signer /signed/opt /opt")
    pod = daemonset(files, "device_plugin")["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["volumes"]] == ["kubelet-device-plugins", "dev"]
    assert pod["serviceAccountName"] == "plugin"
    containers = [*pod["containers"], *pod["initContainers"]]
    assert [(each["name"], each["image"]) for each in containers] == [
        ("device-plugin", "p:1"),
        ("device-plugin-init", "q:1"),
    ]
    assert all(each["securityContext"] == {"privileged": True} for each in containers)


def test_what_differs_by_kernel_is_joined_as_kmm_does() -> None:
    common = {**CONFIG_MAP, "buildArgs": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
    own = {"buildArgs": [{"name": "A", "value": "3"}], "secrets": [{"name": "s"}]}
    made = module(
        [{"regexp": "^6", "build": own, "sign": {"filesToSign": ["/opt/b.ko"]}, "inTreeModulesToRemove": []},
         {"regexp": "^5", "inTreeModuleToRemove": "one"}],
        build=common,
        sign={**SIGN, "filesToSign": ["/opt/a.ko"]},
        inTreeModulesToRemove=["old"],
    )  # fmt: skip
    files = made_of(made)
    build = recipe_of(files)["states"]["driver_container"]["build"]

    def arguments(kernel: str) -> list[str]:
        return [rendered(files, build["args"][name], kernel).strip() for name in ("A", "B")]

    assert (arguments("6.8.0"), arguments(EL)) == (["3", "2"], ["1", "2"])
    assert rendered(files, build["secrets"]["s"], "6.8.0").strip() == "s"
    assert rendered(files, build["secrets"]["s"], EL).strip() == ""
    containerfile = files["build/Containerfile.j2"]
    assert "in /signed/opt/a.ko /signed/opt/b.ko;" in rendered(files, containerfile, "6.8.0")
    assert "in /signed/opt/a.ko;" in rendered(files, containerfile, EL)
    assert [list(case.remove) for case in kernel_cases(made)] == [[], ["one"]]


def test_a_dockerfile_that_relies_on_the_node_s_modules_is_named() -> None:
    made = module(build=CONFIG_MAP)
    text = "FROM x\nRUN ln -s /host/lib/modules/1 /opt/lib/modules/1/host && depmod -b /opt 1\n"
    assert lost_mounts(made, DOCKERFILES) == {}
    assert lost_mounts(made, {"d": text}).keys() == {"ConfigMap d"}


def test_a_kernel_whose_image_is_there_is_not_built() -> None:
    prebuilt, built = (
        {"literal": EL},
        {"regexp": "^6", "build": {"dockerfileConfigMap": {"name": "sample"}}},
    )
    files = made_of(module([prebuilt, built], containerImage="r/c:${KERNEL_X}"))
    options = {"build": True, "build_repository": "r/c"}
    recipe = settled(load(files, "card"), options)
    facts = RenderFacts(
        namespace="cards",
        options=resolve(recipe, options),
        groups=[group_of("a", EL), group_of("b", "6.8.0"), group_of("c", "4.18.0")],
        applyset_id="applyset-test",
        cluster={"platform": "kubernetes"},
        coarse=coarse,
    )
    state = recipe.states["driver_container"]
    builds = [render_build(recipe, state, facts, group) for group in facts.groups]
    assert [each and each.args["KERNEL_VERSION"] for each in builds] == [None, "6.8.0", None]


def test_what_is_signed_need_not_be_built() -> None:
    sign = {**SIGN, "unsignedImage": "u:${KERNEL_FULL_VERSION}"}
    files = made_of(module([{"regexp": ".", "sign": sign}]))
    text = rendered(files, files["build/Containerfile.j2"], "6.12.38+deb13-amd64")
    assert text.startswith("FROM u:6.12.38_deb13-amd64 AS module-image\n")
    # Modules lie in a folder of the kernel's own name.
    assert "in /signed/opt/lib/modules/6.12.38+deb13-amd64/*.ko;" in text
    assert load(files, "card").options["build"].default is True


def test_a_last_stage_with_a_name_keeps_it() -> None:
    build = {"dockerfileConfigMap": {"name": "sample"}}
    files = made_of(module([{"regexp": ".", "build": build, "sign": SIGN}]))
    text = rendered(files, files["build/Containerfile.j2"], EL)
    assert text.startswith("FROM other AS made\n# The key is that of Secret k. ")
    assert "\nFROM dtk AS module-signer\nCOPY --from=made /opt" in text
    assert "\nFROM made\n" in text


@pytest.mark.parametrize("folder", ["/opt", "/kmods/"])
def test_raw_arguments_are_taken_as_they_are(folder: str) -> None:
    plain = folder.rstrip("/")
    raw = {
        "dirName": folder,
        "rawArgs": {
            "load": ["-f", "-d", plain, "card", "x=a b"],
            "unload": ["-r", f"-vd/tmp{plain}", f"--dirname={plain}", "card"],
        },
    }
    found = options_of(modprobe=raw)
    assert found["load_arguments"] == ["-f", "-d", FILES, "card", "x=a b"]
    assert found["unload_arguments"] == ["-r", f"-vd{FILES}", f"--dirname={FILES}", "card"]
    assert (found["module"], found["module_directory"]) == ("", plain)


@pytest.mark.parametrize("field", ["devicePlugin", "dra"])
def test_a_module_may_load_nothing(field: str) -> None:
    made = module()
    plugin = {"container": {"image": "p:1"}, "driverName": "card.example.com"}
    made["spec"] = {"selector": {}, field: plugin}
    files = made_of(made)
    recipe = recipe_of(files)
    (state,) = recipe["states"].values()
    assert "requires" not in state
    assert state["assets"][0] == "driver/namespace.yaml.j2"
    assert recipe["selector"] == {"any_of": [{"kubernetes.io/os": "linux"}]}
    assert recipe["options"] == {}


def test_a_dra_driver_runs_as_kmm_runs_it() -> None:
    made = module()
    selector = {"cel": {"expression": 'device.driver == "card.example.com"'}}
    made["spec"]["dra"] = {
        "driverName": "card.example.com",
        "container": {"image": "p:1", "env": [{"name": "A", "value": "{{b}}"}]},
        "deviceClasses": [{"name": "cards", "selectors": [selector]}, {"name": "all"}],
    }
    files = made_of(made)
    recipe = recipe_of(files)
    assert recipe["device_access"] == {"dra_drivers": ["card.example.com"]}
    state = recipe["states"]["dra_driver"]
    assert state["requires"] == ["driver"]
    assert state["validate"] == [
        {"rollout": {}},
        {"resource_slices": {"driver": "card.example.com"}},
    ]
    pod = daemonset(files, "dra_driver")["spec"]["template"]["spec"]
    assert pod["hostNetwork"] is True
    (container,) = pod["containers"]
    assert container["livenessProbe"]["grpc"] == {"port": 51515, "service": "liveness"}
    assert [each["name"] for each in container["env"]] == [
        "NODE_NAME",
        "POD_UID",
        "CDI_ROOT",
        "KUBELET_REGISTRAR_DIRECTORY_PATH",
        "KUBELET_PLUGINS_DIRECTORY_PATH",
        "HEALTHCHECK_PORT",
        "A",
    ]
    assert container["env"][-1]["value"] == "{{b}}"
    assert [each["mountPath"] for each in container["volumeMounts"]] == [
        "/var/lib/kubelet/plugins/",
        "/var/lib/kubelet/plugins_registry/",
        "/var/run/cdi",
    ]
    classes = rendered(files, files["dra_driver/deviceclasses.yaml.j2"], "")
    assert [each["spec"] for each in yaml.safe_load_all(classes)] == [{"selectors": [selector]}, {}]


def test_the_driver_runs_as_the_account_that_the_module_names() -> None:
    made = module(imagePullPolicy="Never")
    made["spec"]["moduleLoader"]["serviceAccountName"] = "loader"
    files = made_of(made)
    text = files["driver/daemonset.yaml.j2"]
    assert "serviceAccountName: loader\n" in text
    assert "imagePullPolicy: Never\n" in text
    assert "driver/serviceaccount.yaml.j2" not in files
    assert '"loader"' in files["driver/scc.yaml.j2"]
    assert "driver/serviceaccount.yaml.j2" in made_of(module())


def test_a_module_for_one_kernel_is_one_that_recipe_check_takes() -> None:
    made_of(module([{"literal": "1.2.3-only"}], {"container": {"image": "p:1"}}))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("card", "card"),
        ("amd.gpu.module", "amd-gpu-module"),
        ("a-module-with-a-very-long-name-1", "a-module-with-a-very-long-c5f2"),
    ],
)
def test_a_recipe_is_called_as_its_module(name: str, expected: str) -> None:
    made = module()
    made["metadata"]["name"] = name
    assert recipe_name(made) == expected
    rival = {"api_version": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "name": name}
    assert recipe_of(recipe_files(made, expected, "", {}))["rivals"] == [rival]


def test_modules_are_read_in_all_their_forms() -> None:
    spec = module()["spec"]
    old = {"selector": {}, "driverContainer": spec["moduleLoader"]}
    found = modules_in(
        [
            {"apiVersion": "kmm.sigs.x-k8s.io/v1beta1", "kind": "Module", "metadata": {"name": "a"}, "spec": spec},
            {"apiVersion": "kmm.sigs.k8s.io/v1beta1", "kind": "Module", "metadata": {"name": "b"}, "spec": old},
            {"apiVersion": "hub.kmm.sigs.x-k8s.io/v1beta1", "kind": "ManagedClusterModule",
             "metadata": {"name": "c"}, "spec": {"moduleSpec": spec, "spokeNamespace": "cards", "selector": {}}},
            {"apiVersion": "other.example.com/v1", "kind": "Module", "metadata": {"name": "d"}, "spec": {}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "e"}},
        ]
    )  # fmt: skip
    assert [each["metadata"]["name"] for each in found] == ["a", "b", "c"]
    assert [each["spec"]["moduleLoader"] for each in found] == [spec["moduleLoader"]] * 3
    assert found[2]["metadata"]["namespace"] == "cards"
    assert found[2]["apiVersion"] == "kmm.sigs.x-k8s.io/v1beta1"


def test_a_dockerfile_may_be_in_the_module() -> None:
    made = module([{"regexp": ".", "build": {"dockerfile": "FROM x\nRUN {{y}}\n"}}])
    files = made_of(made)
    assert rendered(files, files["build/Containerfile.j2"], EL).strip() == "FROM x\nRUN {{y}}"


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (module([{"regexp": "("}]), "the regexp '(' cannot be had: it has a ( that is not closed"),
        (module(containerImage="i:${KERNEL_X"), "'i:${KERNEL_X' has a ${ that no name and } follow"),
        (module([{"containerImage": "i:1"}]), "it has neither literal nor regexp"),
        (module(containerImage=""), "it has no containerImage"),
        (module(kernelMappings=[]), "it has no entry"),
        (module([{"regexp": ".", "sign": {**SIGN, "filesToSign": []}}], build=CONFIG_MAP), "it has no filesToSign"),
        (module([{"regexp": ".", "sign": SIGN}]), "it has neither an unsignedImage nor a build"),
        ({"metadata": {"name": "card"}, "spec": {}}, "it has neither moduleLoader nor devicePlugin"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_refused(made: Obj, why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        recipe_files(made, "card", "", DOCKERFILES)
    assert caught.value.why.startswith(why)


def test_a_dockerfile_that_is_not_there_is_named() -> None:
    made = module([{"literal": "x", "build": {"dockerfileConfigMap": {"name": "gone"}}}])
    with pytest.raises(InvalidInput) as caught:
        recipe_files(made, "card", "", {"d": DOCKERFILE})
    assert caught.value.where == "ConfigMap gone"


def test_a_repository_that_depends_on_the_kernel_is_asked_for() -> None:
    (case,) = kernel_cases(module(containerImage="r/${KERNEL_X}:1", build=CONFIG_MAP))
    assert building_options([case])["build_repository"]["required"] is True
