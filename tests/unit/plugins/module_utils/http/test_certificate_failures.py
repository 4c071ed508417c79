# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a certificate, and what a proxy said, by what Python raises."""

from __future__ import annotations

import ssl

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._http.http_failure import (
    FailureKind,
    failure_of,
    root_of,
)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (9, FailureKind.EXPIRED),
        (10, FailureKind.EXPIRED),
        (62, FailureKind.OTHER_NAME),
        (64, FailureKind.OTHER_NAME),
        (20, FailureKind.NOT_TRUSTED),
    ],
)
def test_age_name_and_authority_are_told_apart(code: int, kind: FailureKind) -> None:
    refused = ssl.SSLCertVerificationError(1, "certificate verify failed")
    refused.reason = "CERTIFICATE_VERIFY_FAILED"
    refused.verify_code, refused.verify_message = code, "so says OpenSSL."
    found = failure_of(refused, "the registry", connect_s=1.0, read_s=1.0, shows_certificate=False)
    assert found.kind is kind
    assert found.why.startswith("the registry's certificate cannot be verified")
    assert found.why.endswith(": so says OpenSSL")


def test_a_proxys_own_words_are_the_root() -> None:
    refused = OSError("Tunnel connection failed: 407 Proxy Authentication Required")
    assert root_of([ValueError("outer"), refused]) == str(refused)
