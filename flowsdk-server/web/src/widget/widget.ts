import type { ToHost } from '../embedding.ts';
import { Emitter } from './events.ts';
import { Frame } from './frame.ts';
import { drawn, languageOf, withOptions, type Looks, type Options } from './options.ts';
import { TEXTS } from './texts.ts';
import { View } from './view.ts';

/** An embed token, or a function that fetches one and is asked again when that has expired. */
export type TokenSource = string | (() => string | Promise<string>) | null;

export class Widget {
  readonly events = new Emitter();
  #page: URL;
  #looks: Looks;
  #options: Partial<Options> = {};
  #view = new View({
    toggle: () => (this.#isOpen ? this.close() : this.open()),
    close: () => this.close(),
    dismiss: () => this.#dismiss(),
  });
  #frame: Frame | null = null;
  #tokens: TokenSource = null;
  #isOpen = false;
  #unread = 0;
  #dismissed: boolean;
  #focusedBefore: HTMLElement | null = null;

  /** @param page the address of the chat page */
  constructor(page: URL, looks: Looks) {
    this.#page = page;
    this.#looks = looks;
    this.#dismissed = isRemembered(page);
    document.body.append(this.#view.host);
    this.#draw();
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#focusedBefore = this.#view.hasFocus ? null : (document.activeElement as HTMLElement | null);
    this.#dismissed = true;
    remember(this.#page);
    // Not before: a page view must cost no connection.
    if (!this.#frame) this.#load();
    this.#draw();
    this.#frame?.tell({ type: 'show' });
    this.#frame?.element.focus();
    this.events.emit('open', undefined);
  }

  /** The frame stays, connected, and counts what arrives. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const hadFocus = this.#view.hasFocus;
    this.#draw();
    this.#frame?.tell({ type: 'hide' });
    if (hadFocus) this.#giveFocusBack();
    this.events.emit('close', undefined);
  }

  /** Another visitor is another conversation: a chat page that has loaded starts anew. */
  identify(tokens: TokenSource): void {
    this.#tokens = tokens;
    if (!this.#frame) return;
    this.#setUnread(0);
    this.#load();
  }

  configure(given: Readonly<Record<string, unknown>>): void {
    this.#options = withOptions(this.#options, given, (name, value) =>
      console.warn(`flowsdk: the option ${name} is unknown or cannot be`, value),
    );
    this.#draw();
  }

  #load(): void {
    this.#frame?.remove();
    const frame = new Frame(this.#page, TEXTS[this.#language].chat, {
      hello: async () => ({
        type: 'hello',
        token: await this.#token(),
        language: this.#options.language || null,
        shown: this.#isOpen,
      }),
      onMessage: (message) => void this.#hear(frame, message),
    });
    this.#frame = frame;
    this.#view.put(frame.element);
  }

  async #hear(frame: Frame, message: Exclude<ToHost, { type: 'ready' }>): Promise<void> {
    switch (message.type) {
      case 'message':
        return this.events.emit('message', { text: message.text });
      case 'unread':
        return this.#setUnread(message.count);
      case 'close':
        return this.close();
      case 'token-expired': {
        const renewable = typeof this.#tokens === 'function';
        return frame.tell({ type: 'token', token: renewable ? await this.#token() : null });
      }
    }
  }

  async #token(): Promise<string | null> {
    try {
      return typeof this.#tokens === 'function' ? await this.#tokens() : this.#tokens;
    } catch (error) {
      console.error('flowsdk: no token:', error);
      return null;
    }
  }

  #setUnread(count: number): void {
    if (count === this.#unread) return;
    this.#unread = count;
    this.#draw();
    this.events.emit('unread', { count });
  }

  #dismiss(): void {
    this.#dismissed = true;
    remember(this.#page);
    this.#draw();
    this.#view.focusLauncher();
  }

  #giveFocusBack(): void {
    const before = this.#focusedBefore;
    if (before?.isConnected && before !== document.body) before.focus();
    else this.#view.focusLauncher();
  }

  get #language() {
    return languageOf(this.#options, this.#looks);
  }

  #draw(): void {
    const options = drawn(this.#options, this.#looks, this.#language);
    this.#view.draw({
      options,
      language: this.#language,
      texts: TEXTS[this.#language],
      open: this.#isOpen,
      unread: this.#unread,
      greets: options.greeting !== '' && !this.#dismissed,
    });
  }
}

/** A greeting that was dismissed stays away for as long as the tab is open, where the browser keeps anything. */
function isRemembered(page: URL): boolean {
  try {
    return sessionStorage.getItem(keyOf(page)) !== null;
  } catch {
    return false;
  }
}

function remember(page: URL): void {
  try {
    sessionStorage.setItem(keyOf(page), '1');
  } catch {
    // It greets again on the next page.
  }
}

function keyOf(page: URL): string {
  return `flowsdk-widget:${page.pathname}:greeted`;
}
