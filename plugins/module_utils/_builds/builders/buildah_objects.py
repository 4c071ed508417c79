# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A build by buildah: what its pod is, and what it reads. Pure."""

from __future__ import annotations

import base64

from ..._json import Obj
from ..._registry.image_names import parse
from ..._registry.policy import RegistryPolicy
from ..._registry.registries_conf import SYSTEM_AUTHORITIES, authfile, certificates, registries_conf
from ..failures import BuildPhase
from ..orders import BuildOrder
from ..settings import BuildSettings
from . import job_objects
from .secret_mounts import add_secrets, mounted

CONTAINERFILE = "Containerfile"
# The minor version of Kubernetes since which AppArmor's profile is a field, and no annotation.
APPARMOR_FIELD_SINCE = 30
_ANNOTATION = f"container.apparmor.security.beta.kubernetes.io/{job_objects.CONTAINER}"
_REGISTRIES, _STORAGE, _CERTS = "registries.conf", "storage.conf", "certs.d"
_AUTHFILE, _AUTHORITIES = "auth.json", "authorities"

# Whatever the image's own says: all of it on the emptyDir. The script names the driver.
_STORAGE_CONF = """\
[storage]
driver = "vfs"
graphroot = "/work/storage"
runroot = "/work/run"
"""

# An overlay needs a kernel that lets a user namespace mount one, and no overlay below; vfs copies
# the whole image for each layer. Nothing else is known of a node before it is tried.
_SCRIPT = f"""\
{job_objects.PREPARE}\
for STORAGE_DRIVER in overlay vfs; do
  export STORAGE_DRIVER
  if buildah info > /dev/null 2>&1; then break; fi
done
echo "images lie on the volume by $STORAGE_DRIVER"
if [ -n "$BASE_IMAGE" ]; then
  buildah pull --quiet $VERIFY "$BASE_IMAGE" || exit {job_objects.EXIT_CODES[BuildPhase.BASE]}
fi
buildah build --file "${{GIT_CONTAINERFILE:-/context/{CONTAINERFILE}}}" $VERIFY "$@" --tag "$TARGET" . || exit 1
buildah push $VERIFY --digestfile /dev/termination-log "$TARGET" || exit {job_objects.EXIT_CODES[BuildPhase.PUSH]}
"""


def context_object(order: BuildOrder, settings: BuildSettings, policy: RegistryPolicy) -> Obj:
    """The ConfigMap with Containerfile, context, and how registries are asked."""
    own = {name: text for name, (_path, text) in _own(order, policy).items()}
    return job_objects.context_object(order, settings, own)


def secret_object(order: BuildOrder, settings: BuildSettings, policy: RegistryPolicy) -> Obj | None:
    """The Secret with the credentials for registries; None where there are none."""
    text = _auths(order, policy)
    if not text:
        return None
    data = {_AUTHFILE: base64.b64encode(text.encode()).decode()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": job_objects.metadata(order, settings),
        "data": data,
    }


def job_object(
    order: BuildOrder, settings: BuildSettings, policy: RegistryPolicy, *, apparmor_field: bool
) -> Obj:
    """The Job. No secret is in it: they are mounted. apparmor_field: the API server knows
    appArmorProfile."""
    volumes = [
        job_objects.context_volume(
            order, {name: path for name, (path, _text) in _own(order, policy).items()}
        ),
        {"name": "work", "emptyDir": {}},
    ]
    mounts: list[Obj] = [
        {"name": "context", "mountPath": "/context", "readOnly": True},
        {"name": "work", "mountPath": "/work"},
    ]
    if certificates(policy):
        place = {"mountPath": "/etc/containers/certs.d", "subPath": _CERTS}
        mounts.append({"name": "context", **place, "readOnly": True})
    if _auths(order, policy):
        volumes.append({"name": "auth", "secret": {"secretName": order.name}})
        mounts.append({"name": "auth", "mountPath": "/auth", "readOnly": True})
    build = job_objects.container(
        job_objects.CONTAINER,
        settings.buildah.image,
        _SCRIPT,
        _options(order),
        _environment(order, settings, policy),
    )
    # buildah makes user ids, mounts, and changes roots itself; what runtimes filter by default
    # forbids that.
    build |= {
        "volumeMounts": mounts,
        "securityContext": {
            "runAsUser": 0,
            "seccompProfile": _profile(settings.buildah.seccomp),
            **({"appArmorProfile": _profile(settings.buildah.apparmor)} if apparmor_field else {}),
            **(
                {"capabilities": {"add": list(settings.buildah.capabilities)}}
                if settings.buildah.capabilities
                else {}
            ),
        },
    }
    pod = {"hostNetwork": settings.buildah.host_network, "volumes": volumes, "containers": [build]}
    add_secrets(pod, build, order)
    annotations = {} if apparmor_field else {_ANNOTATION: _annotated(settings.buildah.apparmor)}
    return job_objects.job_object(order, settings, pod, annotations)


def _own(order: BuildOrder, policy: RegistryPolicy) -> dict[str, tuple[str, str]]:
    """Key of the ConfigMap -> path in the volume, text. A key could not hold a registry's port."""
    files = {
        CONTAINERFILE: (CONTAINERFILE, order.inputs.containerfile),
        _REGISTRIES: (_REGISTRIES, registries_conf(policy)),
        _STORAGE: (_STORAGE, _STORAGE_CONF),
        **({"ca.crt": (f"{_AUTHORITIES}/ca.crt", policy.ca)} if policy.ca else {}),
    }
    for number, (path, text) in enumerate(certificates(policy).items()):
        files[f"registry-{number}.crt"] = (f"{_CERTS}/{path}", text)
    return files


def _auths(order: BuildOrder, policy: RegistryPolicy) -> str:
    return authfile(policy, map(parse, filter(None, [order.inputs.base, order.target])))


def _profile(text: str) -> Obj:
    """A profile as a field."""
    kind, _slash, name = text.partition("/")
    return {"type": kind, **({"localhostProfile": name} if name else {})}


def _annotated(text: str) -> str:
    """A profile of AppArmor as an annotation."""
    known = {"Unconfined": "unconfined", "RuntimeDefault": "runtime/default"}
    return known.get(text) or f"localhost/{text.partition('/')[2]}"


def _options(order: BuildOrder) -> list[str]:
    """buildah's options for arguments, labels and folders with secrets, in a stable order."""
    options: list[str] = []
    for flag, values in (("--build-arg", order.inputs.all_args), ("--label", order.inputs.labels)):
        for name, value in sorted(values.items()):
            options += [flag, f"{name}={value}"]
    for folder in mounted(order.secrets):
        options += ["--volume", f"{folder}:{folder}:ro"]
    return options


def _environment(
    order: BuildOrder, settings: BuildSettings, policy: RegistryPolicy
) -> dict[str, str]:
    return {
        "TARGET": str(policy.push_place(parse(order.target))),
        "BASE_IMAGE": order.inputs.base,
        # Needs no loop device.
        "BUILDAH_ISOLATION": "chroot",
        "CONTAINERS_STORAGE_CONF": f"/context/{_STORAGE}",
        "CONTAINERS_REGISTRIES_CONF": f"/context/{_REGISTRIES}",
        "SSL_CERT_DIR": f"{SYSTEM_AUTHORITIES}:/context/{_AUTHORITIES}",
        "VERIFY": "" if policy.verify else "--tls-verify=false",
        "REGISTRY_AUTH_FILE": f"/auth/{_AUTHFILE}"
        if _auths(order, policy)
        else "/work/no-auth.json",
        **job_objects.environment(order, settings),
    }
