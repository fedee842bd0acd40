"""A client that obeys no drop, and the life of a group in which it is asked for one."""

from tests.kit.journaled_world import Body, Life, Writer

__all__ = ["life_of_the_deaf"]


class _Deaf(Writer):
    """A client that heartbeats and obeys no drop."""

    def read(self, record: Body) -> None:
        """Obey an assignment as far as it adds."""
        if record["kind"] == "assignment":
            record = {**record, "drop": []}
        Writer.read(self, record)


def life_of_the_deaf() -> Life:
    """Return a group whose only member is deaf, at the moment when another one joins."""
    life = Life()
    deaf = _Deaf(life.world.topics, "orders", "deaf", generation=1, diary=life.diary)
    deaf.beat()
    deaf.claim(1)
    life.world.clients.append(deaf)
    life.world.pass_seconds(4)
    life.join("other")
    return life
