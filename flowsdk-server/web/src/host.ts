import { envelope, readToFrame, type ToFrame, type ToHost } from './embedding.ts';

const TOKEN_WAIT_MS = 15_000;

export type Hello = Extract<ToFrame, { type: 'hello' }>;

/**
 * The page around the chat page, if it has the widget. Only the window directly above is listened to, and it is the
 * only one that is told anything: every message names its origin as the receiver.
 */
export class Host {
  /** The origin of the page around, as the browser tells it. */
  readonly origin: string;
  onShown: (shown: boolean) => void = () => {};
  #window: Window;
  #tokenAsked: ((token: string | null) => void) | null = null;

  private constructor(window: Window, origin: string) {
    this.#window = window;
    this.origin = origin;
    window.addEventListener('message', (event) => {
      if (event.source !== window.parent || event.origin !== origin) return;
      const message = readToFrame(event.data);
      if (message?.type === 'token') this.#tokenAsked?.(message.token);
      if (message?.type === 'show' || message?.type === 'hide') this.onShown(message.type === 'show');
    });
  }

  /**
   * Waits for the page around to introduce itself. A page without an origin (a file, a sandbox) cannot be told from others
   * of the kind: it is heard this once, and told nothing.
   */
  static greet(window: Window, onHello: (hello: Hello, host: Host | null) => void): void {
    const listener = (event: MessageEvent) => {
      if (event.source !== window.parent) return;
      const hello = readToFrame(event.data);
      if (hello?.type !== 'hello') return;
      window.removeEventListener('message', listener);
      onHello(hello, event.origin === 'null' ? null : new Host(window, event.origin));
    };
    window.addEventListener('message', listener);
    // Anybody may know that a chat page is there: it is they who framed it.
    window.parent.postMessage(envelope({ type: 'ready' }), '*');
  }

  tell(message: ToHost): void {
    this.#window.parent.postMessage(envelope(message), this.origin);
  }

  /** Asks for a token in place of one that has expired; null when the page around has none. */
  renewToken(): Promise<string | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#tokenAsked?.(null), TOKEN_WAIT_MS);
      this.#tokenAsked = (token) => {
        clearTimeout(timer);
        this.#tokenAsked = null;
        resolve(token);
      };
      this.tell({ type: 'token-expired' });
    });
  }
}
