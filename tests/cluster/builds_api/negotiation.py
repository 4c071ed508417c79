# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a request asks for in its headers and body: the answer's form, its own format, its manager.
Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import yaml

from tests.cluster.builds_api.kinds import Obj, Resource
from tests.cluster.builds_api.refusals import RefusalError, bad_request, unsupported_media
from tests.cluster.builds_api.schema import check

JSON, YAML = "application/json", "application/yaml"
MERGE_PATCH, APPLY_PATCH = "application/merge-patch+json", "application/apply-patch+yaml"
OBJECT, TABLE, METADATA = "Object", "Table", "PartialObjectMetadata"


def form(accept: str) -> str:
    """OBJECT, TABLE or METADATA: the first that the Accept header wants and there is; raises
    RefusalError (406)."""
    for media, parameters in _ranges(accept or "*/*"):
        if media not in (JSON, "application/*", "*/*"):
            continue
        wanted = parameters.get("as", "").removesuffix("List")
        if not wanted:
            return OBJECT
        if (
            wanted in (TABLE, METADATA)
            and parameters.get("v") == "v1"
            and parameters.get("g") == "meta.k8s.io"
        ):
            return wanted
    text = f"only the following media types are accepted: {JSON}"
    raise RefusalError(406, "NotAcceptable", text)


def wants_discovery(accept: str) -> bool:
    """Whether a request for /apis wants the aggregated discovery, which there is not."""
    return any("as" in parameters for _media, parameters in _ranges(accept))


def _ranges(accept: str) -> Iterator[tuple[str, dict[str, str]]]:
    for part in accept.split(","):
        media, *parameters = (piece.strip() for piece in part.split(";"))
        yield media, dict(item.split("=", 1) for item in parameters if "=" in item)


def body(content: bytes, content_type: str, known: tuple[str, ...] = (JSON, YAML)) -> Obj:
    """The object in a request; raises RefusalError (415, 400)."""
    media = content_type.partition(";")[0].strip() or JSON
    if media not in known:
        raise unsupported_media(media, known)
    try:
        found = yaml.safe_load(content) if media.endswith("yaml") else json.loads(content or b"{}")
    except (ValueError, yaml.YAMLError) as error:
        raise bad_request(f"the body cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise bad_request("the body is no object")
    return found


def checked(resource: Resource, kind: str, found: Obj, strictness: str) -> tuple[Obj, list[str]]:
    """(the object without unknown fields, warnings); raises RefusalError (400) as the query's
    fieldValidation asks."""
    if (
        found.get("kind", kind) != kind
        or found.get("apiVersion", resource.api_version) != resource.api_version
    ):
        given = f"{found.get('apiVersion')} {found.get('kind')}"
        raise bad_request(
            f"the API version and kind ({given}) do not match {resource.api_version} {kind}"
        )
    result = check(kind, {**found, "apiVersion": resource.api_version, "kind": kind})
    if result.wrong:
        listed = ", ".join(f"{path} {text}" for path, text in result.wrong)
        raise bad_request(f"{kind} in version v1 cannot be handled as a {kind}: {listed}")
    unknown = [f'unknown field "{path}"' for path in result.unknown]
    if unknown and strictness == "Strict":
        raise bad_request(
            f"{kind} in version v1 cannot be handled as a {kind}: strict decoding error: {', '.join(unknown)}"
        )
    return result.object, [] if strictness == "Ignore" else unknown


def manager(query: Mapping[str, str], headers: Mapping[str, str]) -> str:
    """Who the fields belong to: fieldManager, else the program's name."""
    return query.get("fieldManager") or headers.get("User-Agent", "unknown").partition("/")[0][:128]


def dry_run(query: Mapping[str, str], options: Obj | None = None) -> bool:
    """Whether nothing is to be stored; raises RefusalError (400) for another value than All."""
    value = query.get("dryRun") or next(iter((options or {}).get("dryRun") or []), "")
    if value not in ("", "All"):
        raise bad_request(f"invalid dryRun {value!r}: only All is supported")
    return value == "All"
