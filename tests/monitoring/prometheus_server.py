"""A real Prometheus of the tests: started with a folder of its own, asked over HTTP."""

import contextlib
import http.client
import time
import urllib.parse
from collections.abc import Callable, Mapping
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

import orjson
from fairlead_proof.local.child import Child

from tools.prometheus import find_program

READY_SECONDS: Final = 30.0
_ASK_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.2


class Series(NamedTuple):
    """One series of an answer: its labels, and its values over time, oldest first."""

    labels: Mapping[str, str]
    values: tuple[float, ...]


class PrometheusServer:
    """One Prometheus; as a context it runs."""

    def __init__(self, folder: Path, port: int) -> None:
        """Describe it.

        Args:
            folder: has prometheus.yml, and takes data and log.
            port: where it answers, on loopback.
        """
        self._folder = folder
        self._port = port
        self._child: Child | None = None

    def __enter__(self) -> Self:
        """Start it; return when it answers."""
        command = [
            str(find_program("prometheus")),
            f"--config.file={self._folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
        ]
        self._child = Child("prometheus", command, self._folder / "prometheus.log")
        try:
            self.await_true(self._ready, "it does not get ready", READY_SECONDS)
        except BaseException:
            self._child.kill()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Kill it: its data is thrown away."""
        assert self._child is not None
        self._child.kill()

    def now(self, expression: str) -> list[Series]:
        """Return what an expression is at this moment."""
        found = self._get("query", query=expression)
        assert found["resultType"] == "vector", expression
        return [_series(each["metric"], [each["value"]]) for each in found["result"]]

    def over(self, expression: str, since: float, until: float, step_s: float) -> list[Series]:
        """Return what an expression was from one Unix time to another."""
        found = self._get(
            "query_range", query=expression, start=since, end=until, step=f"{step_s:g}"
        )
        return [_series(each["metric"], each["values"]) for each in found["result"]]

    def labels(self, label: str, selector: str) -> list[str]:
        """Return the values of a label of the series that match."""
        values = self._get(f"label/{label}/values", **{"match[]": selector})
        return list(values)

    def await_true(self, holds: Callable[[], bool], otherwise: str, seconds: float) -> None:
        """Return as soon as it holds.

        Raises:
            AssertionError: it never did; ``otherwise`` says what is wrong then.
        """
        deadline = time.monotonic() + seconds
        while not holds():
            assert self._child is not None
            assert self._child.exit_code is None, self._child.log_tail()
            assert time.monotonic() < deadline, f"{otherwise} ({seconds:g} s)"
            time.sleep(_LOOK_SECONDS)

    def _ready(self) -> bool:
        try:
            return self._answer("/-/ready")[0] == HTTPStatus.OK
        except (http.client.HTTPException, OSError):
            return False

    def _get(self, path: str, **parameters: object) -> Any:
        query = urllib.parse.urlencode(parameters)
        status, answer = self._answer(f"/api/v1/{path}?{query}")
        assert status == HTTPStatus.OK, f"{parameters}: {answer.decode()}"
        return orjson.loads(answer)["data"]

    def _answer(self, path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_ASK_SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()


def _series(labels: Mapping[str, str], values: list[tuple[float, str]]) -> Series:
    return Series(labels, tuple(float(value) for _, value in values))
