# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Macros of the collection: there for every recipe that imports them, and for no other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_store import (
    FileStore,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.api_types_file import (
    read_api_types,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    MACROS_PATH,
    find_bundle,
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.text_store import (
    TextStore,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.check import (
    check,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.overlay import (
    MACROS,
    place_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.templating import (
    Templates,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.versions import (
    versions,
)

REPO = Path(__file__).resolve().parents[3]
TEXT = MACROS_PATH.read_text(encoding="utf-8")
IMPORT = (
    '{% from "hardware.enablement/macros.j2" import scc, cluster_role_binding with context %}\n'
)
STATE = {"role": "state", "assets": ["*/*.j2"], "validate": [{"rollout": {}}]}
BINDING = IMPORT + '{{ cluster_role_binding(instance ~ "-reader", "reader") }}\n'


def recipe_with(template: str, **more: str) -> dict[str, bytes]:
    """The files of a recipe of one template."""
    recipe = {
        "apiVersion": "hardware-enablement.io/v1",
        "name": "cards",
        "namespace": "cards",
        "selector": {"any_of": [{"example.com/card": None}]},
        "states": {"plugin": STATE},
    }
    files = {"recipe.yml": json.dumps(recipe), "all/it.yaml.j2": template, **more}
    return {f"cards/{path}": text.encode() for path, text in files.items()}


def bundle_of(template: str, **more: str) -> dict[str, str]:
    """What is read of it where it lies in a ConfigMap, say."""
    return find_bundle("cards", [TextStore.of("cm://a/b", "b", recipe_with(template, **more))])


def complaints(template: str) -> list[tuple[str, int, str]]:
    """What recipe_check says of a template."""
    found = check(bundle_of(template), "cards", {}, read_api_types())
    return [(each.file, each.line, each.message) for each in (*found.errors, *found.warnings)]


def test_they_are_sent_along_with_what_imports_them_and_with_nothing_else() -> None:
    assert bundle_of(BINDING)[MACROS] == TEXT
    assert MACROS not in bundle_of("kind: ConfigMap\n")
    assert read_bundle(REPO / "recipes" / "nfd")[MACROS] == TEXT
    assert MACROS not in read_bundle(REPO / "recipes" / "cert-manager")


def test_a_copy_of_its_own_takes_their_place() -> None:
    assert bundle_of(BINDING, **{MACROS: "{# ours #}"})[MACROS] == "{# ours #}"


def test_what_is_extended_brings_those_that_it_imports(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "recipe.yml").write_text(
        "apiVersion: hardware-enablement.io/v1\nname: site\nextends: nfd\n"
    )
    stores = [FileStore(tmp_path), FileStore(REPO / "recipes")]

    found = check(find_bundle("site", stores), "site", {}, read_api_types(), combine=False)

    assert [str(each) for each in (*found.errors, *found.warnings)] == []
    assert {made.manifest["kind"] for made in found.objects} > {"ClusterRoleBinding", "Namespace"}


def test_the_base_may_have_a_copy_of_its_own(tmp_path: Path) -> None:
    for path, content in recipe_with(BINDING, **{MACROS: "{# ours #}"}).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "recipe.yml").write_text(
        "apiVersion: hardware-enablement.io/v1\nname: site\nextends: cards\n"
    )

    assert load(read_bundle(tmp_path / "site"), "site").source.files[MACROS] == "{# ours #}"


def test_they_are_no_file_that_a_glob_matches_or_that_nothing_names() -> None:
    # The name alone, in a text that is no template of the recipe.
    unused = bundle_of("{# see README.md #}\n", **{"README.md": f"like {MACROS}\n"})

    assert load(unused, "cards").states["plugin"].assets[0].files == ("all/it.yaml.j2",)
    assert check(unused, "cards", {}, read_api_types()).warnings == []
    assert complaints(BINDING) == []


def test_a_mistake_is_said_of_the_call() -> None:
    assert complaints(f"{IMPORT}\n{{{{ scc('cards') }}}}\n") == [
        ("all/it.yaml.j2", 3, "parameter 'description' was not provided")
    ]
    assert complaints(f"{IMPORT}{{{{ cluster_role_binding('A: b', 'reader') }}}}\n")[0][:2] == (
        "all/it.yaml.j2",
        2,
    )
    with pytest.raises(InvalidInput, match=r"\(cards/all/it.yaml.j2, line 2\)"):
        Templates(bundle_of(f"{IMPORT}{{{{ scc() }}}}\n"), "cards").render("all/it.yaml.j2", {})


def test_what_is_wrong_with_an_object_is_said_of_the_call() -> None:
    imported = IMPORT.replace("scc", "exporter_service")

    ((file, line, message),) = complaints(
        f"{imported}# a\n{{{{ exporter_service(\n  'a', 94000) }}}}\n"
    )

    assert (file, line) == ("all/it.yaml.j2", 4)
    assert "Service a: " in message
    assert "94000" in message


def test_arguments_of_macros_hide_no_variable_that_is_not_there() -> None:
    text = f"{BINDING}{{% if false %}}{{{{ account }}}}{{% endif %}}\n"

    ((file, line, message),) = complaints(text)

    assert (file, line) == ("all/it.yaml.j2", 3)
    assert message.startswith("there is no variable account ")


def test_a_change_of_them_changes_what_the_record_says_of_a_recipe() -> None:
    def version(bundle: dict[str, str]) -> str:
        recipe = load(bundle, "cards")
        return versions(recipe, {name: option.default for name, option in recipe.options.items()})[
            "recipe"
        ]

    bundle = bundle_of(BINDING)
    assert version(bundle) != version({**bundle, MACROS: f"{TEXT}\n"})


def test_they_read_nothing_that_splits_who_imports_them() -> None:
    templates = Templates({MACROS: TEXT}, "")

    assert set(templates.uses_in(MACROS).variables) == {"namespace", "cluster"}
    assert templates.options_in(MACROS) == frozenset()
    assert place_of({MACROS: TEXT}, "cards", MACROS) == MACROS


def test_an_scc_allows_nothing_but_what_is_named() -> None:
    def made(call: str) -> dict[str, object]:
        text = f"{IMPORT}{{{{ scc('a', 'b', 'c: d', {call}) }}}}\n"
        variables = {"namespace": "n", "cluster": {}}
        found: dict[str, object] = yaml.safe_load(
            Templates({"it": text, MACROS: TEXT}, "").render("it", variables)
        )
        return found

    least = made("volumes=[]")
    allowed = {name for name, value in least.items() if name.startswith("allow") and value}
    assert allowed == set()
    assert least["users"] == ["system:serviceaccount:n:b"]
    assert made("")["allowHostDirVolumePlugin"] is True
    assert made("privileged=true")["allowPrivilegeEscalation"] is True
    confined = made("confined=true")
    assert confined["requiredDropCapabilities"] == ["ALL"]
    assert confined["seccompProfiles"] == ["runtime/default"]


def test_each_is_documented() -> None:
    guide = (REPO / "docs" / "recipes" / "writing.md").read_text(encoding="utf-8")
    macros = re.findall(r"{% macro ([a-z]\w+)\(", TEXT)

    assert macros
    assert re.findall(r"^\| `(\w+)\(", guide, re.MULTILINE) == macros
