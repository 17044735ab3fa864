export type Piece = { text: string; href?: string };

const URL_LIKE = /https?:\/\/[^\s<>"'`]+/gi;

/** Punctuation that closes the sentence and not the address; a closing bracket stays when it was opened inside. */
function trimEnd(found: string): string {
  let url = found;
  for (;;) {
    const last = url.at(-1) ?? '';
    if ('.,;:!?*_~'.includes(last)) url = url.slice(0, -1);
    else if (last === ')' && count(url, '(') < count(url, ')')) url = url.slice(0, -1);
    else if (last === ']' && count(url, '[') < count(url, ']')) url = url.slice(0, -1);
    else return url;
    if (url === '') return url;
  }
}

function count(text: string, sign: string): number {
  return text.split(sign).length - 1;
}

export function linkify(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(URL_LIKE)) {
    const found = trimEnd(match[0]);
    const href = webAddress(found);
    if (!href) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    pieces.push({ text: found, href });
    from = match.index + found.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

export function webAddress(value: string): string | null {
  try {
    const url = new URL(value);
    return (url.protocol === 'https:' || url.protocol === 'http:') && url.hostname ? url.href : null;
  } catch {
    return null;
  }
}

/** For what the page loads by itself (avatar, media): encrypted, or from where the page came. */
export function loadable(value: unknown, base: string): string | null {
  if (typeof value !== 'string' || value === '') return null;
  try {
    const url = new URL(value, base);
    return url.protocol === 'https:' || url.origin === new URL(base).origin ? url.href : null;
  } catch {
    return null;
  }
}
