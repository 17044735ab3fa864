import type { Language } from './languages.ts';
import type { Appearance } from './protocol.ts';

const NAMES = ['title', 'subtitle', 'placeholder', 'welcomeText'] as const;

/** The customer's own texts, those of the page's language first. Empty where there is none. */
export function wordingOf(appearance: Appearance | null, language: Language): Record<(typeof NAMES)[number], string> {
  const own = appearance?.texts?.[language];
  const first = (name: (typeof NAMES)[number]) =>
    [own?.[name], appearance?.[name]].find((text) => typeof text === 'string' && text !== '') ?? '';
  return {
    title: first('title'),
    subtitle: first('subtitle'),
    placeholder: first('placeholder'),
    welcomeText: first('welcomeText'),
  };
}
