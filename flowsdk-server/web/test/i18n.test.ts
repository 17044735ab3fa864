import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clock, language, locale, speak, t } from '../src/i18n.ts';
import { pickLanguage } from '../src/languages.ts';
import { de } from '../src/texts/de.ts';
import { en } from '../src/texts/en.ts';
import { es } from '../src/texts/es.ts';
import { fr } from '../src/texts/fr.ts';
import { pt } from '../src/texts/pt.ts';

test('the first language that the page speaks, else English', () => {
  for (const [preferred, expected] of [
    [['pt-PT'], 'pt-BR'],
    [['en-GB', 'pt-BR'], 'en'],
    [['it', 'fr-CA', 'de'], 'fr'],
    [['es-419'], 'es'],
    [['DE'], 'de'],
    [['ja'], 'en'],
    [[], 'en'],
  ] as [string[], string][]) {
    assert.equal(pickLanguage(preferred), expected, preferred.join());
  }
});

test('the language of the channel wins, in the variant of the visitor', () => {
  speak(['es'], ['pt-BR', 'es-MX']);
  assert.deepEqual([language, locale, t.send], ['es', 'es-MX', es.send]);
  assert.equal(clock.resolvedOptions().locale, 'es-MX');
  speak(['fr'], ['pt-BR']);
  assert.deepEqual([language, locale, t.send], ['fr', 'fr', fr.send]);
  for (const unusable of [undefined, 'xx', 7, '']) {
    speak([unusable], ['de-AT']);
    assert.deepEqual([language, locale, t.send], ['de', 'de-AT', de.send]);
  }
});

test('the language that the page around asks for wins', () => {
  for (const [wished, expected] of [
    [['fr', 'es'], 'fr'],
    [['xx', 'es'], 'es'],
    [[null, 'es'], 'es'],
    [['xx', undefined], 'de'],
  ] as const) {
    speak(wished, ['de-AT']);
    assert.equal(language, expected, wished.join());
  }
});

test('times are written as the visitor writes them', () => {
  const at = new Date(2026, 0, 2, 1, 24).getTime();
  for (const [tag, expected] of [
    ['en-US', '1:24 AM'],
    ['en-GB', '01:24'],
    ['pt-BR', '01:24'],
    ['de-AT', '01:24'],
  ] as const) {
    speak([], [tag]);
    assert.equal(clock.format(at).replace(/\s/g, ' '), expected, tag);
  }
});

test('every language has all texts, and no text twice from another', () => {
  for (const texts of [en, es, fr, de]) {
    for (const [name, text] of Object.entries(texts)) {
      const shown = typeof text === 'string' ? text : (text as (of: never) => string)('3' as never);
      assert.ok(shown.trim(), name);
    }
    assert.notEqual(texts.welcome, pt.welcome);
  }
});
