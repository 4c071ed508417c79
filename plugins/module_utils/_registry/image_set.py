# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What oc-mirror is told to copy. Pure.

Source: openshift/oc-mirror at 855b64a3, internal/pkg/api/v2alpha1/type_config.go (ImageSetConfiguration,
Mirror.AdditionalImages) and register.go (mirror.openshift.io/v2alpha1)."""

from __future__ import annotations

from collections.abc import Iterable

from .._json import Obj


def image_set(images: Iterable[str]) -> Obj:
    """An ImageSetConfiguration that has these images and nothing else."""
    return {
        "apiVersion": "mirror.openshift.io/v2alpha1",
        "kind": "ImageSetConfiguration",
        "mirror": {"additionalImages": [{"name": image} for image in images]},
    }
