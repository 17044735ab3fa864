import { envelope, readToHost, WIDGET_FRAGMENT, type ToFrame, type ToHost } from '../embedding.ts';

export interface FrameHooks {
  /** How the page introduces itself, each time the chat page has loaded. */
  hello(): Promise<ToFrame>;
  onMessage(message: Exclude<ToHost, { type: 'ready' }>): void;
}

/** The chat page in its frame. Only its window is listened to, and only while it shows the server's origin. */
export class Frame {
  readonly element = document.createElement('iframe');
  #origin: string;
  #hooks: FrameHooks;
  #introduced = false;

  constructor(page: URL, title: string, hooks: FrameHooks) {
    this.#origin = page.origin;
    this.#hooks = hooks;
    this.element.title = title;
    this.element.referrerPolicy = 'no-referrer';
    // For voice messages: the visitor is still asked.
    this.element.allow = 'microphone';
    this.element.src = page.href + WIDGET_FRAGMENT;
    window.addEventListener('message', this.#listen);
  }

  /** Before the introduction nothing is told: `hello` says it all. */
  tell(message: ToFrame): void {
    if (this.#introduced) this.#post(message);
  }

  remove(): void {
    window.removeEventListener('message', this.#listen);
    this.element.remove();
  }

  #listen = (event: MessageEvent): void => {
    if (event.source !== this.element.contentWindow || event.origin !== this.#origin) return;
    const message = readToHost(event.data);
    if (message?.type === 'ready') void this.#introduce();
    else if (message) this.#hooks.onMessage(message);
  };

  async #introduce(): Promise<void> {
    this.#introduced = false;
    const hello = await this.#hooks.hello();
    this.#introduced = true;
    this.#post(hello);
  }

  #post(message: ToFrame): void {
    this.element.contentWindow?.postMessage(envelope(message), this.#origin);
  }
}
