import { Connection } from './connection.ts';
import { plainText } from './content.ts';
import { kindOf, readAttachments, upload } from './files.ts';
import { fetchHistory } from './history.ts';
import type { Hello, Host } from './host.ts';
import { newId } from './ids.ts';
import { Outbox, type OutboxEntry } from './outbox.ts';
import type {
  Appearance,
  Attachments,
  AuthOk,
  Choice,
  Credentials,
  Identity,
  Outgoing,
  WireMessage,
} from './protocol.ts';
import { ChatStorage, readAppearance } from './storage.ts';
import { Tabs, type Told } from './tabs.ts';
import {
  addIncoming,
  addLocal,
  arrived,
  confirm,
  contentOf,
  fromVisitor,
  fromWire,
  lastKnownId,
  leavesGap,
  mergeHistory,
  moveToEnd,
  without,
  prependHistory,
  setContent,
  setDelivery,
  type Item,
} from './timeline.ts';

const TYPING_SHOWN_MS = 5000;
const TYPING_SENT_EVERY_MS = 3000;
/** A tab that is closed while it sends tells no more; the history then says what became of its message. */
const OTHER_TAB_MS = 15_000;
/** A blink of the network is no news; the very first connection may take its time as well. */
const BANNER_DELAY_MS = 900;
const FIRST_BANNER_DELAY_MS = 3000;

export type Link = 'quiet' | 'connecting' | 'offline' | 'limited' | 'online';

export interface State {
  link: Link;
  retryInMs: number;
  /** Code of the refusal that ended the attempts to connect. */
  refusal: string | null;
  started: boolean;
  loading: boolean;
  channelName: string;
  appearance: Appearance | null;
  items: readonly Item[];
  cursor: string | null;
  loadingEarlier: boolean;
  typing: string | null;
  /** Who has the session; `null` before it begins and after it has ended. */
  mode: string | null;
  /** Whether a session can begin without a message of the visitor. */
  startsOnOpen: boolean;
  /** Whether the page offers to forget the visitor: to authors, in a test channel. */
  canStartOver: boolean;
  /** The language that the page around asks for. */
  language: string | null;
  /** Whether a widget holds the page, which can close it. */
  closable: boolean;
  /** False while the widget that holds the page is closed. */
  shown: boolean;
  /** What may be sent beside texts. */
  attachments: Attachments | null;
}

/** The widget around the page, and what it said first. */
export interface Around {
  host: Host;
  hello: Hello;
}

