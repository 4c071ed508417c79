# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tables of docs/admin name every variable, option, tag, reason and condition, and what they
say is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._builds.choice import BUILDERS
from ansible_collections.hardware.enablement.plugins.module_utils._interface import (
    arguments,
    public_variables,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs import advice
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.standard import (
    STANDARD_OPTIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.state_roles import (
    ROLES,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import (
    record_status,
)
from docs.reference import variable_pages
from docs.reference.__main__ import wanted as generated
from docs.reference.metrics import METRICS

REPO = Path(__file__).resolve().parents[3]
ADMIN = REPO / "docs" / "admin"
VARIABLE = re.compile(r"hardware_enablement_[a-z_]*[a-z]")
DEFAULT = re.compile(r"(hardware_enablement_[a-z_]+) \| default\(([^),]+)[,)]")
RAISED = re.compile(r'Outcome\.(?:PENDING|TROUBLE|BLOCKED),\s*"(\w+)"')


def sources() -> str:
    """The text of all playbooks and roles."""
    files = [*REPO.glob("playbooks/**/*.yml"), *REPO.glob("roles/*/*/*.yml")]
    return "\n".join(file.read_text() for file in files)


def test_files_that_a_person_names_are_where_the_person_is() -> None:
    # Ansible takes them from the folder of the playbook: that of the installed collection.
    written = re.findall(r'^ +(?:dest|path): "(.*)"$', sources(), re.MULTILINE)
    read = re.findall(r"lookup\('ansible.builtin.file', (\w+)\)", sources())
    assert len(written) > 8
    resolved = ("| expanduser | realpath", "images_file", "{{ images_map }}/")
    assert [each for each in written + read if not any(text in each for text in resolved)] == []


def used() -> set[str]:
    return {f"{public_variables.PREFIX}{name}" for name in public_variables.VARIABLES}


def variables_page() -> str:
    return (ADMIN / "variables.md").read_text()


def documented(name: str) -> tuple[str, ...]:
    """The cells of the one row, on whatever page, that documents a variable."""
    found = [row for page in variable_pages.pages() for row in variable_pages.rows(page)]
    (row,) = [row for row in found if name in row.names]
    return row.cells


def row(text: str, name: str) -> list[str]:
    """The cells of the table row that begins with a name."""
    (line,) = [line for line in text.splitlines() if line.startswith(f"| `{name}` |")]
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_list_of_variables_is_what_playbooks_and_roles_use() -> None:
    # Those that say how to reach a cluster are read by the modules themselves.
    read = {f"{public_variables.PREFIX}{name}" for name in public_variables.CONNECTION}
    assert set(VARIABLE.findall(sources())) | read == used()


def test_documented_variables_are_used() -> None:
    known = used() | {metric.full_name for metric in METRICS}
    pages = [REPO / "README.md", *(REPO / "docs").rglob("*.md"), *REPO.glob("recipes/*/*.md")]
    for page in pages:
        assert set(VARIABLE.findall(page.read_text())) - known == set(), page


def test_used_variables_are_documented() -> None:
    for name in used():
        assert len(documented(name)) == 4


def test_variables_of_one_subject_are_listed_and_stand_on_its_page() -> None:
    (listed,) = re.findall(
        r"<!-- generated: variables -->(.*?)<!-- end -->", variables_page(), re.DOTALL
    )
    assert {"hardware_enablement_builder", "upgrade_waves", "numa_from_cr"} <= {
        *re.findall(r"`(\w+)`", listed)
    }
    common = list(variable_pages.rows(variable_pages.COMMON))
    # The page that is looked at first stays one that can be read.
    assert len(common) < 50
    assert "hardware_enablement_recipe" in {name for row in common for name in row.names}


def test_documented_defaults_are_those_of_the_roles_and_playbooks() -> None:
    for name, value in DEFAULT.findall(sources()):
        # Options that are not given are the record's; that status and rmd add none of their own is
        # no default.
        if (
            value != "omit"
            and not value.startswith("lookup(")
            and name != "hardware_enablement_options"
        ):
            assert documented(name)[1].split(";")[0] == f"`{value.strip(chr(39)) or value}`", name


def test_standard_options() -> None:
    section = variables_page().split("## Options that every recipe has")[1].split("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", section, re.MULTILINE)) == set(STANDARD_OPTIONS)
    for option in STANDARD_OPTIONS.values():
        assert row(section, option.name)[1] == f"`{option.default}`"
        for choice in option.choices:
            assert f"`{choice}`" in row(section, option.name)[2]


def test_builders() -> None:
    elsewhere = {"auto", "controller", "none"}
    assert {*BUILDERS, *elsewhere} == set(arguments.BUILDERS)
    page = (ADMIN / "driver-images.md").read_text()
    assert all(f"`{name}`" in page for name in arguments.BUILDERS)


def test_no_file_of_a_person_is_taken_for_tasks_of_ours() -> None:
    """Ansible looks for a name without a folder in the folder that one is in, too, where an include is
    nested."""
    named = re.compile(r"include_tasks:(?:\n +file:)? +(.*)")
    files = sorted((REPO / "playbooks" / "tasks").glob("*.yml"))
    found = {name for file in files for name in named.findall(file.read_text())}
    assert found
    assert [name for name in found if not name.startswith("../tasks/")] == []


def test_no_tag_of_one_state_skips_all_states() -> None:
    tasks = yaml.safe_load((REPO / "playbooks" / "tasks" / "enable.yml").read_text())
    (tags,) = [
        task["tags"]
        for task in tasks
        if task.get("ansible.builtin.import_role", {}).get("name", "").endswith(".enable")
    ]
    assert tags == ["always"]
    included = [task for task in tasks if "ansible.builtin.include_role" in task]
    assert included
    assert all(
        task["ansible.builtin.include_role"]["apply"]["tags"] == task["tags"] for task in included
    )


def test_only_listed_roles_apply_states() -> None:
    assert {folder.name for folder in (REPO / "roles").glob("state*")} == set(ROLES)


def test_every_reason_of_the_walk_is_declared() -> None:
    folder = REPO / "plugins" / "module_utils" / "_states" / "validation"
    raised = {
        reason for file in folder.rglob("*.py") for reason in RAISED.findall(file.read_text())
    }
    assert raised
    assert raised - advice.OF_STATES.keys() == set()


def test_what_is_generated_is_up_to_date() -> None:
    pages = generated()
    assert {page.name for page in pages} >= {
        "recipe.schema.json",
        "status.md",
        "writing.md",
        "how-it-works.md",
    }
    for page, text in pages.items():
        assert page.read_text(encoding="utf-8") == text, f"{page}: run make reference"


def test_the_conditions_table_is_the_records() -> None:
    page = (ADMIN / "status.md").read_text()
    for phase, conditions in record_status._CONDITIONS.items():
        assert f"| `{phase}` | " + " | ".join(", ".join(pair) for pair in conditions) + " |" in page


def of_roles() -> set[str]:
    """The variables of all roles."""
    specs = [
        yaml.safe_load(path.read_text())["argument_specs"]["main"]
        for path in (REPO / "roles").glob("*/meta/argument_specs.yml")
    ]
    return {name for spec in specs for name in spec.get("options", {})}


# What awx.awx.job_template takes, as far as it is used here, and the fields of a survey's questions (AWX's API).
TEMPLATE_ARGUMENTS = {
    *("name", "description", "organization", "job_type", "project", "playbook", "inventory"),
    *("credentials", "execution_environment", "extra_vars", "survey_enabled", "survey_spec"),
    *(
        f"ask_{what}_on_launch"
        for what in (
            "diff_mode",
            "job_type",
            "limit",
            "skip_tags",
            "tags",
            "variables",
            "verbosity",
        )
    ),
}
QUESTION_FIELDS = {
    *("question_name", "question_description", "variable", "type", "choices", "default"),
    *("required", "min", "max"),
}
QUESTION_TYPES = {"text", "textarea", "password", "integer", "float", "multiplechoice"}
# They write into a checkout, and that of a job goes with it.
WITHOUT_TEMPLATE = {"import_kmm", "recipe_new", "render"}
# Whether rights are for any options gives none.
ANY = {"hardware_enablement_rights_any_options"}


def job_templates() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The file, and its templates by name."""
    data: dict[str, Any] = yaml.safe_load((ADMIN / "awx-job-templates.yml").read_text())
    return data, {template["name"]: template for template in data["controller_templates"]}


def questions(template: dict[str, Any]) -> list[dict[str, Any]]:
    """What the survey of a template asks."""
    found: list[dict[str, Any]] = template.get("survey_spec", {}).get("spec", [])
    assert bool(found) == bool(template.get("survey_enabled"))
    return found


def test_job_templates_name_what_exists() -> None:
    data, templates = job_templates()
    assert len(templates) == len(data["controller_templates"])
    projects = {project["name"] for project in data["controller_projects"]}
    for template in templates.values():
        assert (REPO / template["playbook"]).is_file()
        assert template["project"] in projects
        variables = {each["variable"] for each in questions(template)}
        assert {*template.get("extra_vars", {}), *variables} <= used() | of_roles()
    assert {
        schedule["unified_job_template"] for schedule in data["controller_schedules"]
    } <= templates.keys()


def test_every_playbook_has_a_job_template_that_takes_what_events_hand_over() -> None:
    _data, templates = job_templates()
    files = {path.stem for path in (REPO / "playbooks").glob("*.yml")}
    assert {Path(each["playbook"]).stem for each in templates.values()} == files - WITHOUT_TEMPLATE
    for template in templates.values():
        # Variables and limit that are given at a launch are dropped where a template does not ask.
        assert template["ask_variables_on_launch"]
        assert template["ask_limit_on_launch"]
    (named,) = re.findall(r"run_job_template:\n  name: (.*)", (ADMIN / "events.md").read_text())
    assert templates[named]["playbook"] == "playbooks/enable.yml"


def test_job_templates_are_what_awx_takes() -> None:
    recipes = sorted(path.parent.name for path in REPO.glob("recipes/*/recipe.yml"))
    for template in job_templates()[1].values():
        assert template.keys() <= TEMPLATE_ARGUMENTS
        for asked in questions(template):
            assert {"question_name", "variable", "type", "required"} <= asked.keys()
            assert asked.keys() <= QUESTION_FIELDS
            assert asked["type"] in QUESTION_TYPES
            assert asked.get("default") in (None, *asked.get("choices", [asked.get("default")]))
            if asked["variable"] == "hardware_enablement_recipe" and "choices" in asked:
                assert asked["choices"] == recipes


def test_no_job_template_gives_options() -> None:
    """Given options are all that hold: those of a schedule would undo a colleague's."""
    for template in job_templates()[1].values():
        variables = {each["variable"] for each in questions(template)}
        given = {*template.get("extra_vars", {}), *variables}
        assert not {name for name in given - ANY if name.endswith(("_options", "_pools"))}
