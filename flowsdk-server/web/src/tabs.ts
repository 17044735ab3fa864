import type { Outgoing } from './protocol.ts';

/** What becomes of a message that a tab sends. */
export type Told =
  | { kind: 'sending'; clientMessageId: string; outgoing: Outgoing; at: number }
  | { kind: 'sent'; clientMessageId: string; messageId: string }
  | { kind: 'unsent'; clientMessageId: string };

/**
 * The other tabs of a visitor in this browser. The server sends nobody their own messages, so each tab tells the others of
 * those that it sends. Browsers let only pages of the same origin, in frames of the same site, hear each other.
 */
export class Tabs {
  #channelId: string;
  #hear: (told: Told) => void;
  #userId: string | null = null;
  #channel: BroadcastChannel | null = null;

  constructor(channelId: string, hear: (told: Told) => void) {
    this.#channelId = channelId;
    this.#hear = hear;
  }

  /** Joins the tabs of this visitor, and of nobody else. */
  join(userId: string): void {
    if (userId === this.#userId) return;
    this.leave();
    this.#userId = userId;
    try {
      this.#channel = new BroadcastChannel(`flowsdk-chat:${this.#channelId}:${userId}`);
      this.#channel.onmessage = (event: MessageEvent<Told>) => this.#hear(event.data);
    } catch {
      // A browser without it, or one that keeps frames of other sites apart: a reload shows the messages.
    }
  }

  tell(told: Told): void {
    this.#channel?.postMessage(told);
  }

  leave(): void {
    this.#channel?.close();
    this.#channel = null;
    this.#userId = null;
  }
}
