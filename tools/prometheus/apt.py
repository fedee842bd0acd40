"""Packages of this machine's own distribution, fetched with apt and unpacked without root.

Everything about where packages come from is apt's: its sources, mirrors, proxies and keys. Of it
only the lists are kept apart, and only where the machine's own are missing or outdated (an image
has none): apt may then read anew what is on offer, in a folder that is thrown away.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError

_APT: Final = "apt-get"
_DPKG: Final = "dpkg-deb"
_SILENCE_SECONDS_MAX: Final = 20
"""A server that says nothing for so long is given up."""

_APT_SECONDS_MAX: Final = 300
"""Reading the lists, or the package: each."""

_QUIET: Final = (
    f"Acquire::http::Timeout={_SILENCE_SECONDS_MAX}",
    f"Acquire::https::Timeout={_SILENCE_SECONDS_MAX}",
    "Acquire::Retries=1",
    # Descriptions in other languages and lists of files: nothing that a download needs.
    "Acquire::Languages=none",
    "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false",
    "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false",
    # Apt would change to a user who cannot read the cache of the one who calls.
    "APT::Sandbox::User=root",
)
_OFFERED: Final = re.compile(r"^'\S+' (\S+\.deb) (\d+) SHA256:([0-9a-f]{64})$", re.MULTILINE)
_LACKING: Final = re.compile(r"^Inst (\S+)", re.MULTILINE)


class AptFailureError(Exception):
    """Apt did not do it; the text is what it said last."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What apt says that it would download.

    Attributes:
        file_name: the file, named after the package's version and architecture.
        bytes: its size.
        sha256: its checksum, from lists whose signature apt has checked.
    """

    file_name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class AptPackage:
    """One package by its name.

    Attributes:
        name: what apt calls it.
        say: told what is being done.
        remedy: what can be done where it cannot be had.
    """

    name: str
    say: Callable[[str], None]
    remedy: str

    def waiting(self) -> None:
        """Say that another process is at it."""
        self.say(f"{self.name}: another process is fetching it; waiting for it")

    def bring(self, programs: Sequence[str], folder: Path) -> str:
        """Put programs of the package into a folder; return the file's name without its ending.

        Raises:
            EnvironmentMissingError: no apt, no network, no such package, another checksum.
        """
        with self.fetched(folder.parent) as (package,):
            self.say(f"{self.name}: unpacking {', '.join(programs)}")
            unpack(package, programs, folder)
            return package.stem

    @contextmanager
    def fetched(self, beside: Path, *, whole: bool = False) -> Iterator[list[Path]]:
        """Yield the package's file in a folder that is thrown away afterwards.

        Args:
            beside: where that folder is made.
            whole: yield also the files of all that it needs and this machine lacks; its own is the
                last.

        Raises:
            EnvironmentMissingError: no apt, no network, no such package, another checksum; or
                what is done with the files fails with an `AptFailureError`.
        """
        for tool in (_APT, _DPKG):
            if shutil.which(tool) is None:
                raise EnvironmentMissingError(
                    f"{self.name}: not fetched: this machine has no {tool}.", remedy=self.remedy
                )
        with tempfile.TemporaryDirectory(dir=beside) as made:
            scratch = Path(made)
            try:
                offers = self._download(scratch, whole=whole)
                for offer in offers:
                    verify_package(scratch / offer.file_name, offer)
                yield [scratch / offer.file_name for offer in offers]
            except AptFailureError as failure:
                raise EnvironmentMissingError(
                    f"{self.name}: not fetched: {failure}", remedy=self.remedy
                ) from failure

    def _download(self, scratch: Path, *, whole: bool) -> list[Offer]:
        """Bring the package into a folder: from the machine's lists, else from lists read anew."""
        try:
            return self._download_with(scratch, (), whole=whole)
        except AptFailureError as failure:
            self.say(f"{self.name}: reading apt's lists anew ({failure})")
        for part in ("lists/partial", "cache/archives/partial"):
            (scratch / part).mkdir(parents=True)
        own = (f"Dir::State::Lists={scratch / 'lists'}", f"Dir::Cache={scratch / 'cache'}")
        try:
            _apt(scratch, (*own, "APT::Update::Error-Mode=any"), "update")
            refused = None
        except AptFailureError as failure:
            # One source of several that does not answer is no reason to give up.
            refused = failure
        try:
            return self._download_with(scratch, own, whole=whole)
        except AptFailureError as failure:
            raise refused or failure from failure

    def _download_with(self, scratch: Path, options: Sequence[str], *, whole: bool) -> list[Offer]:
        names = [*(self._needed(scratch, options) if whole else ()), self.name]
        promised = _apt(scratch, options, "download", "--print-uris", *names)
        offers = [Offer(name, int(size), sha) for name, size, sha in _OFFERED.findall(promised)]
        if len(offers) != len(names):
            raise AptFailureError("apt names no file of it with a SHA-256")
        offers.sort(key=lambda offer: offer.file_name.startswith(f"{self.name}_"))
        files = ", ".join(offer.file_name for offer in offers)
        size = sum(offer.bytes for offer in offers)
        self.say(f"{self.name}: fetching {files}, {size / 1e6:.0f} MB, once")
        _apt(scratch, options, "download", *names)
        return offers

    def _needed(self, scratch: Path, options: Sequence[str]) -> list[str]:
        """Return what would be installed with the package, as this machine stands."""
        plan = _apt(scratch, options, "install", "--simulate", "--no-install-recommends", self.name)
        return [name for name in _LACKING.findall(plan) if name != self.name]


