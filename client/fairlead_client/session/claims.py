"""The acknowledgement of a generation: claims of all queues that this incarnation started."""

from fairlead_client.model import EPOCH_ZERO
from fairlead_client.session.actions import Claim, SendClaims
from fairlead_client.session.events import ClaimsAppended, ClaimsFailed, GenerationRead
from fairlead_client.session.memory import Memory
from fairlead_client.session.states import SessionState, Signal


def send_claims(memory: Memory) -> None:
    """Write the claims for the newest generation; before the first engine there is none."""
    if memory.generation == 0:
        return
    memory.claims_due_ms = None
    claims = tuple(
        Claim(
            queue.queue,
            queue.started,
            queue.position,
            "running" if queue.works else "final",
            queue.identity,
        )
        for queue in memory.queues.values()
        if queue.started > EPOCH_ZERO
    )
    memory.actions.append(SendClaims(memory.incarnation, memory.generation, claims))


def learn_generation(memory: Memory, generation: int) -> bool:
    """Note a newer generation and void all gates; return whether it was newer."""
    if generation <= memory.generation:
        return False
    memory.generation = generation
    memory.asked_ms = memory.now_ms
    if memory.settings.stands_by:
        # The engine waits for it: no client that follows or is frozen claims anything.
        memory.heartbeat_at_ms = memory.now_ms
    for queue in memory.queues.values():
        memory.signal(queue, Signal.VOID)
    return True


def acknowledge(memory: Memory, event: GenerationRead) -> SessionState:
    """Acknowledge a new engine driver at once: it waits for the claims."""
    if learn_generation(memory, event.generation):
        send_claims(memory)
    return memory.state


def note_generation(memory: Memory, event: GenerationRead) -> SessionState:
    """Note the generation for the next incarnation: none is there to acknowledge it."""
    memory.generation = max(memory.generation, event.generation)
    return memory.state


def claims_appended(memory: Memory, event: ClaimsAppended) -> SessionState:
    """Note that the claims are in the log."""
    if (event.incarnation, event.generation) == (memory.incarnation, memory.generation):
        memory.claims_due_ms = None
    return memory.state


def claims_failed(memory: Memory, event: ClaimsFailed) -> SessionState:
    """Write the claims again soon, as they are then."""
    if (event.incarnation, event.generation) == (memory.incarnation, memory.generation):
        memory.claims_due_ms = memory.now_ms + memory.settings.retry_ms
    return memory.state
