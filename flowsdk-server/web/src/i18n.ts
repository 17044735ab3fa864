import { pickLanguage, spoken, type Language } from './languages.ts';
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';
import { es } from './texts/es.ts';
import { fr } from './texts/fr.ts';
import { pt, type Texts } from './texts/pt.ts';

const TEXTS: Record<Language, Texts> = { 'pt-BR': pt, en, es, fr, de };

/** The texts of the page, in the language it speaks now. */
export let t: Texts = en;
export let language: Language = 'en';
/** For dates and times: the visitor's own variant of the language (11/12 is not the same day everywhere). */
export let locale = 'en';
/** Formats the time of a message. Every message has one, and a formatter is dear to make. */
export let clock = clockOf(locale);

/** Lets the page speak the first of `wished` that it knows, or the visitor's where it knows none of them. */
export function speak(wished: readonly unknown[], preferred: readonly string[]): void {
  const known = wished.map((tag) => (typeof tag === 'string' ? spoken(tag) : undefined)).find((one) => one !== undefined);
  language = known ?? pickLanguage(preferred);
  t = TEXTS[language];
  const variant = preferred.find((tag) => spoken(tag) === language) ?? language;
  if (variant !== locale) {
    locale = variant;
    clock = clockOf(locale);
  }
}

function clockOf(tag: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(tag, { timeStyle: 'short' });
}
