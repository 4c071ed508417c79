# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals as an API server words them: a status code and a Status object."""

from __future__ import annotations

from collections.abc import Sequence

from tests.cluster.builds_api.kinds import Obj, Resource


class RefusalError(Exception):
    """A request that is answered with a Status. code: HTTP; details: as in metav1.StatusDetails."""

    def __init__(self, code: int, reason: str, message: str, details: Obj | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}

    @property
    def status(self) -> Obj:
        """The Status object."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }


def _details(resource: Resource, name: str, causes: Sequence[Obj] = ()) -> Obj:
    details: Obj = {"name": name, "group": resource.group, "kind": resource.plural}
    return {**details, "causes": list(causes)} if causes else details


def not_found(resource: Resource, name: str) -> RefusalError:
    """There is no such object."""
    return RefusalError(
        404, "NotFound", f'{resource.qualified} "{name}" not found', _details(resource, name)
    )


def no_path(path: str) -> RefusalError:
    """There is no such path."""
    return RefusalError(
        404, "NotFound", f"the server could not find the requested resource ({path})"
    )


def already_exists(resource: Resource, name: str) -> RefusalError:
    """A new object has the name of another."""
    message = f'{resource.qualified} "{name}" already exists'
    return RefusalError(409, "AlreadyExists", message, _details(resource, name))


def conflict(resource: Resource, name: str, why: str, causes: Sequence[Obj] = ()) -> RefusalError:
    """Somebody else was faster, or owns fields."""
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return RefusalError(409, "Conflict", message, _details(resource, name, causes))


def owned_by_others(
    resource: Resource, name: str, owners: Sequence[tuple[str, str]]
) -> RefusalError:
    """An apply without force meets fields of other managers: (manager, field) of each."""
    causes = [
        {"reason": "FieldManagerConflict", "message": f'conflict with "{manager}"', "field": field}
        for manager, field in owners
    ]
    listed = "; ".join(f'conflict with "{manager}": {field}' for manager, field in owners)
    message = f"Apply failed with {len(owners)} conflict{'s' if len(owners) > 1 else ''}: {listed}"
    return RefusalError(409, "Conflict", message, _details(resource, name, causes))


def invalid(resource: Resource, name: str, problems: Sequence[tuple[str, str]]) -> RefusalError:
    """Fields that cannot be: (path, what is wrong) of each."""
    causes = [
        {"reason": "FieldValueInvalid", "message": text, "field": path} for path, text in problems
    ]
    listed = ", ".join(f"{path}: {text}" for path, text in problems)
    message = f'{resource.kind}.{resource.group} "{name}" is invalid: {listed}'
    details = {**_details(resource, name, causes), "kind": resource.kind}
    return RefusalError(422, "Invalid", message, details)


def bad_request(message: str) -> RefusalError:
    """A request that makes no sense."""
    return RefusalError(400, "BadRequest", message)


def forbidden(resource: Resource, name: str, why: str, causes: Sequence[Obj] = ()) -> RefusalError:
    """The user may not, or nobody may now."""
    quoted = f' "{name}"' if name else ""
    message = f"{resource.qualified}{quoted} is forbidden: {why}"
    return RefusalError(403, "Forbidden", message, _details(resource, name, causes))


def unsupported_media(given: str, known: Sequence[str]) -> RefusalError:
    """A body in a format that is not read here."""
    message = f"the body of the request was in an unknown format ({given}) - accepted media types include: "
    return RefusalError(415, "UnsupportedMediaType", message + ", ".join(known))


def not_allowed(method: str) -> RefusalError:
    """A verb that the resource does not have."""
    return RefusalError(
        405, "MethodNotAllowed", f"the server does not allow {method} on the requested resource"
    )


def gone(version: int, oldest: int) -> RefusalError:
    """A watch that would begin before what is remembered."""
    return RefusalError(410, "Expired", f"too old resource version: {version} ({oldest})")
