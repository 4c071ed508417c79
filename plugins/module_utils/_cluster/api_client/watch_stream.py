# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One watch: the events that one answer of the API server brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..._json import Obj
from .decoding import ApiResponse, DecodingError
from .refusals import error_from_status
from .transport import ApiRequest, ApiTransport, Stream

# A bookmark comes about once a minute; a longer silence means that the connection is dead.
SILENCE_S = 90.0


@dataclass(frozen=True)
class WatchEvent:
    """type: ADDED, MODIFIED, DELETED or BOOKMARK. object: the object, with apiVersion and kind.

    source: what the subscription was made with. Such a one also tells SYNCED, when everything was
    handed out once, and ERROR, which ends it; its object is {"message": one sentence}.
    """

    type: str
    object: Obj
    source: Any = None


class WatchStream(Iterator[WatchEvent]):
    """The events of one watch. The request is sent at once; stop() may be called by another thread."""

    def __init__(
        self,
        transport: ApiTransport,
        call: ApiRequest,
        read: Callable[[bytes], tuple[str, Obj]],
        timeout_s: float,
    ) -> None:
        self._transport = transport
        self._call = call
        self._read = read
        self._stream: Stream = transport.stream(call, read_s=min(timeout_s + 10.0, SILENCE_S))
        self._lines = self._stream.lines()

    def __next__(self) -> WatchEvent:
        line = next(self._lines)
        try:
            type_, obj = self._read(line)
        except DecodingError as error:
            self._stream.stop()
            raise self._transport.unreadable(
                self._call, ApiResponse(200, {}, line), str(error)
            ) from error
        if type_ == "ERROR":
            self._stream.stop()
            raise error_from_status(
                obj, where=self._transport.host, verb="watch", target=self._call.name.target
            )
        return WatchEvent(type_, obj)

    def stop(self) -> None:
        """End the iteration."""
        self._stream.stop()
