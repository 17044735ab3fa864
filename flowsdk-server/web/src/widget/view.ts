import { parseColour, readableOn, toHex } from '../colour.ts';
import type { Options } from './options.ts';
import type { TEXTS } from './texts.ts';

/** The style sheet, made smaller by the build. */
declare const WIDGET_CSS: string;

const CHAT_PATH = 'M20 12a8 8 0 0 1-11.6 7.1L4 20l1-4.2A8 8 0 1 1 20 12z';
const DOWN_PATH = 'M6 9.5l6 6 6-6';
const CLOSE_PATH = 'M7 7l10 10M17 7 7 17';
const SVG = 'http://www.w3.org/2000/svg';
const MOST_SHOWN = 9;

export interface Look {
  options: Options;
  /** Of the texts, as a tag. */
  language: string;
  texts: (typeof TEXTS)['en'];
  open: boolean;
  unread: number;
  greets: boolean;
}

export interface Actions {
  toggle(): void;
  close(): void;
  dismiss(): void;
}

/**
 * What the widget draws. It lives in a shadow root with a style sheet made by script, and sets styles and attributes
 * one by one: a page whose policy forbids inline styles and markup from strings can have it.
 */
export class View {
  readonly host = document.createElement('div');
  #root = this.host.attachShadow({ mode: 'open' });
  #launcher = element('button', 'launcher');
  #badge = element('span', 'badge');
  #greeting = element('div', 'greeting');
  #greetingText = element('button', 'greeting-text');
  #dismiss = element('button', 'dismiss');
  #panel = element('div', 'panel');
  #status = element('div', 'status');

  constructor(actions: Actions) {
    style(this.#root);
    this.#launcher.append(icon('chat', CHAT_PATH), icon('down', DOWN_PATH), this.#badge);
    this.#launcher.setAttribute('aria-controls', (this.#panel.id = 'panel'));
    this.#badge.setAttribute('aria-hidden', 'true');
    this.#dismiss.append(icon('cross', CLOSE_PATH));
    this.#greeting.append(this.#greetingText, this.#dismiss);
    this.#panel.setAttribute('role', 'dialog');
    this.#status.setAttribute('role', 'status');
    this.#root.append(this.#launcher, this.#greeting, this.#edge(), this.#panel, this.#edge(), this.#status);
    this.#launcher.addEventListener('click', actions.toggle);
    this.#greetingText.addEventListener('click', actions.toggle);
    this.#dismiss.addEventListener('click', actions.dismiss);
    this.#root.addEventListener('keydown', (event) => {
      if ((event as KeyboardEvent).key === 'Escape') actions.close();
    });
  }

  /** Keeps the focus in a chat that covers the page: behind it nobody would see the focus. */
  #edge(): HTMLElement {
    const edge = element('span', 'edge');
    edge.tabIndex = 0;
    edge.addEventListener('focus', () => this.#panel.querySelector('iframe')?.focus());
    return edge;
  }

  get hasFocus(): boolean {
    return document.activeElement === this.host;
  }

  focusLauncher(): void {
    this.#launcher.focus();
  }

  put(frame: HTMLIFrameElement): void {
    this.#panel.replaceChildren(frame);
  }

  draw({ options, language, texts, open, unread, greets }: Look): void {
    const brand = parseColour(options.color);
    if (brand) {
      this.host.style.setProperty('--brand', toHex(brand));
      this.host.style.setProperty('--on-brand', toHex(readableOn(brand)));
    }
    this.host.lang = language;
    this.host.className = [options.position, open ? 'open' : '', greets ? 'greets' : ''].join(' ').trim();
    const news = unread > 0 ? texts.unread(unread) : '';
    const label = open ? texts.close : options.label || texts.open;
    this.#launcher.setAttribute('aria-expanded', String(open));
    this.#launcher.setAttribute('aria-label', news ? `${label} (${news})` : label);
    this.#launcher.title = label;
    this.#badge.textContent = unread > MOST_SHOWN ? `${MOST_SHOWN}+` : String(unread || '');
    if (this.#status.textContent !== news) this.#status.textContent = news;
    this.#greetingText.textContent = options.greeting;
    this.#dismiss.setAttribute('aria-label', texts.dismiss);
    this.#panel.setAttribute('aria-label', texts.chat);
  }
}

function element<Tag extends 'button' | 'div' | 'span'>(tag: Tag, name: string): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  made.className = name;
  if (made instanceof HTMLButtonElement) made.type = 'button';
  return made;
}

function icon(name: string, path: string): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', name);
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  const line = document.createElementNS(SVG, 'path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

function style(root: ShadowRoot): void {
  if ('adoptedStyleSheets' in root) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(WIDGET_CSS);
    root.adoptedStyleSheets = [sheet];
    return;
  }
  // Browsers of before 2023, where the page's policy allows it.
  const fallback = document.createElement('style');
  fallback.textContent = WIDGET_CSS;
  (root as ShadowRoot).append(fallback);
}
