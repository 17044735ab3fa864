import { baseOf } from './base.ts';
import type { Credentials, HistoryPage } from './protocol.ts';

const TIMEOUT_MS = 8000;

/** The headers by which the server knows a visitor; `null` of one whom it does not know yet. */
export function credentialHeaders(who: Credentials): Record<string, string> | null {
  const headers: Record<string, string> = { 'x-channel-id': who.channelId };
  if (who.token) headers['authorization'] = `Bearer ${who.token}`;
  else if (who.identity) {
    headers['x-user-id'] = who.identity.userId;
    headers['x-session-key'] = who.identity.sessionKey;
  } else return null;
  return headers;
}

/** `null` when there is no history to be had: the chat goes on without it. */
export async function fetchHistory(who: Credentials, cursor: string | null): Promise<HistoryPage | null> {
  const headers = credentialHeaders(who);
  if (!headers) return null;
  const query = new URLSearchParams({ limit: '50' });
  if (cursor) query.set('cursor', cursor);
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(`${baseOf(window.location.pathname)}/webchat/history?${query}`, {
      headers,
      cache: 'no-store',
      credentials: 'omit',
      signal: abort.signal,
    });
    if (!response.ok) return null;
    const page = (await response.json()) as Partial<HistoryPage>;
    if (!Array.isArray(page.items)) return null;
    return {
      items: page.items.filter((item) => typeof item?.id === 'string' && typeof item.type === 'string'),
      nextCursor: typeof page.nextCursor === 'string' ? page.nextCursor : null,
    };
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