def verify_package(package: Path, offer: Offer) -> None:
    """Compare a file with what apt had promised.

    Raises:
        EnvironmentMissingError: it is not there, or is another one.
    """
    checksum = "no file"
    if package.is_file():
        with package.open("rb") as stream:
            checksum = hashlib.file_digest(stream, "sha256").hexdigest()
    if checksum != offer.sha256:
        raise EnvironmentMissingError(
            f"{offer.file_name}: wrong checksum: expected SHA-256 {offer.sha256}, "
            f"found {checksum}.",
            remedy="Do not use it. A mirror or a proxy on the way serves another file.",
        )


def unpack(package: Path, programs: Sequence[str], folder: Path) -> None:
    """Take programs out of a package, and nothing else; nothing of it is run.

    Raises:
        AptFailureError: it cannot be read, or lacks one.
    """
    command = [_DPKG, "--fsys-tarfile", str(package)]
    missing = {f"./usr/bin/{program}": program for program in programs}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as reader:
        assert reader.stdout is not None
        try:
            with tarfile.open(fileobj=reader.stdout, mode="r|") as archive:
                for member in archive:
                    content = archive.extractfile(member) if member.name in missing else None
                    if content is None:
                        continue
                    target = folder / missing.pop(member.name)
                    with target.open("wb") as stream:
                        shutil.copyfileobj(content, stream)
                    target.chmod(0o755)
        except tarfile.TarError as error:
            raise AptFailureError(f"{package.name} cannot be unpacked ({error})") from error
    if missing:
        raise AptFailureError(f"{package.name} holds no {', '.join(missing.values())}")


def unpack_all(package: Path, folder: Path) -> None:
    """Lay everything that a package holds below a folder; nothing of it is run.

    Raises:
        AptFailureError: it cannot be read.
    """
    command = [_DPKG, "--extract", str(package), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise AptFailureError(f"{package.name} cannot be unpacked ({done.stderr.strip()[-200:]})")


def _apt(folder: Path, options: Sequence[str], *arguments: str) -> str:
    """Run apt-get in a folder; return what it printed.

    Raises:
        AptFailureError: it failed or took too long; the text is its last error.
    """
    settings = [word for option in (*_QUIET, *options) for word in ("-o", option)]
    try:
        answer = subprocess.run(
            [_APT, "-qq", *settings, *arguments],
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_APT_SECONDS_MAX,
        )
    except subprocess.TimeoutExpired as error:
        raise AptFailureError(
            f"apt-get {arguments[0]} took longer than {_APT_SECONDS_MAX} s"
        ) from error
    if answer.returncode != 0:
        errors = [line for line in answer.stderr.splitlines() if line.startswith("E: ")]
        last = errors[-1].removeprefix("E: ") if errors else f"code {answer.returncode}"
        raise AptFailureError(f"apt-get {arguments[0]}: {last}")
    return answer.stdout
