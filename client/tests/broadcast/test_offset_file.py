"""The file on a real disk: written whole, by one process at a time, and never lost in silence."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fairlead_client.consume.broadcast.local_offsets import LocalOffset, LocalOffsets
from fairlead_client.consume.broadcast.offset_file import OffsetFile
from fairlead_client.errors import OffsetFileError
from fairlead_client.model import Queue
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.awaiting import LONGEST_SECONDS, child_process

QUEUE = Queue("orders", "main", 0)

WRITER = """if True:
    import sys
    from fairlead_client.consume.broadcast.local_offsets import LocalOffset, LocalOffsets
    from fairlead_client.consume.broadcast.offset_file import OffsetFile
    from fairlead_client.model import Queue

    file = OffsetFile({folder!r}, "g", "c")
    file.open()
    print("open", flush=True)
    number = 0
    while True:
        number += 1
        queues = [Queue("orders", "main", queue_id) for queue_id in range(200)]
        offsets = dict.fromkeys(queues, LocalOffset(number, "one"))
        file.write(LocalOffsets("g", "c", offsets))
        print(number, flush=True)
"""


def offsets(offset: int) -> LocalOffsets:
    """One queue's offset."""
    return LocalOffsets("g", "c", {QUEUE: LocalOffset(offset, "one")})


def opened(folder: Path) -> OffsetFile:
    """The file of the member c of the group g."""
    file = OffsetFile(folder, "g", "c")
    file.open()
    return file


def test_a_new_member_has_no_offsets(tmp_path: Path) -> None:
    """A member that was never here has no offsets, and that is no error."""
    file = OffsetFile(tmp_path / "not" / "yet", "g", "c")
    assert file.open() == (LocalOffsets("g", "c"), None)
    file.close()


def test_the_last_write_survives_a_restart(tmp_path: Path) -> None:
    """What was written last is there after a restart, in its place, with its backup alone."""
    file = opened(tmp_path)
    for offset in (1, 2, 3):
        file.write(offsets(offset))
    file.close()
    again = OffsetFile(tmp_path, "g", "c")
    assert again.open() == (offsets(3), None)
    again.close()
    assert file.path == tmp_path / "c" / "g.json"
    names = sorted(path.name for path in file.path.parent.iterdir())
    assert names == ["g.json", "g.json.bak", "g.json.lock"]


def test_a_process_killed_while_writing_leaves_a_whole_file(tmp_path: Path) -> None:
    """A process killed at any moment leaves what it wrote last, or one write more, and whole."""
    program = WRITER.format(folder=str(tmp_path))
    for rounds in (1, 7, 20):
        with child_process(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "open\n"
            for _ in range(rounds):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
            told = [int(line) for line in process.stdout.read().split()]
        last = max(told, default=rounds)
        file = OffsetFile(tmp_path, "g", "c")
        local, wrong = file.open()
        file.close()
        assert wrong is None
        found = {entry.offset for entry in local.offsets.values()}
        assert found in ({last}, {last + 1})
        assert len(local.offsets) == 200


def test_a_second_process_of_one_id_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    """Another process of the same client id is refused while this one lives; then it is not."""
    program = WRITER.format(folder=str(tmp_path))
    file = opened(tmp_path)
    command = [sys.executable, "-c", program]
    refused = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=LONGEST_SECONDS
    )
    assert "another process is 'c' of group 'g' here" in refused.stderr
    file.close()
    with child_process(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        with pytest.raises(OffsetFileError, match="another process"):
            opened(tmp_path)
        process.kill()


def test_a_broken_file_is_kept_aside_and_the_version_before_holds(tmp_path: Path) -> None:
    """A broken file is kept aside and told, and the version before it holds."""
    file = opened(tmp_path)
    file.write(offsets(1))
    file.write(offsets(2))
    file.path.write_bytes(b'{"v":1,')
    file.close()
    again = OffsetFile(tmp_path, "g", "c")
    local, wrong = again.open()
    again.close()
    assert local == offsets(1)
    assert wrong is not None
    aside = next(path for path in file.path.parent.iterdir() if ".broken-" in path.name)
    assert aside.name in str(wrong)
    assert aside.read_bytes() == b'{"v":1,'
    # Nothing was written since: whoever starts next finds it again.
    local, wrong = again.open()
    again.close()
    assert (local, wrong) == (offsets(1), None)


@pytest.mark.parametrize("backup", [None, b"", b"[]"])
def test_a_broken_file_without_a_backup_stops_every_start(
    tmp_path: Path, backup: bytes | None
) -> None:
    """Without a version before it a broken file stops every start, until somebody moves it away."""
    file = opened(tmp_path)
    file.write(offsets(1))
    file.close()
    file.path.write_bytes(b"")
    if backup is not None:
        file.path.with_name("g.json.bak").write_bytes(backup)
    for _ in range(2):
        with pytest.raises(OffsetFileError, match="move it away") as caught:
            opened(tmp_path)
        assert caught.value.path == str(file.path)
    file.path.rename(tmp_path / "elsewhere")
    opened(tmp_path).close()


def test_a_file_of_another_member_is_refused(tmp_path: Path) -> None:
    """A file that was copied from another member is not taken for this one's."""
    file = opened(tmp_path)
    file.write(LocalOffsets("g", "another", {QUEUE: LocalOffset(1)}))
    file.close()
    with pytest.raises(OffsetFileError, match="client_id: is not 'c'"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A folder that cannot be made is named with its reason."""
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OffsetFileError, match="cannot be used"):
        opened(tmp_path / "file")


def test_a_failed_write_leaves_the_old_offsets(tmp_path: Path) -> None:
    """A write that fails leaves the old offsets."""
    file = opened(tmp_path)
    file.write(offsets(1))
    file.path.with_name("g.json.new").mkdir()
    with pytest.raises(OSError, match="directory"):
        file.write(offsets(2))
    file.close()
    again = OffsetFile(tmp_path, "g", "c")
    assert again.open() == (offsets(1), None)
    again.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(
        min_size=1, max_size=255, alphabet=st.characters(codec="ascii", exclude_characters=" ")
    ),
    st.text(
        min_size=1, max_size=255, alphabet=st.characters(codec="ascii", exclude_characters=" ")
    ),
)
def test_every_id_has_a_file_of_its_own_inside_the_folder(
    tmp_path: Path, one: str, other: str
) -> None:
    """Every id has a file of its own, inside the folder and with a name that fits."""
    paths = [OffsetFile(tmp_path, "g", client_id).path for client_id in (one, other)]
    assert (paths[0] == paths[1]) == (one == other)
    for path in paths:
        assert Path(os.path.normpath(path)).parent.parent == tmp_path
        assert len(path.parent.name) <= 255
