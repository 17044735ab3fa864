import { parseColour } from '../colour.ts';
import { pickLanguage, spoken, type Language } from '../languages.ts';
import type { Appearance } from '../protocol.ts';

export interface Options {
  position: 'left' | 'right';
  /** The background of the launcher, as `#rgb` or `#rrggbb`. */
  color: string;
  /** A text beside the launcher; none where it is empty. */
  greeting: string;
  /** A tag such as `es`; the channel's language or the visitor's where it is empty. */
  language: string;
  /** The name of the launcher for screen readers and as its tooltip. */
  label: string;
}

export const DEFAULTS: Options = { position: 'right', color: '#3558e6', greeting: '', language: '', label: '' };

/** What the widget knows of the looks of its channel. */
export type Looks = Pick<Appearance, 'launcher' | 'primaryColor' | 'language' | 'texts'>;

/** The language of the launcher: the one that the page asks for, else the channel's, else the visitor's. */
export function languageOf(options: Partial<Options>, looks: Looks): Language {
  const wished = [options.language, looks.language].map((tag) => spoken(tag ?? '')).find((one) => one !== undefined);
  return wished ?? pickLanguage(navigator.languages);
}

/** The options of the page, then the looks of the channel in this language, then the defaults. */
export function drawn(options: Partial<Options>, looks: Looks, language: Language): Options {
  const { primaryColor: color = DEFAULTS.color, launcher, texts } = looks;
  const { greeting = launcher?.greeting, label = launcher?.label } = texts?.[language] ?? {};
  const { position = DEFAULTS.position, color: own = color } = launcher ?? {};
  return { ...DEFAULTS, position, color: own, greeting: greeting ?? '', label: label ?? '', ...options };
}

/** Takes over what is usable of `given`, and names the rest to `complain`. */
export function withOptions(
  options: Partial<Options>,
  given: Readonly<Record<string, unknown>>,
  complain: (name: string, value: unknown) => void,
): Partial<Options> {
  const taken: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (isUsable(name, value)) taken[name] = value;
    else complain(name, value);
  }
  return { ...options, ...taken };
}

function isUsable(name: string, value: unknown): boolean {
  if (!Object.hasOwn(DEFAULTS, name) || typeof value !== 'string') return false;
  if (name === 'position') return value === 'left' || value === 'right';
  if (name === 'language') return value === '' || spoken(value) !== undefined;
  return name !== 'color' || parseColour(value) !== null;
}
