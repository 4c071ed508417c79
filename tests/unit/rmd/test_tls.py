# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TLS settings from files: what is of no use is said at once, in one sentence, without showing a
key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.tls import (
    Material,
    from_files,
)
from tests.rmd.certificates import Certificates


def test_files_are_read(certificates: Certificates) -> None:
    files = certificates.client()
    found = from_files(str(files.ca), str(files.certificate), str(files.key))
    assert found.ca == files.ca.read_text()
    assert found.context().check_hostname
    assert from_files(str(files.ca), None, None).cert == ""


def test_nobody_but_the_given_authority_is_trusted(material: Material) -> None:
    assert material.context().cert_store_stats()["x509_ca"] == 1


@pytest.mark.parametrize(
    ("spoiled", "why"),
    [
        ({"ca": ""}, "the CA holds no certificate"),
        (
            {"ca": "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"},
            "the CA holds no certificate",
        ),
        ({"key": "nothing"}, "cannot be read"),
        ({"key": ""}, "cannot be read"),
        ({"cert": "nothing"}, "cannot be read"),
    ],
)
def test_useless_texts(material: Material, spoiled: dict[str, str], why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as error:
        replace(material, **spoiled).context()
    assert "PRIVATE" not in str(error.value)


def test_a_key_of_another_certificate(material: Material, certificates: Certificates) -> None:
    other = certificates.client("other")
    with pytest.raises(InvalidInput, match="the key does not belong to the client certificate"):
        replace(material, key=other.key.read_text()).context()


def test_a_key_for_everybody_is_refused(certificates: Certificates, tmp_path: Path) -> None:
    files = certificates.client()
    key = tmp_path / "key.pem"
    key.write_text(files.key.read_text())
    key.chmod(0o644)
    with pytest.raises(
        InvalidInput, match=r"everybody on this machine can read the key; chmod o= "
    ):
        from_files(str(files.ca), str(files.certificate), str(key))
    key.chmod(0o640)
    from_files(str(files.ca), str(files.certificate), str(key))


def test_files_that_are_not_there(certificates: Certificates, tmp_path: Path) -> None:
    ca = str(certificates.client().ca)
    with pytest.raises(InvalidInput, match="No such file"):
        from_files(str(tmp_path / "missing"), None, None)
    with pytest.raises(InvalidInput, match="go together"):
        from_files(ca, ca, None)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidInput, match="it is no text"):
        from_files(str(tmp_path / "binary"), None, None)
