export const LANGUAGES = ['pt-BR', 'en', 'es', 'fr', 'de'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The language of the page for a tag such as `es-MX`. */
export function spoken(tag: string): Language | undefined {
  const base = baseOf(tag);
  return LANGUAGES.find((known) => baseOf(known) === base);
}

/** The first of the visitor's languages that the page speaks; English where it speaks none of them. */
export function pickLanguage(preferred: readonly string[]): Language {
  return preferred.map(spoken).find((known) => known !== undefined) ?? 'en';
}

function baseOf(tag: string): string {
  return tag.toLowerCase().split('-')[0] ?? '';
}
