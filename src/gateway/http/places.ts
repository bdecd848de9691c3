export interface PlacesOptions {
  /** How many may be inside at this moment. */
  places: () => number;
  /** How many may wait for a place; the next one is refused at once. */
  maxWaiting: number;
  /** How long one waits before it is refused, in milliseconds. */
  patienceMs: number;
}

/** One who asked to be let in. */
export interface Guest {
  state: 'waiting' | 'inside' | 'gone';
  /** Told once, at once or later. */
  answer: (admitted: boolean) => void;
  timer: NodeJS.Timeout | undefined;
}

export interface Places {
  /** Lets somebody in, now or later, or refuses. */
  enter(answer: Guest['answer']): Guest;
  /** Takes the place back, or ends the waiting for one. */
  leave(guest: Guest): void;
}

/**
 * Lets in as many as there are places for. Others wait a little: a refusal costs a good part of what serving costs, and
 * who is refused at once asks again at once. The newest of them is let in first, so that it is answered quickly; under
 * lasting overload first come, first served would answer everybody late.
 */
export function createPlaces({ places, maxWaiting, patienceMs }: PlacesOptions): Places {
  const waiting: Guest[] = [];
  let inside = 0;

  function admit(guest: Guest): void {
    inside += 1;
    guest.state = 'inside';
    guest.answer(true);
  }

  function refuse(guest: Guest): void {
    guest.state = 'gone';
    guest.answer(false);
  }

  function wait(guest: Guest): void {
    waiting.push(guest);
    guest.timer = setTimeout(() => {
      stopWaiting(guest);
      refuse(guest);
    }, patienceMs);
  }

  function stopWaiting(guest: Guest): void {
    clearTimeout(guest.timer);
    waiting.splice(waiting.indexOf(guest), 1);
  }

  function admitNext(): void {
    const next = inside < places() ? waiting.at(-1) : undefined;
    if (!next) return;
    stopWaiting(next);
    admit(next);
    admitNext();
  }

  return {
    enter(answer) {
      const guest: Guest = { state: 'waiting', answer, timer: undefined };
      if (inside < places()) admit(guest);
      else if (waiting.length < maxWaiting) wait(guest);
      else refuse(guest);
      return guest;
    },
    leave(guest) {
      const { state } = guest;
      guest.state = 'gone';
      if (state === 'waiting') stopWaiting(guest);
      if (state !== 'inside') return;
      inside -= 1;
      admitNext();
    },
  };
}
