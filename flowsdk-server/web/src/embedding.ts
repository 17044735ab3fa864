import type { Appearance } from './protocol.ts';

/**
 * What the widget on a page and the chat page in its frame tell each other by `postMessage` (docs/webchat.md). Both
 * ignore whatever they do not know, so that either may be newer than the other.
 */
export const PROTOCOL = 1;

/** The fragment of the address by which the widget lets the chat page know that somebody talks to it. */
export const WIDGET_FRAGMENT = '#widget';

/** From the widget to the chat page. */
export type ToFrame =
  | { type: 'hello'; token: string | null; language: string | null; shown: boolean }
  /** The answer to `token-expired`; null where the page has no other token. */
  | { type: 'token'; token: string | null }
  | { type: 'show' }
  | { type: 'hide' };

/** From the chat page to the widget. */
export type ToHost =
  | { type: 'ready' }
  | { type: 'message'; text: string }
  | { type: 'unread'; count: number }
  | { type: 'token-expired' }
  | { type: 'close' };

export function envelope(message: ToFrame | ToHost): object {
  return { flowsdk: PROTOCOL, ...message };
}

type Bag = Record<string, unknown>;

function open(data: unknown): Bag | null {
  return typeof data === 'object' && data !== null && (data as Bag)['flowsdk'] === PROTOCOL ? (data as Bag) : null;
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

export function readToFrame(data: unknown): ToFrame | null {
  const bag = open(data);
  switch (bag?.['type']) {
    case 'hello':
      return {
        type: 'hello',
        token: text(bag['token']),
        language: text(bag['language']),
        shown: bag['shown'] === true,
      };
    case 'token':
      return { type: 'token', token: text(bag['token']) };
    case 'show':
    case 'hide':
      return { type: bag['type'] };
    default:
      return null;
  }
}

/** Looks to show, from the page that tries them. */
export function readLooks(data: unknown): Appearance | null {
  const bag = open(data);
  const looks = bag?.['type'] === 'looks' ? bag['looks'] : null;
  return typeof looks === 'object' && looks !== null && !Array.isArray(looks) ? looks : null;
}

export function readToHost(data: unknown): ToHost | null {
  const bag = open(data);
  switch (bag?.['type']) {
    case 'message':
      return { type: 'message', text: text(bag['text']) ?? '' };
    case 'unread': {
      const { count } = bag;
      return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? { type: 'unread', count } : null;
    }
    case 'ready':
    case 'token-expired':
    case 'close':
      return { type: bag['type'] };
    default:
      return null;
  }
}
