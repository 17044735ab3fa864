import type { OutboxEntry } from './outbox.ts';
import type { Appearance, Identity } from './protocol.ts';

/** In a frame of another site the browser may refuse storage by throwing: the chat then lives as long as the page. */
export class SafeStorage {
  #real: Storage | null;
  #memory = new Map<string, string>();

  constructor(open: () => Storage) {
    try {
      const storage = open();
      const probe = 'flowsdk-chat:probe';
      storage.setItem(probe, '1');
      storage.removeItem(probe);
      this.#real = storage;
    } catch {
      this.#real = null;
    }
  }

  read(key: string): unknown {
    try {
      const text = this.#real ? this.#real.getItem(key) : this.#memory.get(key);
      return text == null ? null : JSON.parse(text);
    } catch {
      return null;
    }
  }

  write(key: string, value: unknown): void {
    const text = JSON.stringify(value);
    try {
      if (this.#real) this.#real.setItem(key, text);
      else this.#memory.set(key, text);
    } catch {
      this.#memory.set(key, text);
    }
  }

  remove(key: string): void {
    this.#memory.delete(key);
    try {
      this.#real?.removeItem(key);
    } catch {
      // Nothing was kept, so there is nothing to take away.
    }
  }
}

interface KeptOutbox {
  userId: string | null;
  entries: OutboxEntry[];
}

export class ChatStorage {
  #local = new SafeStorage(() => window.localStorage);
  #tab = new SafeStorage(() => window.sessionStorage);
  #prefix: string;
  #keepsIdentity: boolean;

  constructor(channelId: string, keepsIdentity: boolean) {
    this.#prefix = `flowsdk-chat:${channelId}`;
    this.#keepsIdentity = keepsIdentity;
  }

  get identity(): Identity | null {
    if (!this.#keepsIdentity) return null;
    const kept = this.#local.read(`${this.#prefix}:identity`) as Partial<Identity> | null;
    return typeof kept?.userId === 'string' && typeof kept.sessionKey === 'string'
      ? { userId: kept.userId, sessionKey: kept.sessionKey }
      : null;
  }

  keepIdentity(identity: Identity): void {
    if (this.#keepsIdentity) this.#local.write(`${this.#prefix}:identity`, identity);
  }

  /** Calls `changed` whenever another tab keeps an identity here, or forgets it. */
  onIdentity(changed: () => void): void {
    if (!this.#keepsIdentity) return;
    window.addEventListener('storage', ({ key }) => {
      if (key === `${this.#prefix}:identity`) changed();
    });
  }

  forget(): void {
    this.#local.remove(`${this.#prefix}:identity`);
    this.#tab.remove(`${this.#prefix}:outbox`);
  }

  /** Only the messages of the same person: in one tab several people may open the chat, each with a token. */
  outbox(userId: string | null): OutboxEntry[] {
    const kept = this.#tab.read(`${this.#prefix}:outbox`) as KeptOutbox | null;
    if (!kept || kept.userId !== userId || !Array.isArray(kept.entries)) return [];
    return kept.entries;
  }

  keepOutbox(userId: string | null, entries: readonly OutboxEntry[]): void {
    if (entries.length === 0) this.#tab.remove(`${this.#prefix}:outbox`);
    else this.#tab.write(`${this.#prefix}:outbox`, { userId, entries });
  }

  /** Kept for the tab so that a reload does not flash the default look. */
  get look(): { name: string; appearance: Appearance | null } | null {
    const kept = this.#tab.read(`${this.#prefix}:look`) as { name?: unknown; appearance?: unknown } | null;
    if (!kept || typeof kept.name !== 'string') return null;
    return { name: kept.name, appearance: readAppearance(kept.appearance) };
  }

  keepLook(name: string, appearance: Appearance | null): void {
    this.#tab.write(`${this.#prefix}:look`, { name, appearance });
  }
}

export function readAppearance(value: unknown): Appearance | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Appearance) : null;
}
