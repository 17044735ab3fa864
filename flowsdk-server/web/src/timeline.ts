import { readContent, type Content } from './content.ts';
import type { Outgoing, Sender, WireMessage } from './protocol.ts';

export type Delivery = 'queued' | 'sending' | 'sent' | 'failed';

export interface Item {
  /** Stable across the change from a local message to a stored one, so that the bubble is not rendered anew. */
  key: string;
  id: string | null;
  direction: 'in' | 'out';
  content: Content;
  at: number;
  /** Where the server keeps it; `null` until it says so. Clocks are no order. */
  place: Place | null;
  sender: Sender | null;
  delivery: Delivery | null;
  error: string | null;
  /** Whether the business has read it, where a phone is told; in the web chat its answer shows that. */
  read?: boolean;
}

/** Each chat counts its messages from 1. */
export interface Place {
  chatId: string;
  seq: number;
}

function placeOf(message: WireMessage): Place | null {
  const { chatId, seq } = message;
  return typeof chatId === 'string' && typeof seq === 'number' ? { chatId, seq } : null;
}

/** Whether the server has `item` after `other`. Of two chats nothing is known. */
function isAfter(item: Item, other: Place): boolean {
  return item.place !== null && item.place.chatId === other.chatId && item.place.seq > other.seq;
}

function isSame(item: Item, other: Item): boolean {
  if (item.id !== null && item.id === other.id) return true;
  const { place } = item;
  return place !== null && other.place?.chatId === place.chatId && other.place.seq === place.seq;
}

export function parseTime(value: unknown, fallback: number): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value < 1e11 ? value * 1000 : value;
  if (typeof value === 'string' && value !== '') {
    if (/^\d+$/.test(value)) return parseTime(Number(value), fallback);
    const at = Date.parse(value);
    if (!Number.isNaN(at)) return at;
  }
  return fallback;
}

export function fromWire(message: WireMessage, now: number): Item {
  const inbound = message.direction === 'in';
  return {
    key: message.id,
    id: message.id,
    direction: inbound ? 'in' : 'out',
    content: readContent(message),
    at: parseTime(message.timestamp, now),
    place: placeOf(message),
    sender: message.sender ?? null,
    delivery: inbound ? 'sent' : null,
    error: null,
  };
}

export function fromVisitor(clientMessageId: string, outgoing: Outgoing, at: number): Item {
  return {
    key: clientMessageId,
    id: null,
    direction: 'in',
    content: contentOf(outgoing),
    at,
    place: null,
    sender: null,
    delivery: 'queued',
    error: null,
  };
}

export function contentOf(outgoing: Outgoing): Content {
  switch (outgoing.kind) {
    case 'text':
      return { kind: 'text', text: outgoing.text };
    case 'choice':
      return { kind: 'choice', id: outgoing.choice.id, title: outgoing.choice.title };
    case 'file': {
      const { kind: media, link, filename } = outgoing.file;
      return { kind: 'media', media, link, caption: '', filename };
    }
  }
}

export function setContent(items: readonly Item[], key: string, content: Content): Item[] {
  return items.map((item) => (item.key === key ? { ...item, content } : item));
}

/**
 * Adds what the server sent, before what its chat has after it. Messages that have not left this page yet stay below
 * it: the server will store them later, and the order on the screen has to be the order a reload shows.
 */
export function addIncoming(items: readonly Item[], item: Item): Item[] {
  if (items.some((known) => isSame(known, item))) return [...items];
  let end = items.length;
  while (end > 0 && isWaiting(items[end - 1])) end -= 1;
  const { place } = item;
  const later = place ? items.slice(0, end).findIndex((known) => isAfter(known, place)) : -1;
  if (later >= 0) end = later;
  return [...items.slice(0, end), item, ...items.slice(end)];
}

/**
 * Whether the chat has messages before `item` that are not in `items`: what the visitor writes on another device is sent
 * to nobody, and only the numbers tell of it.
 */
export function leavesGap(items: readonly Item[], item: Item): boolean {
  const { place } = item;
  if (!place) return false;
  let last = 0;
  let unnumbered = 0;
  for (const known of items) {
    if (known.place?.chatId === place.chatId) {
      last = Math.max(last, known.place.seq);
      unnumbered = 0;
    } else if (known.direction === 'in' && known.place === null && !isWaiting(known)) unnumbered += 1;
  }
  return place.seq - last - 1 > unnumbered;
}

