import { findLinks } from './links.ts';

/** A text with its formatting as a tree, which is drawn node by node: no text ever becomes markup of the page. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'link'; text: string; href: string }
  | { kind: 'code'; text: string }
  | { kind: Emphasis; children: Inline[] };

export type Block =
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'list'; first: number | null; items: Inline[][] };

type Emphasis = 'bold' | 'italic' | 'strike';

const SIGNS: Readonly<Record<string, Emphasis>> = { '***': 'bold', '**': 'bold', '*': 'bold', _: 'italic', '~': 'strike' };
const SIGN = /\*{1,3}|[_~]/g;
const CODE = /`([^`\n]+)`/g;
const BULLET = /^ {0,3}- +(?=\S)/;
const NUMBER = /^ {0,3}(\d{1,9})\. +(?=\S)/;

/** Reads the formatting of a service's text: lists line by line, the rest within lines. */
export function parseMarkup(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  const closeParagraph = () => {
    // Blank lines beside a list are the list's own distance.
    const body = lines.join('\n').replace(/^\n+|\n+$/g, '');
    if (body !== '') blocks.push({ kind: 'paragraph', children: body.split('\n').flatMap(lineOf) });
    lines = [];
  };
  for (const line of text.split('\n')) {
    const number = NUMBER.exec(line);
    const start = number ?? BULLET.exec(line);
    if (!start) {
      lines.push(line);
      continue;
    }
    closeParagraph();
    const item = parseLine(line.slice(start[0].length));
    const last = blocks.at(-1);
    if (last?.kind === 'list' && (last.first === null) === (number === null)) last.items.push(item);
    else blocks.push({ kind: 'list', first: number ? Number(number[1]) : null, items: [item] });
  }
  closeParagraph();
  return blocks;
}

function lineOf(line: string, at: number): Inline[] {
  const parts = parseLine(line);
  return at === 0 ? parts : [{ kind: 'text', text: '\n' }, ...parts];
}

/** The links of a text that is otherwise shown as it was typed. */
export function linksOf(text: string): Inline[] {
  return findLinks(text).map(({ text, href }) => (href ? { kind: 'link', text, href } : { kind: 'text', text }));
}

/** The text of a tree, without its formatting. */
export function plainOf(blocks: readonly Block[]): string {
  return blocks.map(plainBlock).join('\n');
}

function plainBlock(block: Block): string {
  if (block.kind === 'paragraph') return plainInline(block.children);
  const { first, items } = block;
  return items.map((item, at) => `${first === null ? '-' : `${first + at}.`} ${plainInline(item)}`).join('\n');
}

function plainInline(parts: readonly Inline[]): string {
  return parts.map((part) => ('children' in part ? plainInline(part.children) : part.text)).join('');
}

/** Code first, in which nothing is formatted; then links, in which signs are part of the address; then the signs. */
function parseLine(line: string): Inline[] {
  const emphasis = new Emphases();
  let from = 0;
  for (const match of line.matchAll(CODE)) {
    addText(emphasis, line, from, match.index);
    emphasis.add({ kind: 'code', text: match[1] ?? '' });
    from = match.index + match[0].length;
  }
  addText(emphasis, line, from, line.length);
  return emphasis.end();
}

function addText(emphasis: Emphases, line: string, from: number, to: number): void {
  let at = from;
  for (const part of linksOf(line.slice(from, to))) {
    if (part.kind === 'link') emphasis.add(part);
    else if (part.kind === 'text') addSigns(emphasis, line, at, at + part.text.length);
    at += 'text' in part ? part.text.length : 0;
  }
}

function addSigns(emphasis: Emphases, line: string, from: number, to: number): void {
  let at = from;
  for (const match of line.slice(from, to).matchAll(SIGN)) {
    const begin = from + match.index;
    const sign = match[0];
    if (begin > at) emphasis.add({ kind: 'text', text: line.slice(at, begin) });
    emphasis.sign(sign, line[begin - 1], line[begin + sign.length]);
    at = begin + sign.length;
  }
  if (to > at) emphasis.add({ kind: 'text', text: line.slice(at, to) });
}

interface Open {
  sign: string;
  children: Inline[];
}

/** Matches signs of emphasis. Each is open at most once, so that the depth is bounded and a line costs what its length costs. */
class Emphases {
  #open: Open[] = [{ sign: '', children: [] }];

  add(part: Inline): void {
    this.#top.children.push(part);
  }

  /** A sign counts at the edge of a word: `2*3*4` and `snake_case` stay as they are. */
  sign(sign: string, before: string | undefined, after: string | undefined): void {
    const at = this.#open.findIndex((one) => one.sign === sign);
    const closes = at > 0 && !isBlank(before) && !isWord(after) && !isEmpty(this.#open.slice(at));
    if (closes) {
      while (this.#open.length > at + 1) this.#putBack();
      const { children } = this.#open.pop() as Open;
      this.add({ kind: SIGNS[sign] as Emphasis, children });
    } else if (at < 0 && !isWord(before) && !isBlank(after) && !sign.includes(after ?? '')) {
      this.#open.push({ sign, children: [] });
    } else this.add({ kind: 'text', text: sign });
  }

  end(): Inline[] {
    while (this.#open.length > 1) this.#putBack();
    return merged(this.#top.children);
  }

  get #top(): Open {
    return this.#open.at(-1) as Open;
  }

  /** Nothing closed it: it was a sign like any other. */
  #putBack(): void {
    const { sign, children } = this.#open.pop() as Open;
    this.#top.children.push({ kind: 'text', text: sign });
    for (const child of children) this.#top.children.push(child);
  }
}

function isEmpty(open: readonly Open[]): boolean {
  return open.every(({ children }) => children.length === 0);
}

function isBlank(sign: string | undefined): boolean {
  return sign === undefined || /\s/.test(sign);
}

function isWord(sign: string | undefined): boolean {
  return sign !== undefined && /[\p{L}\p{N}]/u.test(sign);
}

/** Neighbouring texts as one. */
function merged(parts: readonly Inline[]): Inline[] {
  const result: Inline[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.kind === 'text' && last?.kind === 'text') result[result.length - 1] = { kind: 'text', text: last.text + part.text };
    else result.push('children' in part ? { ...part, children: merged(part.children) } : part);
  }
  return result;
}
