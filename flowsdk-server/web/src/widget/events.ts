export interface Events {
  message: { text: string };
  unread: { count: number };
  open: undefined;
  close: undefined;
}

export type EventName = keyof Events;
type Listener<Name extends EventName> = (event: Events[Name]) => void;

const NAMES: readonly string[] = ['message', 'unread', 'open', 'close'] satisfies EventName[];

export class Emitter {
  #listeners = new Map<string, Set<(event: never) => void>>();

  /** Calls `listener` at each event, until the function that is returned is called. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void {
    if (!NAMES.includes(name) || typeof listener !== 'function') {
      throw new TypeError(`flowsdk.on takes one of ${NAMES.join(', ')} and a function`);
    }
    const own: Listener<Name> = (event) => listener(event);
    const known = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, known.add(own));
    return () => void known.delete(own);
  }

  /** A listener that throws keeps nobody else from hearing of the event. */
  emit<Name extends EventName>(name: Name, event: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        (listener as Listener<Name>)(event);
      } catch (error) {
        console.error('flowsdk:', error);
      }
    }
  }
}
