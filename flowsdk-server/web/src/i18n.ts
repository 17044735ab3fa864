import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { pt, type Texts } from './texts/pt.ts';

const TEXTS = { 'pt-BR': pt, en, es, fr, de } satisfies Record<string, Texts>;

export type Language = keyof typeof TEXTS;

/** The texts of the page, in the language it speaks now. */
export let t: Texts = en;
export let language: Language = 'en';
/** For dates and times: the visitor's own variant of the language (11/12 is not the same day everywhere). */
export let locale = 'en';
/** Formats the time of a message. Every message has one, and a formatter is dear to make. */
export let clock = clockOf(locale);

/** The first of the visitor's languages that the page speaks; English where it speaks none of them. */
export function pickLanguage(preferred: readonly string[]): Language {
  return preferred.map(spoken).find((known) => known !== undefined) ?? 'en';
}

/** Lets the page speak the language of the channel, or the visitor's where the channel names none that it speaks. */
export function speak(ofChannel: unknown, preferred: readonly string[]): void {
  language = (typeof ofChannel === 'string' ? spoken(ofChannel) : undefined) ?? pickLanguage(preferred);
  t = TEXTS[language];
  const variant = preferred.find((tag) => spoken(tag) === language) ?? language;
  if (variant !== locale) {
    locale = variant;
    clock = clockOf(locale);
  }
}

function clockOf(tag: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(tag, { hour: '2-digit', minute: '2-digit' });
}

function spoken(tag: string): Language | undefined {
  const base = baseOf(tag);
  return (Object.keys(TEXTS) as Language[]).find((known) => baseOf(known) === base);
}

function baseOf(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}
