"""A package of this machine's own distribution, fetched with apt and unpacked without root.

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
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairlead.errors import EnvironmentMissingError

REMEDY: Final = (
    "Where there is no apt or no network: set PROMETHEUS and PROMTOOL to programs of version 2.42"
    " or later."
)
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
    """

    name: str
    say: Callable[[str], None]

    def waiting(self) -> None:
        """Say that another process is at it."""
        self.say(f"{self.name}: another process is fetching it; waiting for it")

    def bring(self, programs: Sequence[str], folder: Path) -> str:
        """Put programs of the package into a folder; return the file's name without its ending.

        Raises:
            EnvironmentMissingError: no apt, no network, no such package, another checksum.
        """
        for tool in (_APT, _DPKG):
            if shutil.which(tool) is None:
                raise EnvironmentMissingError(
                    f"{self.name}: not fetched: this machine has no {tool}.", remedy=REMEDY
                )
        with ExitStack() as stack:
            scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder.parent)))
            try:
                offer = self._download(scratch)
                verify_package(scratch / offer.file_name, offer)
                self.say(f"{self.name}: unpacking {', '.join(programs)}")
                unpack(scratch / offer.file_name, programs, folder)
            except AptFailureError as failure:
                raise EnvironmentMissingError(
                    f"{self.name}: not fetched: {failure}", remedy=REMEDY
                ) from failure
        return offer.file_name.removesuffix(".deb")

    def _download(self, scratch: Path) -> Offer:
        """Bring the package into a folder: from the machine's lists, else from lists read anew."""
        try:
            return self._download_with(scratch, ())
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
            return self._download_with(scratch, own)
        except AptFailureError as failure:
            raise refused or failure from failure

    def _download_with(self, scratch: Path, options: Sequence[str]) -> Offer:
        promised = _apt(scratch, options, "download", "--print-uris", self.name)
        offered = _OFFERED.search(promised)
        if offered is None:
            raise AptFailureError("apt names no file of it with a SHA-256")
        offer = Offer(offered[1], int(offered[2]), offered[3])
        self.say(f"{self.name}: fetching {offer.file_name}, {offer.bytes / 1e6:.0f} MB, once")
        _apt(scratch, options, "download", self.name)
        return offer


def verify_package(package: Path, offer: Offer) -> None:
    """Compare a file with what apt had promised.

    Raises:
        EnvironmentMissingError: it is not there, or is another one.
    """
    found = "no file"
    if package.is_file():
        with package.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != offer.sha256:
        raise EnvironmentMissingError(
            f"{offer.file_name}: wrong checksum: expected SHA-256 {offer.sha256}, found {found}.",
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
