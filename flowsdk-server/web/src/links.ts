/** A piece of text, with an address if it is a link. */
export type Piece = { text: string; href?: string };

/**
 * Addresses of the web and of mail, and telephone numbers that are told by their form: with the code of a country, or with
 * an area code in brackets. Repetitions that can be tried anew are bounded, so that a text costs what its length costs.
 */
const FOUND = new RegExp(
  [
    /(?<web>https?:\/\/[^\s<>"'`]+)/,
    /(?<mail>[a-z0-9][\w.%+-]{0,63}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,8})/,
    /(?<phone>(?:\+\d[\d ().-]{6,20}|\(\d{2,4}\) ?\d{3,5}[ -]?)\d{1,4})/,
  ]
    .map((one) => one.source)
    .join('|'),
  'gi',
);
const FEWEST_DIGITS = 8;
const MOST_DIGITS = 15;

/** Finds the links of a text. The pieces together are the text. */
export function findLinks(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(FOUND)) {
    const link = linkOf(match, text);
    if (!link) continue;
    if (match.index > from) pieces.push({ text: text.slice(from, match.index) });
    pieces.push(link);
    from = match.index + link.text.length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function linkOf(match: RegExpExecArray, text: string): Piece | null {
  const { web, mail } = match.groups ?? {};
  if (web) {
    const found = trimEnd(web);
    const href = webAddress(found);
    return href ? { text: found, href } : null;
  }
  const found = match[0];
  // In the middle of a longer word it is part of something else.
  if (isWord(text[match.index - 1]) || isWord(text[match.index + found.length])) return null;
  if (mail) return { text: found, href: `mailto:${encodeURIComponent(found).replace('%40', '@')}` };
  const digits = found.replace(/\D/g, '');
  if (digits.length < FEWEST_DIGITS || digits.length > MOST_DIGITS) return null;
  return { text: found, href: `tel:${found.startsWith('+') ? '+' : ''}${digits}` };
}

function isWord(sign: string | undefined): boolean {
  return sign !== undefined && /[\p{L}\p{N}+@]/u.test(sign);
}

/** Cuts punctuation that closes the sentence and not the address; a closing bracket stays when it was opened inside. */
function trimEnd(found: string): string {
  const surplus = {
    ')': count(found, ')') - count(found, '('),
    ']': count(found, ']') - count(found, '['),
  };
  let end = found.length;
  for (; end > 0; end -= 1) {
    const last = found[end - 1] ?? '';
    if (last === ')' || last === ']') {
      if (surplus[last] <= 0) break;
      surplus[last] -= 1;
    } else if (!'.,;:!?*_~'.includes(last)) break;
  }
  return found.slice(0, end);
}

function count(text: string, sign: string): number {
  return text.split(sign).length - 1;
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
