# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts import (
    helm_program,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.chart_rendering import (
    ChartRendering,
    HelmRelease,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.chart_states import (
    asset_at,
    states_of,
    steps_of,
    templates_in,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.go_templates import (
    unsteady_in,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.numbered_manifests import (
    as_chart,
    numbered_steps,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_dictionary import (
    has_placeholders,
    recipe_dictionary,
    unknown_fields,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_reading import (
    read_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._charts.runtime_values import (
    system_version,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    TemplateError,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_spec import (
    make_spec,
)
from tests.unit.plugins.module_utils.charts.test_chart_archive import packed

CHART = {"Chart.yaml": "apiVersion: v2\nname: kmod\nversion: 0.1.0\n"}
RUNTIME = {
    **dict.fromkeys(
        ("operatingSystemMajor", "operatingSystemMajorMinor", "operatingSystemDecimal"), "8"
    ),
    **dict.fromkeys(("kernelFullVersion", "kernelPatchVersion", "driverToolkitImage"), "k"),
    **dict.fromkeys(("clusterVersion", "clusterVersionMajorMinor", "updateVendor"), ""),
    **dict.fromkeys(("pushSecretName", "osImageURL"), ""),
    "proxy": {"httpProxy": ""},
    "groupName": {
        "driverContainer": "driver-container",
        "runtimeEnablement": "runtime-enablement",
        "devicePlugin": "device-plugin",
        "deviceMonitoring": "device-monitoring",
    },
    "specialresource": {
        "metadata": {"name": "kmod"},
        "spec": {"namespace": "ns", "nodeSelector": {"a": "true"}},
    },
}


def test_files_are_states_in_the_order_of_their_numbers() -> None:
    files = {
        "templates/1000_driver.yaml": "",
        "templates/0000-build.yaml": "",
        "templates/_helpers.tpl": "",
        "templates/NOTES.txt": "",
        "templates/service.yaml": "",
        "crds/a.yaml": "",
        "docs/templates/x.yaml": "",
    }
    states = states_of(files, steps_of(templates_in(files)))
    assert list(states) == ["namespace", "crds", "s0000_build", "s1000_driver", "templates"]
    assert [state.order.requires for state in states.values()] == [
        (),
        ("namespace",),
        ("crds",),
        ("s0000_build",),
        ("s1000_driver",),
    ]
    assert states["templates"].assets[0].files == ("templates/service.yaml",)


def test_hooks_are_states_around_those_of_their_file() -> None:
    text = (
        'a: {"helm.sh/hook": "pre-install,pre-upgrade"}\nhelm.sh/hook-weight: "-5"\n'
        "helm.sh/hook: post-install\n"
    )
    files = {"templates/0000-a.yaml": text}
    states = states_of(files, steps_of(templates_in(files)))
    names = list(states)[1:]
    assert names == [
        "s0000_a_pre_minus_5",
        "s0000_a_pre_0",
        "s0000_a",
        "s0000_a_post_minus_5",
        "s0000_a_post_0",
    ]
    (path,) = states["s0000_a_pre_minus_5"].assets[0].files
    asset = asset_at(path)
    assert (asset.file, asset.event, asset.weight) == ("templates/0000-a.yaml", "pre-install", -5)


def test_a_long_name_is_cut_and_stays_one_states() -> None:
    files = dict.fromkeys((f"templates/0000-a{'-long' * 8}-{each}.yaml" for each in "ab"), "")
    states = states_of(files, steps_of(templates_in(files)))
    assert len(states) == 3
    assert all(len(name) <= 30 for name in states)


def test_the_state_annotation_says_which_role_runs_it() -> None:
    text = "specialresource.openshift.io/state: driver-container\n"
    files = {"templates/0000-a.yaml": text, "templates/1000-b.yaml": ""}
    states = states_of(files, steps_of(templates_in(files)))
    assert [state.role for state in states.values()] == ["state", "state_driver", "state"]


def test_directories_of_the_first_generation_keep_their_order() -> None:
    files = dict.fromkeys(
        ("state-monitoring/0100_a.yaml", "state-driver/0200_b.yaml", "state-driver/0100_a.yaml"), ""
    )
    steps = numbered_steps(files)
    assert [(step.name, len(step.files)) for step in steps] == [("driver", 2), ("monitoring", 1)]


@pytest.mark.parametrize(
    ("build", "version"),
    [
        ("410.84.202203290245-0", "8.4"),
        ("416.94.202405291527-0", "9.4"),
        ("9.6.20251013-1", "9.6"),
        ("", ""),
    ],
)
def test_rhcos_is_called_by_its_rhel(build: str, version: str) -> None:
    assert system_version("rhcos", "4.16", build) == version


def test_other_systems_have_their_own_version() -> None:
    assert system_version("ubuntu", "24.04", "") == "24.04"


@pytest.mark.parametrize(
    ("action", "function"),
    [
        ('lookup "v1" "Secret" "a" "b"', "lookup"),
        ("randAlphaNum 8 | b64enc", "randAlphaNum"),
        ('genCA "a" 3', "genCA"),
        ('genSignedCertWithKey "a" nil', "genSignedCertWithKey"),
        ("now | date", "now"),
    ],
)
def test_what_is_not_the_same_in_each_run_is_found_with_its_line(
    action: str, function: str
) -> None:
    assert list(unsteady_in(f"a: 1\nb: {{{{- {action} }}}}\n")) == [(function, 2)]


def test_names_texts_and_comments_are_no_functions() -> None:
    text = '{{ .Values.now }} {{  }} {{ "genCA" }} {{/* now */}} now {{ include "now" . }}'
    assert list(unsteady_in(text)) == []


def test_a_function_that_is_not_the_same_in_each_run_is_refused() -> None:
    files = {**CHART, "templates/a.yaml": "a: 1\nb: {{ uuidv4 }}\n"}
    with pytest.raises(InvalidInput, match=r"uuidv4 .*kmod/templates/a\.yaml, line 2"):
        read_recipe(files, "kmod")


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (
            "apiVersion: v2\nname: kmod\n",
            r"Chart\.yaml, line 1.*version: expected .*, found nothing",
        ),
        ("apiVersion: v2\nname: kmod\nversion: 1.0\n", r"Chart\.yaml, line 3.*the number 1\.0"),
        ("apiVersion: v3\nname: kmod\nversion: 1.0.0\n", r"line 1.*v1 or v2"),
        ("apiVersion: v2\nname: K_mod\nversion: 1.0.0\n", r"line 2.*DNS label"),
        ("- a\n", "apiVersion: expected"),
        ("a: [\n", "not YAML"),
    ],
)
def test_a_wrong_chart_yaml_is_refused_with_its_line(head: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_recipe({"Chart.yaml": head}, "kmod")


def test_a_chart_is_a_recipe() -> None:
    recipe = read_recipe({**CHART, "templates/0000-a.yaml": "a: 1\n"}, "kmod")
    assert (recipe.name, recipe.source.version, list(recipe.states)[-1]) == (
        "kmod",
        "0.1.0",
        "s0000_a",
    )
    assert {"set", "node_selector"} <= set(recipe.options)


FILES = {**CHART, "templates/0000-a.yaml": "", "templates/b.yaml": ""}
RELEASE = HelmRelease("kmod", "ns", "1.36.2", ("a.example/v1",))
OUTPUT = """---
# Source: kmod/templates/0000-a.yaml
a: 1
---
# Source: kmod/templates/b.yaml
b: 1
---
# Source: kmod/templates/0000-a.yaml
c: 1
"""


def test_a_file_that_renders_to_something_else_each_time_is_refused() -> None:
    """Whatever makes it so: no list of functions has them all."""
    said = count()

    def helm(_arguments: list[str], _files: Mapping[str, str]) -> tuple[str, str]:
        return OUTPUT.replace("b: 1", f"b: {next(said)}"), ""

    chart = ChartRendering("kmod", FILES, "kmod", helm)
    for _again in range(2):
        with pytest.raises(TemplateError, match="line 1 of what it renders to is another one each"):
            chart.texts(RELEASE, {}, {})
    assert next(said) == 2


def test_helm_is_asked_twice_for_each_set_of_values_and_no_more() -> None:
    asked: list[tuple[list[str], Mapping[str, str]]] = []

    def helm(arguments: list[str], files: Mapping[str, str]) -> tuple[str, str]:
        asked.append((arguments, files))
        return OUTPUT, ""

    chart = ChartRendering("kmod", FILES, "kmod", helm)
    found = chart.texts(RELEASE, {"a": 1}, {"b": 2})
    assert found["templates/0000-a.yaml"] == "a: 1\n---\nc: 1\n"
    assert chart.texts(RELEASE, {"a": 1}, {"b": 2}) is found
    chart.texts(RELEASE, {"a": 1}, {"b": 3})
    assert len(asked) == 4
    arguments, files = asked[0]
    assert arguments[:3] == ["template", "kmod", "./chart"]
    # The last one wins.
    assert [files[name] for name in arguments if name.startswith("values-")] == [
        '{"a": 1}',
        '{"b": 2}',
    ]
    assert arguments[-4:] == ["--kube-version", "1.36.2", "--api-versions", "a.example/v1"]


@pytest.mark.parametrize(
    ("error", "file", "line"),
    [
        (
            "execution error at (kmod/templates/0000-a.yaml:7:3): no image",
            "templates/0000-a.yaml",
            7,
        ),
        (
            "template: kmod/templates/b.yaml:1:2: error calling include: template: kmod/templates/_h.tpl:3:4: nil",
            "templates/_h.tpl",
            3,
        ),
        ("parse error at (kmod/templates/b.yaml:2): unclosed action", "templates/b.yaml", 2),
        (
            "YAML parse error on kmod/templates/b.yaml: yaml: line 4: mapping values",
            "templates/b.yaml",
            0,
        ),
        ("something else", "Chart.yaml", 0),
    ],
)
def test_an_error_names_the_innermost_file_and_line(error: str, file: str, line: int) -> None:
    chart = ChartRendering("kmod", CHART, "kmod", lambda _arguments, _files: ("", error))
    with pytest.raises(TemplateError) as caught:
        chart.texts(RELEASE, {}, {})
    assert (caught.value.file, caught.value.line) == (file, line)
    assert "\n" not in str(caught.value)


def test_without_helm_one_sentence_says_where_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"helm is not on .* PATH; install it from https://helm"):
        helm_program.run_helm(["version"], {})


def test_helm_sees_nothing_of_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "helm"
    program.write_text("#!/bin/sh\n/usr/bin/env\n/bin/cat chart/a\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("KUBECONFIG", "/secret/kubeconfig")
    monkeypatch.setenv("HELM_REPOSITORY_PASSWORD", "secret")
    text, error = helm_program.run_helm([], {"chart/a": "in its folder"})
    assert error == ""
    assert text.endswith("in its folder")
    assert "secret" not in text
    assert str(Path.home()) not in text


def test_what_helm_says_is_its_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "helm"
    program.write_text("#!/bin/sh\necho Error: no such thing >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert helm_program.run_helm([], {"a": ""}) == ("", "no such thing")


def test_braces_of_alerts_are_no_placeholders() -> None:
    assert not has_placeholders("{{ $labels.gpu }} {{gpu}} {{ .lower }}")
    assert has_placeholders("{{.KernelFullVersion}}")
    assert has_placeholders("{{ range .SpecialResource.Spec.DriverContainer.BuildArgs }}{{ end }}")


def test_fields_that_the_operator_did_not_know_are_found() -> None:
    dot = recipe_dictionary(RUNTIME, {"driverContainer": {"buildArgs": [{"name": "A"}]}})
    text = (
        "{{.KernelFullVersion}}\n{{.KernelFulVersion}}\n"
        "{{range .SpecialResource.Spec.DriverContainer.BuildArgs}}{{.Name}}{{$.Nope}}{{end}}\n"
        "{{if .Proxy.HttpProxy}}{{.Proxy.Htp}}{{end}}\n{{.SpecialResource.Spec.Node.Selector}}\n"
    )
    assert list(unknown_fields(text, dot)) == [
        (".KernelFulVersion", 2),
        (".Nope", 3),
        (".Proxy.Htp", 4),
    ]
    assert dot["SpecialResource"]["Spec"]["DriverContainer"]["BuildArgs"] == [
        {"Name": "A", "Value": ""}
    ]
    assert dot["SpecialResource"]["Spec"]["DriverContainer"]["Source"]["Git"] == {
        "Ref": "",
        "Uri": "",
    }
    assert (
        dot["StateName"]["DriverContainer"] == "specialresource.openshift.io/driver-container-kmod"
    )


def test_only_templates_go_through_helm_and_keep_their_lines() -> None:
    chart = as_chart("kmod", {"0000-a.yaml": "a: {{.KernelVersion}}\n", "0001-b.yaml": "b: 1\n"})
    assert list(chart) == ["Chart.yaml", "templates/0000-a.yaml"]
    assert chart["templates/0000-a.yaml"].splitlines()[0].endswith("a: {{.KernelVersion}}")


def test_bundles_of_all_formats_are_read(tmp_path: Path) -> None:
    for path, text in {
        "chart/Chart.yaml": CHART["Chart.yaml"],
        "chart/.helmignore": "x\n",
        "chart/.git/config": "x\n",
        "numbered/0000-a.yaml": "a: 1\n",
        "directories/state-driver/0000_a.yaml": "a: 1\n",
        "none/a.yaml": "a: 1\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert set(read_bundle(tmp_path / "chart")) == {"Chart.yaml", ".helmignore"}
    assert set(read_bundle(tmp_path / "numbered")) == {"0000-a.yaml"}
    assert set(read_bundle(tmp_path / "directories")) == {"state-driver/0000_a.yaml"}
    with pytest.raises(InvalidInput, match=r"a recipe\.yml, a Chart\.yaml.*\(chart\)"):
        read_bundle(tmp_path / "none")


def test_a_chart_is_found_by_its_folder_and_by_what_its_chart_yaml_calls_it(tmp_path: Path) -> None:
    def write(folder: str) -> None:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "Chart.yaml").write_text(CHART["Chart.yaml"], encoding="utf-8")

    write("kmod-v1")
    assert read_bundle(tmp_path / "kmod-v1") == read_bundle(tmp_path / "kmod") == CHART
    recipes = {name: read_recipe(CHART, name) for name in ("kmod-v1", "kmod")}
    assert {recipe.name for recipe in recipes.values()} == {"kmod"}
    assert [recipe.source.found_as for recipe in recipes.values()] == ["kmod-v1", ""]
    spec = make_spec(recipes["kmod-v1"], "kmod", {})
    assert (spec["recipe"], spec["foundAs"]) == ("kmod", "kmod-v1")
    assert "foundAs" not in make_spec(recipes["kmod"], "kmod", {})
    write("kmod-v2")
    with pytest.raises(InvalidInput, match=r"several charts kmod .*kmod-v1, kmod-v2 are called so"):
        read_bundle(tmp_path / "kmod")
    # A folder of the name comes first.
    write("kmod")
    assert read_bundle(tmp_path / "kmod") == CHART


def test_a_packed_chart_is_read_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "kmod-0.1.0.tgz").write_bytes(
        packed(("kmod/Chart.yaml", CHART["Chart.yaml"].encode()))
    )
    assert read_bundle(tmp_path / "kmod") == CHART
    (tmp_path / "kmod-0.2.0.tgz").write_bytes(b"")
    with pytest.raises(InvalidInput, match="several archives"):
        read_bundle(tmp_path / "kmod")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: !!foo b\n", "it gives no YAML: this value cannot be read as foo"),
        ("a: b: c\n", "it gives no YAML: mapping values are not allowed in this context"),
        ("a: 1\n", "error converting YAML to JSON"),
    ],
)
def test_what_is_no_yaml_has_a_reason(text: str, why: str) -> None:
    def helm(arguments: list[str], _files: Mapping[str, str]) -> tuple[str, str]:
        error = "YAML parse error on kmod/templates/a.yaml: error converting YAML to JSON"
        shown = f"---\n# Source: kmod/templates/a.yaml\n{text}" if "--debug" in arguments else ""
        return shown, error

    chart = ChartRendering("kmod", {**CHART, "templates/a.yaml": text}, "kmod", helm)
    with pytest.raises(TemplateError) as caught:
        chart.texts(HelmRelease("kmod", "kmod"), {}, {})
    assert why in caught.value.why