export class ChatApp {
  state: State;
  #listeners = new Set<() => void>();
  #storage: ChatStorage;
  #connection: Connection;
  #outbox: Outbox;
  #channelId: string;
  #token: string | null;
  #host: Host | null;
  /** A fresh token that is refused too is not replaced again. */
  #tokenRenewed = false;
  #unread = 0;
  #identity: Identity | null;
  #userId: string | null;
  #tabs: Tabs;
  /** Messages that other tabs are sending. */
  #ofOtherTabs = new Map<string, ReturnType<typeof setTimeout>>();
  /** Files that the server does not have yet, by the key of their message. */
  #files = new Map<string, File>();
  #orderDoubtful = false;
  #settling = false;
  /** A conversation that could not be read when the page was opened. */
  #historyMissing = false;
  #lastRead: string | null = null;
  #lastTyping = 0;
  #typingTimer: ReturnType<typeof setTimeout> | undefined;
  #bannerTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(channelId: string, token: string | null, around: Around | null = null) {
    this.#channelId = channelId;
    this.#token = token;
    this.#host = around?.host ?? null;
    if (this.#host) this.#host.onShown = (shown) => this.#setShown(shown);
    this.#storage = new ChatStorage(channelId, token === null);
    this.#storage.onIdentity(() => this.#follow());
    this.#identity = this.#storage.identity;
    this.#userId = this.#identity?.userId ?? null;
    const look = this.#storage.look;
    this.state = {
      link: 'quiet',
      retryInMs: 0,
      refusal: null,
      started: false,
      loading: true,
      channelName: look?.name ?? '',
      appearance: look?.appearance ?? null,
      items: [],
      cursor: null,
      loadingEarlier: false,
      typing: null,
      mode: 'flow',
      startsOnOpen: false,
      canStartOver: false,
      language: around?.hello.language ?? null,
      closable: around !== null,
      shown: around?.hello.shown ?? true,
      attachments: null,
    };
    this.#tabs = new Tabs(channelId, (told) => this.#hear(told));
    this.#outbox = new Outbox({
      send: (entry) => this.#connection.send(entry.clientMessageId, entry.outgoing),
      onSending: (entry) => {
        const { clientMessageId, outgoing, at } = entry;
        this.#mark(entry, 'sending');
        this.#tabs.tell({ kind: 'sending', clientMessageId, outgoing, at });
      },
      onQueued: (entry) => {
        this.#mark(entry, 'queued');
        this.#tabs.tell({ kind: 'unsent', clientMessageId: entry.clientMessageId });
      },
      onInterrupted: () => {
        this.#orderDoubtful = true;
      },
      onSent: (entry, messageId) => {
        const { clientMessageId } = entry;
        this.#set({ items: confirm(this.state.items, clientMessageId, messageId) });
        this.#tabs.tell({ kind: 'sent', clientMessageId, messageId });
        void this.#settleOrder();
      },
      onFailed: (entry, code) => {
        this.#set({ items: setDelivery(this.state.items, entry.clientMessageId, 'failed', code) });
        this.#tabs.tell({ kind: 'unsent', clientMessageId: entry.clientMessageId });
      },
      onStalled: () => this.#connection.restart(),
      persist: (entries) => this.#storage.keepOutbox(this.#userId, entries),
      later: (run, ms) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    });
    this.#connection = new Connection({
      credentials: () => this.#credentials(),
      // Who was here before hears of all that came after their history was read; an unknown id stands for its beginning.
      since: () => lastKnownId(this.state.items) ?? (this.#identity || this.#token ? 'start' : null),
      onAuthOk: (auth) => this.#authenticated(auth),
      onReady: () => this.#outbox.start(),
      onRefused: (code) => void this.#refused(code),
      onLimited: (retryInMs) => {
        clearTimeout(this.#bannerTimer);
        this.#set({ link: 'limited', retryInMs });
      },
      onUnavailable: () => {
        clearTimeout(this.#bannerTimer);
        this.#set({ link: 'offline', typing: null });
      },
      onLost: () => this.#lost(),
      onMessage: (message) => this.#received(message),
      onTyping: (kind, ms) => this.#typing(kind, ms),
      onSession: (mode) => this.#set({ mode }),
    });
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async start(): Promise<void> {
    this.#set({ refusal: null, loading: true });
    this.#bannerLater('connecting', FIRST_BANNER_DELAY_MS);
    // With a conversation on the screen already, the server replays what is missing.
    if ((this.#identity || this.#token) && this.state.items.length === 0) await this.#readHistory();
    if (!this.#token) this.#restoreOutbox();
    this.#set({ loading: false });
    this.#connection.open();
  }

  async loadEarlier(): Promise<void> {
    if (!this.state.cursor || this.state.loadingEarlier) return;
    this.#set({ loadingEarlier: true });
    await this.#readHistory(this.state.cursor);
    this.#set({ loadingEarlier: false });
  }

  /** Puts a page of the history, the newest one without a cursor, before what is shown. */
  async #readHistory(cursor: string | null = null): Promise<void> {
    const page = await fetchHistory(this.#credentials(), cursor);
    // The newest page is asked for again as soon as the server lets the visitor in.
    this.#historyMissing = cursor === null && page === null;
    if (!page) return;
    const now = Date.now();
    const older = page.items.map((item) => fromWire(item, now));
    this.#set({ items: prependHistory(this.state.items, older), cursor: page.nextCursor });
  }

  sendText(text: string): void {
    this.#send({ kind: 'text', text });
  }

  choose(choice: Choice): void {
    this.#send({ kind: 'choice', choice });
  }

  sendFile(file: File): void {
    const key = newId();
    const content = { kind: 'media', media: kindOf(file.type), link: '', caption: '', filename: file.name } as const;
    const item = fromVisitor(key, { kind: 'text', text: '' }, Date.now());
    this.#files.set(key, file);
    this.#set({ items: addLocal(this.state.items, { ...item, content }), mode: this.state.mode ?? 'flow' });
    void this.#upload(key, file);
  }

  /** A file leaves when the server has it. Texts that are written meanwhile do not wait for it. */
  async #upload(key: string, file: File): Promise<void> {
    const most = this.state.attachments?.maxBytes ?? 0;
    this.#set({ items: setDelivery(this.state.items, key, 'sending') });
    const uploaded = file.size > most ? 'media_too_large' : await upload(this.#credentials(), file);
    if (!this.#files.has(key)) return;
    if (typeof uploaded === 'string') {
      this.#set({ items: setDelivery(this.state.items, key, 'failed', uploaded) });
      return;
    }
    this.#files.delete(key);
    const outgoing: Outgoing = { kind: 'file', file: uploaded };
    this.#set({ items: setContent(this.state.items, key, contentOf(outgoing)) });
    this.#outbox.add({ clientMessageId: key, outgoing, at: Date.now(), state: 'queued' });
  }

  retry(key: string): void {
    const file = this.#files.get(key);
    if (file) {
      this.#set({ items: moveToEnd(this.state.items, key) });
      void this.#upload(key, file);
      return;
    }
    if (this.#outbox.retry(key)) this.#set({ items: moveToEnd(this.state.items, key) });
  }

  /** Lets the flow speak again after the end of a session. */
  startAgain(): void {
    this.#connection.start();
  }

  noteTyping(): void {
    const now = Date.now();
    if (now - this.#lastTyping < TYPING_SENT_EVERY_MS) return;
    this.#lastTyping = now;
    this.#connection.typing();
  }

  noteRead(messageId: string): void {
    if (messageId !== this.#lastRead && this.#connection.read(messageId)) this.#lastRead = messageId;
  }

  /** Asks the widget around the page to close. */
  hide(): void {
    this.#host?.tell({ type: 'close' });
  }

  /** Begins anew as a visitor whom nobody knows yet. */
  startOver(): void {
    this.#storage.forget();
    this.#beginAs(null);
  }

  /** Where an author starts over in another tab, this one shows the new conversation too. */
  #follow(): void {
    const identity = this.#storage.identity;
    if (this.state.canStartOver && identity && identity.userId !== this.#userId) this.#beginAs(identity);
  }

  #beginAs(identity: Identity | null): void {
    this.#connection.close();
    this.#outbox.clear();
    this.#files.clear();
    this.#identity = identity;
    this.#userId = identity?.userId ?? null;
    this.#tabs.leave();
    this.#ofOtherTabs.forEach((timer) => clearTimeout(timer));
    this.#ofOtherTabs.clear();
    this.#lastRead = null;
    this.#countUnread(0);
    this.#orderDoubtful = false;
    this.#set({ items: [], cursor: null, typing: null, mode: 'flow', started: false });
    void this.start();
  }

  #credentials(): Credentials {
    return {
      channelId: this.#channelId,
      token: this.#token,
      identity: this.#identity,
      embedder: this.#host?.origin ?? null,
    };
  }

  #send(outgoing: Outgoing): void {
    const entry: OutboxEntry = { clientMessageId: newId(), outgoing, at: Date.now(), state: 'queued' };
    this.#lastTyping = 0;
    this.#set({
      items: addLocal(this.state.items, fromVisitor(entry.clientMessageId, outgoing, entry.at)),
      mode: this.state.mode ?? 'flow',
    });
    this.#outbox.add(entry);
  }

  #restoreOutbox(): void {
    const entries = this.#storage.outbox(this.#userId);
    if (entries.length === 0) return;
    let items = this.state.items;
    for (const entry of entries) {
      const item = fromVisitor(entry.clientMessageId, entry.outgoing, entry.at);
      items = addLocal(items, entry.state === 'failed' ? { ...item, delivery: 'failed' } : item);
    }
    this.#set({ items });
    this.#outbox.restore(entries);
  }

  async #settleOrder(): Promise<void> {
    if (!this.#orderDoubtful || this.#outbox.hasQueued || this.#settling) return;
    this.#orderDoubtful = false;
    this.#settling = true;
    const page = await fetchHistory(this.#credentials(), null);
    this.#settling = false;
    void this.#settleOrder();
    if (!page) return;
    const now = Date.now();
    const newest = page.items.map((item) => fromWire(item, now));
    this.#set({ items: mergeHistory(this.state.items, arrived(this.state.items, newest)) });
  }

  /** Shows what another tab sends where it will stand: before the answer to it. */
  #hear(told: Told): void {
    const { clientMessageId: key } = told;
    if (told.kind === 'sending') {
      if (this.state.items.some((item) => item.key === key)) return;
      const item = fromVisitor(key, told.outgoing, told.at);
      this.#set({ items: addIncoming(this.state.items, { ...item, delivery: 'sending' }) });
      this.#ofOtherTabs.set(key, setTimeout(() => this.#giveUpOn(key), OTHER_TAB_MS));
      return;
    }
    const isShown = this.#ofOtherTabs.has(key);
    clearTimeout(this.#ofOtherTabs.get(key));
    this.#ofOtherTabs.delete(key);
    if (told.kind === 'unsent') {
      if (isShown) this.#set({ items: without(this.state.items, key) });
    } else if (isShown) this.#set({ items: confirm(this.state.items, key, told.messageId) });
    else if (!this.state.items.some((item) => item.id === told.messageId)) this.#doubtOrder();
  }

  #giveUpOn(key: string): void {
    this.#ofOtherTabs.delete(key);
    this.#set({ items: without(this.state.items, key) });
    this.#doubtOrder();
  }

  #doubtOrder(): void {
    this.#orderDoubtful = true;
    void this.#settleOrder();
  }

  #mark(entry: OutboxEntry, delivery: 'queued' | 'sending'): void {
    this.#set({ items: setDelivery(this.state.items, entry.clientMessageId, delivery) });
  }

  async #refused(code: string): Promise<void> {
    clearTimeout(this.#bannerTimer);
    if (code === 'token_expired' && this.#host && !this.#tokenRenewed) {
      this.#tokenRenewed = true;
      const token = await this.#host.renewToken();
      if (token) {
        this.#token = token;
        // With the history, which the former token did not get either.
        return this.start();
      }
    }
    // Visitors cannot mend it; whoever puts the chat into a page looks here.
    if (code === 'origin_refused') console.error('flowsdk: allowedOrigins of the channel does not name this page');
    this.#set({ refusal: code, link: 'quiet', typing: null });
  }

  #setShown(shown: boolean): void {
    this.#set({ shown });
    if (shown) this.#countUnread(0);
  }

  #countUnread(count: number): void {
    if (count === this.#unread) return;
    this.#unread = count;
    this.#host?.tell({ type: 'unread', count });
  }

  #authenticated(auth: AuthOk): void {
    clearTimeout(this.#bannerTimer);
    this.#tokenRenewed = false;
    const appearance = readAppearance(auth.appearance);
    const channelName = typeof auth.channelName === 'string' ? auth.channelName : '';
    this.#userId = auth.userId;
    this.#tabs.join(auth.userId);
    if (!this.#token && auth.sessionKey !== null) {
      const identity = { userId: auth.userId, sessionKey: auth.sessionKey };
      // One that this tab came with is kept already, unless another tab has begun anew meanwhile.
      if (identity.userId !== this.#identity?.userId) this.#storage.keepIdentity(identity);
      this.#identity = identity;
    } else if (!this.state.started) this.#restoreOutbox();
    this.#storage.keepOutbox(this.#userId, this.#outbox.entries);
    this.#storage.keepLook(channelName, appearance);
    this.#set({
      link: 'online',
      started: true,
      refusal: null,
      channelName,
      appearance,
      mode: auth.mode === undefined ? 'flow' : auth.mode,
      startsOnOpen: auth.startOn === 'open',
      canStartOver: auth.isTestChannel === true && this.#token === null,
      attachments: readAttachments(auth.attachments),
    });
    if (this.#historyMissing) void this.#readHistory();
  }

  #lost(): void {
    this.#outbox.stop();
    if (this.state.link === 'online') {
      this.#set({ link: 'quiet', typing: null });
      this.#bannerLater('offline', BANNER_DELAY_MS);
    }
  }

  #bannerLater(link: Link, ms: number): void {
    clearTimeout(this.#bannerTimer);
    this.#bannerTimer = setTimeout(() => this.#set({ link }), ms);
  }

  #received(message: WireMessage): void {
    const item = fromWire(message, Date.now());
    const mine = message.clientMessageId;
    if (item.direction === 'in' && mine && this.state.items.some((known) => known.key === mine)) {
      this.#set({ items: confirm(this.state.items, mine, item.id ?? mine) });
      return;
    }
    clearTimeout(this.#typingTimer);
    const known = this.state.items;
    this.#set({ items: addIncoming(known, item), typing: null, mode: this.state.mode ?? 'flow' });
    if (item.direction === 'out' && this.state.items.length > known.length) this.#announce(item);
    if (leavesGap(known, item)) this.#doubtOrder();
  }

  /** The page around hears of new messages only: neither of the history nor of what the visitor writes. */
  #announce(item: Item): void {
    this.#host?.tell({ type: 'message', text: plainText(item.content) });
    if (!this.state.shown) this.#countUnread(this.#unread + 1);
  }

  #typing(kind: string, ms = TYPING_SHOWN_MS): void {
    clearTimeout(this.#typingTimer);
    this.#typingTimer = setTimeout(() => this.#set({ typing: null }), ms);
    this.#set({ typing: kind });
  }

  #set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }
}
