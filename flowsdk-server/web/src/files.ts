import { baseOf } from './base.ts';
import { credentialHeaders } from './history.ts';
import type { Attachments, Credentials, MediaKind, Uploaded } from './protocol.ts';

/** A large file over a slow line. */
const TIMEOUT_MS = 300_000;
const KINDS: readonly MediaKind[] = ['image', 'audio', 'video', 'document'];

/** Reads what a server says of attachments: whatever does not fit is none. */
export function readAttachments(value: unknown): Attachments | null {
  const given = (typeof value === 'object' && value !== null ? value : {}) as Partial<Record<string, unknown>>;
  const kinds = Array.isArray(given['kinds']) ? KINDS.filter((kind) => (given['kinds'] as unknown[]).includes(kind)) : [];
  const most = given['maxBytes'];
  return kinds.length > 0 && typeof most === 'number' ? { kinds, maxBytes: most } : null;
}

/** Returns the `accept` of a field for files. */
export function acceptOf(attachments: Attachments): string {
  if (attachments.kinds.includes('document')) return '';
  return attachments.kinds.map((kind) => `${kind}/*`).join(',');
}

/** Returns what a file looks like until the server has said what it is. */
export function kindOf(type: string): MediaKind {
  const kind = KINDS.find((one) => type.startsWith(`${one}/`));
  return kind ?? 'document';
}

/** Returns the file as the server has it, or the code of its refusal. */
export async function upload(who: Credentials, file: File): Promise<Uploaded | string> {
  const headers = credentialHeaders(who);
  if (!headers) return 'unavailable';
  if (file.type) headers['content-type'] = file.type;
  const query = new URLSearchParams({ filename: file.name });
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
  try {
    const response = await fetch(`${baseOf(window.location.pathname)}/webchat/media?${query}`, {
      method: 'POST',
      headers,
      body: file,
      credentials: 'omit',
      signal: abort.signal,
    });
    const answer = (await response.json()) as Partial<Uploaded> & { code?: string };
    if (!response.ok || !answer.id || !answer.kind || !answer.link) return answer.code ?? 'unavailable';
    return { id: answer.id, kind: answer.kind, filename: answer.filename ?? file.name, link: answer.link };
  } catch {
    return 'unavailable';
  } finally {
    clearTimeout(timer);
  }
}
