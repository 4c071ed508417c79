# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""UEFI firmware with secure boot on, which trusts one certificate: what a machine starts with instead of
QEMU's own BIOS.

Variables lie in OVMF's store as the EDK II lays them out (MdeModulePkg, VariableFormat.h), signatures
in them as the UEFI specification does (32.4.1, EFI_SIGNATURE_LIST).
"""

from __future__ import annotations

import struct
import uuid
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

# Debian's package ovmf.
CODE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
_EMPTY_STORE = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
_GLOBAL = uuid.UUID("8be4df61-93ca-11d2-aa0d-00e098032b8c")
_DATABASE = uuid.UUID("d719b2cb-3d3a-4596-a3bc-dad00e67656f")
_X509 = uuid.UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072")
_OWNER = uuid.UUID("5f0e8a52-7f0c-4f7e-9d5d-3c2f6a4b1e11")
# Of whom the machine is, who may change what it trusts, and what it trusts.
_VARIABLES = {"PK": _GLOBAL, "KEK": _GLOBAL, "db": _DATABASE}
# After the headers of the firmware volume and of the store.
_FIRST = 0x48 + 28
_START, _ADDED = 0x55AA, 0x3F
# Kept, for the boot and for the system, written by who is authenticated by a time.
_ATTRIBUTES = 0x27
_WRITTEN = struct.pack("<HBBBBBBIhBB", 2026, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Firmware:
    """Secure boot. certificate: PEM, of whom the firmware, and with it the kernel, trusts."""

    certificate: bytes

    def variables(self) -> bytes:
        """OVMF's store of variables with it; an owner's key alone turns secure boot on."""
        der = x509.load_pem_x509_certificate(self.certificate).public_bytes(Encoding.DER)
        store = bytearray(_EMPTY_STORE.read_bytes())
        written = b"".join(
            _variable(name, owner, _signatures(der)) for name, owner in _VARIABLES.items()
        )
        store[_FIRST : _FIRST + len(written)] = written
        return bytes(store)


def _signatures(der: bytes) -> bytes:
    """A list of one certificate."""
    entry = _OWNER.bytes_le + der
    return _X509.bytes_le + struct.pack("<III", 28 + len(entry), 0, len(entry)) + entry


def _variable(name: str, owner: uuid.UUID, data: bytes) -> bytes:
    title = f"{name}\0".encode("utf-16-le")
    header = struct.pack("<HBBIQ", _START, _ADDED, 0, _ATTRIBUTES, 0) + _WRITTEN
    header += struct.pack("<III", 0, len(title), len(data)) + owner.bytes_le
    content = header + title + data
    return content + b"\xff" * (-len(content) % 4)
