# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the documentation's site, read by Sphinx; built by `make docs-site`."""

from pathlib import Path

import yaml

_galaxy = yaml.safe_load((Path(__file__).parents[2] / "galaxy.yml").read_text(encoding="utf-8"))

project = f"{_galaxy['namespace']}.{_galaxy['name']}"
version = release = _galaxy["version"]
project_copyright = "hardware.enablement contributors"
title = html_title = html_short_title = f"{project} {version}"

extensions = ["myst_parser", "sphinx.ext.intersphinx", "sphinx_antsibull_ext"]
exclude_patterns = ["reference/environment_variables.rst"]
myst_heading_anchors = 4
intersphinx_mapping = {
    "ansible": ("https://docs.ansible.com/projects/ansible/latest/", "ansible.inv")
}
default_role = "any"
highlight_language = "YAML+Jinja"

html_theme = "sphinx_ansible_theme"
html_static_path = ["static"]
html_css_files = ["narrow.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "collapse_navigation": True,
    "navigation_depth": 3,
    "display_version": True,
    "topbar_links": {},
    "documentation_home_url": _galaxy["homepage"],
}