function isWaiting(item: Item | undefined): boolean {
  return item !== undefined && item.id === null && (item.delivery === 'queued' || item.delivery === 'failed');
}

export function addLocal(items: readonly Item[], item: Item): Item[] {
  return items.some((known) => known.key === item.key) ? [...items] : [...items, item];
}

/** `older` is a page of the history, newest first. */
export function prependHistory(items: readonly Item[], older: readonly Item[]): Item[] {
  const fresh = older.filter((item) => !items.some((known) => isSame(known, item)));
  return [...fresh.reverse(), ...items];
}

/**
 * Brings what is shown into the order of the history (`page`, newest first). Whether a message whose ack
 * was lost stands before or after what arrived since, only the server knows.
 */
export function mergeHistory(items: readonly Item[], page: readonly Item[]): Item[] {
  const shown = new Map(items.flatMap((item) => (item.id ? [[item.id, item] as const] : [])));
  const paged = new Set(page.map((item) => item.id));
  const start = items.findIndex((item) => paged.has(item.id));
  if (start < 0) return [...items];
  const ordered = [...page].reverse().map((item) => {
    const known = shown.get(item.id ?? '');
    return known ? { ...known, place: item.place } : item;
  });
  const after = items.slice(start).filter((item) => !paged.has(item.id));
  return [...items.slice(0, start), ...ordered, ...after];
}

/**
 * Returns the part of the newest page of a history that has reached the visitor: the flow may wait between messages that
 * it has said already, and the socket brings each in its time.
 */
export function arrived(items: readonly Item[], page: readonly Item[]): Item[] {
  const shown = new Set(items.map((item) => item.id));
  const latest = page.findIndex((item) => item.direction === 'out' && shown.has(item.id));
  return page.filter((item, at) => item.direction === 'in' || (latest >= 0 && at >= latest));
}

export function setDelivery(
  items: readonly Item[],
  key: string,
  delivery: Delivery,
  error: string | null = null,
): Item[] {
  return items.map((item) => (item.key === key ? { ...item, delivery, error } : item));
}

/**
 * The ack may answer a repetition of a message which the history already shows (the page was reloaded
 * between sending and the ack): then the local copy goes away.
 */
export function confirm(items: readonly Item[], key: string, id: string): Item[] {
  if (items.some((item) => item.id === id && item.key !== key)) return without(items, key);
  return items.map((item) => (item.key === key ? { ...item, id, delivery: 'sent', error: null } : item));
}

export function without(items: readonly Item[], key: string): Item[] {
  return items.filter((item) => item.key !== key);
}

export function moveToEnd(items: readonly Item[], key: string): Item[] {
  const moved = items.find((item) => item.key === key);
  return moved ? [...items.filter((item) => item.key !== key), moved] : [...items];
}

/**
 * Whether the options of the item at `index` may still be chosen. A text written instead does not close
 * them: a flow that asks again after a wrong answer does not repeat them, and without them nobody gets on.
 */
export function isOpen(items: readonly Item[], index: number): boolean {
  for (let at = index + 1; at < items.length; at += 1) if (closesOptions(items[at])) return false;
  return true;
}

function closesOptions(item: Item | undefined): boolean {
  const kind = item?.content.kind;
  if (item?.direction === 'in') return kind === 'choice' && item.delivery !== 'failed';
  return kind === 'buttons' || kind === 'list';
}

/** The index of the newest message of one side: before that of the service everything has been read. -1 without one. */
export function lastOf(direction: Item['direction'], items: readonly Item[]): number {
  for (let at = items.length - 1; at >= 0; at -= 1) if (items[at]?.direction === direction) return at;
  return -1;
}

/**
 * Where a replay has to start. A message of the service is preferred: what follows it in the server's
 * order cannot have been seen yet, whereas a visitor's message may have been stored after one still on its way.
 */
export function lastKnownId(items: readonly Item[]): string | null {
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.id && item.direction === 'out') return item.id;
  }
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const id = items[at]?.id;
    if (id) return id;
  }
  return null;
}
