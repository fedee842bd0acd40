"""The common part of broadcasting members: each reads all queues for itself."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from fairlead_client.consume.broadcast.broadcast_runner import BroadcastRunner
from fairlead_client.consume.broadcast.offset_file import OffsetFile
from fairlead_client.consume.broadcast.passive_application import PassiveApplication
from fairlead_client.consume.member import Member
from fairlead_client.errors import SettingsError
from fairlead_client.model import Epoch, Queue, Subscription
from fairlead_client.session.application import Application
from fairlead_client.session.failure import Failure
from fairlead_client.transport.control_thread import ControlThread


class BroadcastMember(Member):
    """A mixin for members whose queues come from the routes instead of the engine."""

    MESSAGE_MODEL: ClassVar[str] = "broadcasting"
    _file: OffsetFile
    _runner: BroadcastRunner | None

    def _reader(self) -> Application:
        """Return the application's side, which reads the queues."""
        raise NotImplementedError

    def _connect_reader(self, runner: BroadcastRunner) -> None:
        """Let the application's side answer to the runner."""
        raise NotImplementedError

    def _keep_offsets_in(self, folder: str | Path) -> None:
        """Set the folder of the offsets.

        Raises:
            SettingsError: a setting does not fit a broadcasting member.
        """
        if self._settings.client_id is None:
            raise SettingsError(
                "client_id",
                "is missing, and names this member's file of offsets",
                "give one that stays the same after a restart, such as the host's name",
            )
        if self._settings.commit_offsets:
            raise SettingsError(
                "commit_offsets", "is on in a broadcasting group", "leave it out: offsets are local"
            )
        self._file = OffsetFile(folder, self._settings.group, self.client_id)
        self._runner = None

    @property
    def assigned(self) -> Mapping[Queue, Epoch]:
        """The queues that the member reads now, each with its epoch."""
        return {} if self._runner is None or self._forked else self._runner.epochs

    @property
    def _last_failure(self) -> Failure | None:
        kept = None if self._runner is None else self._runner.last_failure
        return super()._last_failure or kept

    def _epoch_of(self, queue: Queue) -> Epoch | None:
        return None if self._runner is None or self._forked else self._runner.epoch_of(queue)

    def start(self) -> None:
        """Read the offset file, join the group, and begin to read every queue of the topics.

        Raises:
            StartFailedError: `__cause__` is an OffsetFileError if the file is not usable.
        """
        self._check_fork()
        try:
            super().start()
        except BaseException:
            self._end_runner()
            raise
        if self._runner is not None and not self._stopping:
            self._runner.start()

    def close(self, timeout_ms: int | None = None) -> None:
        """Leave the group; when this returns, the offsets are in the file."""
        super().close(timeout_ms)
        if self._thread is not None and not self._thread.ended.is_set():
            return
        if not self._is_consuming_here():
            self._end_runner()
        elif self._runner is not None:
            # The runner waits for messages that this very thread has in hand.
            self._runner.stop()

    def _is_consuming_here(self) -> bool:
        """Whether the calling thread has messages in hand."""
        return False

    def subscribe(self, topics: Sequence[str | Subscription]) -> None:
        """Change the subscription.

        Raises:
            SettingsError: as for the setting `topics`.
        """
        super().subscribe(topics)
        if self._runner is not None:
            self._runner.subscribe([entry.topic for entry in self._subscribed])

    def _application(self) -> Application:
        return PassiveApplication(self._session_ended)

    def _new_thread(self) -> ControlThread:
        local, problem = self._file.open()
        # The client itself looks up the offset of this time.
        begins_at_ms = self._settings.begins_at_ms(self._identity.process.start_ms)
        settings = replace(self._settings, consume_timestamp_ms=begins_at_ms)
        self._runner = BroadcastRunner(
            settings,
            self.client_id,
            self._reader(),
            offset_file=self._file,
            local=local,
            observer=self._observer,
        )
        self._runner.last_failure = None if problem is None else Failure.now(problem)
        thread = super()._new_thread()
        self._connect_reader(self._runner)
        return thread

    def _session_ended(self) -> None:
        if self._runner is not None:
            self._runner.stop()

    def _end_runner(self) -> None:
        if self._runner is None:
            return
        self._runner.stop()
        if self._runner.ident is None:
            # The start has failed, so the runner does not close the file.
            self._file.close()
            self._reader().closed()
        else:
            self._runner.join()
