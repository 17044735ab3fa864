import type { Ack, Outgoing } from './protocol.ts';

export interface OutboxEntry {
  clientMessageId: string;
  outgoing: Outgoing;
  at: number;
  state: 'queued' | 'failed';
}

export interface OutboxHooks {
  /** Rejects when no ack came in time. */
  send(entry: OutboxEntry): Promise<Ack>;
  onSending(entry: OutboxEntry): void;
  onQueued(entry: OutboxEntry): void;
  /** It left, and nobody knows whether it arrived. */
  onInterrupted(entry: OutboxEntry): void;
  onSent(entry: OutboxEntry, messageId: string): void;
  onFailed(entry: OutboxEntry, code: string): void;
  /** Without an ack the connection itself is suspect: whoever owns it starts it anew, which resends. */
  onStalled(): void;
  persist(entries: readonly OutboxEntry[]): void;
  later(run: () => void, ms: number): () => void;
}

const MAX_UNANSWERED = 3;
const RETRY_CODES: readonly string[] = ['rate_limited', 'unavailable'];
const MAX_REFUSALS = 6;

/**
 * Messages leave strictly one after the other, each with an id the server stores only once, so that
 * repeating after a lost connection neither doubles nor reorders anything.
 */
export class Outbox {
  #entries: OutboxEntry[] = [];
  #hooks: OutboxHooks;
  #running = false;
  #inFlight: string | null = null;
  /** Answers to an attempt of a former connection must not be taken for those of the current one. */
  #epoch = 0;
  #unanswered = new Map<string, number>();
  #refusals = 0;
  #cancelDelay: (() => void) | null = null;

  constructor(hooks: OutboxHooks) {
    this.#hooks = hooks;
  }

  get entries(): readonly OutboxEntry[] {
    return this.#entries;
  }

  get hasQueued(): boolean {
    return this.#entries.some((entry) => entry.state === 'queued');
  }

  restore(entries: readonly OutboxEntry[]): void {
    const known = new Set(this.#entries.map((entry) => entry.clientMessageId));
    this.#entries = [...entries.filter((entry) => !known.has(entry.clientMessageId)), ...this.#entries];
    this.#save();
    void this.#pump();
  }

  add(entry: OutboxEntry): void {
    this.#entries.push(entry);
    this.#save();
    void this.#pump();
  }

  retry(clientMessageId: string): OutboxEntry | null {
    const entry = this.#entries.find((one) => one.clientMessageId === clientMessageId);
    if (!entry || entry.state !== 'failed') return null;
    // To the end: what was written after it may have been delivered meanwhile.
    this.#entries = [...this.#entries.filter((one) => one !== entry), entry];
    entry.state = 'queued';
    this.#unanswered.delete(clientMessageId);
    this.#hooks.onQueued(entry);
    this.#save();
    void this.#pump();
    return entry;
  }

  start(): void {
    this.#running = true;
    void this.#pump();
  }

  stop(): void {
    this.#running = false;
    this.#epoch += 1;
    this.#cancelDelay?.();
    this.#cancelDelay = null;
    const entry = this.#entries.find((one) => one.clientMessageId === this.#inFlight);
    this.#inFlight = null;
    if (!entry) return;
    this.#hooks.onQueued(entry);
    this.#hooks.onInterrupted(entry);
  }

  clear(): void {
    this.stop();
    this.#entries = [];
    this.#unanswered.clear();
    this.#save();
  }

  async #pump(): Promise<void> {
    if (!this.#running || this.#inFlight !== null || this.#cancelDelay !== null) return;
    const entry = this.#entries.find((one) => one.state === 'queued');
    if (!entry) return;
    const epoch = this.#epoch;
    this.#inFlight = entry.clientMessageId;
    this.#hooks.onSending(entry);
    let ack: Ack | null;
    try {
      ack = await this.#hooks.send(entry);
    } catch {
      ack = null;
    }
    if (epoch !== this.#epoch) return;
    this.#inFlight = null;
    if (ack === null) this.#unansweredBy(entry);
    else if (ack.ok) this.#accepted(entry, ack.messageId);
    else this.#refused(entry, ack.code);
    void this.#pump();
  }

  #accepted(entry: OutboxEntry, messageId: string): void {
    this.#refusals = 0;
    this.#unanswered.delete(entry.clientMessageId);
    this.#entries = this.#entries.filter((one) => one !== entry);
    this.#save();
    this.#hooks.onSent(entry, messageId);
  }

  #refused(entry: OutboxEntry, code: string): void {
    if (RETRY_CODES.includes(code) && this.#refusals < MAX_REFUSALS) {
      const wait = Math.min(1000 * 2 ** this.#refusals, 15_000);
      this.#refusals += 1;
      this.#cancelDelay = this.#hooks.later(() => {
        this.#cancelDelay = null;
        void this.#pump();
      }, wait);
      this.#hooks.onQueued(entry);
      return;
    }
    this.#refusals = 0;
    this.#fail(entry, code);
  }

  #unansweredBy(entry: OutboxEntry): void {
    const count = (this.#unanswered.get(entry.clientMessageId) ?? 0) + 1;
    this.#unanswered.set(entry.clientMessageId, count);
    if (count >= MAX_UNANSWERED) {
      this.#fail(entry, 'no_answer');
      return;
    }
    this.#hooks.onQueued(entry);
    this.#hooks.onInterrupted(entry);
    this.stop();
    this.#hooks.onStalled();
  }

  #fail(entry: OutboxEntry, code: string): void {
    entry.state = 'failed';
    this.#save();
    this.#hooks.onFailed(entry, code);
  }

  #save(): void {
    this.#hooks.persist(this.#entries);
  }
}
