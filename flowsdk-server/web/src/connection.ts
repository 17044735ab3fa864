import { io, type Socket } from 'socket.io-client';
import { baseOf } from './base.ts';
import type { Ack, AuthError, AuthOk, Credentials, Outgoing, WireMessage } from './protocol.ts';

const ACK_TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
const AUTH_TIMEOUT_MS = 10_000;
const QUIET_MS = 250;
const QUIET_LIMIT_MS = 2000;

export interface ConnectionHooks {
  credentials(): Credentials;
  since(): string | null;
  onAuthOk(auth: AuthOk): void;
  /** What was missed has arrived: from here on messages may leave. */
  onReady(): void;
  onRefused(code: string): void;
  onLimited(waitMs: number): void;
  /** The server cannot let anybody in now; the connection tries again by itself. */
  onUnavailable(): void;
  onLost(): void;
  onMessage(message: WireMessage): void;
  onTyping(kind: string, ms?: number): void;
  onSession(mode: string | null): void;
}

export class Connection {
  #hooks: ConnectionHooks;
  #socket: Socket;
  #wanted = false;
  #ready = false;
  #websocketWorked = false;
  #replaySince: number | null = null;
  #limitedTimes = 0;
  #manualTimes = 0;
  #authTimer: ReturnType<typeof setTimeout> | undefined;
  #quietTimer: ReturnType<typeof setTimeout> | undefined;
  #reopenTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(hooks: ConnectionHooks) {
    this.#hooks = hooks;
    this.#socket = io(window.location.origin, {
      path: `${baseOf(window.location.pathname)}/webchat/socket.io`,
      transports: ['websocket', 'polling'],
      // Without it a blocked websocket (company proxies) would never fall back to polling.
      tryAllTransports: true,
      autoConnect: false,
      timeout: CONNECT_TIMEOUT_MS,
      reconnectionDelay: 800,
      reconnectionDelayMax: 8000,
      auth: (answer) => answer(this.#handshake()),
    });
    const socket = this.#socket;
    socket.on('connect', () => {
      if (socket.io.engine.transport.name === 'websocket') this.#websocketWorked = true;
      clearTimeout(this.#authTimer);
      this.#authTimer = setTimeout(() => this.#reopenLater(), AUTH_TIMEOUT_MS);
    });
    socket.on('auth_ok', (auth: AuthOk) => this.#accepted(auth));
    socket.on('auth_error', (error: AuthError | undefined) => this.#refused(error?.code ?? 'unknown'));
    socket.on('disconnect', () => {
      this.#lost();
      // After a disconnect asked for by the server (a restart, say) the client library stays away.
      if (this.#wanted && !socket.active) this.#reopenLater();
    });
    socket.on('connect_error', () => {
      this.#lost();
      // Some proxies let a websocket open and then keep silent, which no error tells.
      if (!this.#websocketWorked) socket.io.opts.transports = ['polling', 'websocket'];
      if (this.#wanted && !socket.active) this.#reopenLater();
    });
    socket.on('message', (message: WireMessage, ack?: unknown) => {
      if (typeof ack === 'function') ack({ ok: true });
      if (typeof message?.id !== 'string' || typeof message.type !== 'string') return;
      this.#hooks.onMessage(message);
      if (this.#replaySince !== null) this.#waitForQuiet();
    });
    socket.on('typing', (event: { kind?: string; ms?: number } | undefined) =>
      this.#hooks.onTyping(event?.kind ?? 'flow', event?.ms),
    );
    socket.on('session', (event: { mode?: string | null } | undefined) => this.#hooks.onSession(event?.mode ?? null));
    window.addEventListener('online', () => this.#nudge());
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#nudge();
    });
  }

  get ready(): boolean {
    return this.#ready;
  }

  open(): void {
    this.#wanted = true;
    clearTimeout(this.#reopenTimer);
    this.#socket.connect();
  }

  close(): void {
    this.#wanted = false;
    clearTimeout(this.#reopenTimer);
    this.#lost();
    this.#socket.disconnect();
  }

  restart(): void {
    this.close();
    this.open();
  }

  async send(clientMessageId: string, outgoing: Outgoing): Promise<Ack> {
    const socket = this.#socket.timeout(ACK_TIMEOUT_MS);
    const ack: unknown = await socket.emitWithAck(...eventOf(clientMessageId, outgoing));
    const given = (typeof ack === 'object' && ack !== null ? ack : {}) as Partial<{
      ok: boolean;
      messageId: string;
      code: string;
    }>;
    if (given.ok === true) return { ok: true, messageId: given.messageId ?? clientMessageId };
    return { ok: false, code: given.code ?? 'unknown' };
  }

  /** Begins another session without a message. */
  start(): void {
    if (this.#socket.connected) this.#socket.emit('start', {});
  }

  typing(): void {
    if (this.#ready) this.#socket.volatile.emit('typing', {});
  }

  read(messageId: string): boolean {
    if (!this.#ready) return false;
    this.#socket.emit('read', { messageId });
    return true;
  }

  #handshake(): Record<string, string> {
    const { channelId, token, identity, embedder } = this.#hooks.credentials();
    const since = this.#hooks.since();
    return {
      channelId,
      ...(token ? { token } : (identity ?? {})),
      ...(since ? { since } : {}),
      ...(embedder ? { embedder } : {}),
    };
  }

  #accepted(auth: AuthOk): void {
    clearTimeout(this.#authTimer);
    this.#limitedTimes = 0;
    this.#manualTimes = 0;
    const replays = this.#hooks.since() !== null;
    this.#hooks.onAuthOk(auth);
    if (replays) {
      this.#replaySince = Date.now();
      this.#waitForQuiet();
    } else this.#becomeReady();
  }

  /** Nothing marks the end of a replay; sending into it would show an answer above what it was missing. */
  #waitForQuiet(): void {
    clearTimeout(this.#quietTimer);
    const left = QUIET_LIMIT_MS - (Date.now() - (this.#replaySince ?? 0));
    this.#quietTimer = setTimeout(() => this.#becomeReady(), Math.max(0, Math.min(QUIET_MS, left)));
  }

  #becomeReady(): void {
    this.#replaySince = null;
    this.#ready = true;
    this.#hooks.onReady();
  }

  #refused(code: string): void {
    // Leaving first keeps the client library from knocking again with what was just refused.
    this.close();
    if (code === 'unavailable') {
      this.#wanted = true;
      this.#hooks.onUnavailable();
      this.#reopenLater();
      return;
    }
    if (code !== 'rate_limited') {
      this.#hooks.onRefused(code);
      return;
    }
    const wait = withJitter(Math.min(5000 * 2 ** this.#limitedTimes, 120_000));
    this.#limitedTimes += 1;
    this.#wanted = true;
    this.#reopenTimer = setTimeout(() => this.open(), wait);
    this.#hooks.onLimited(wait);
  }

  #reopenLater(): void {
    const wait = withJitter(Math.min(1000 * 2 ** this.#manualTimes, 30_000));
    this.#manualTimes += 1;
    clearTimeout(this.#reopenTimer);
    this.#reopenTimer = setTimeout(() => this.restart(), wait);
  }

  /** A phone that wakes up or gets its network back should not sit out the rest of a long pause. */
  #nudge(): void {
    if (!this.#wanted || this.#socket.connected || this.#limitedTimes > 0) return;
    this.#socket.disconnect();
    this.open();
  }

  #lost(): void {
    clearTimeout(this.#authTimer);
    clearTimeout(this.#quietTimer);
    this.#replaySince = null;
    this.#ready = false;
    this.#hooks.onLost();
  }
}

function eventOf(clientMessageId: string, outgoing: Outgoing): [string, object] {
  switch (outgoing.kind) {
    case 'text':
      return ['message', { text: outgoing.text, clientMessageId }];
    case 'choice':
      return ['message_interactive', { ...outgoing.choice, clientMessageId }];
    case 'file':
      return ['message_media', { mediaId: outgoing.file.id, clientMessageId }];
  }
}

function withJitter(ms: number): number {
  return Math.round(ms * (0.8 + Math.random() * 0.4));
}
