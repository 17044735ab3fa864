import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast, legible, parseColour, readableOn, toHex } from '../src/colour.ts';
import { lookOf } from '../src/look.ts';

test('only hexadecimal colours are taken', () => {
  assert.deepEqual(parseColour('#fff'), [255, 255, 255]);
  assert.deepEqual(parseColour('#6D28d9'), [109, 40, 217]);
  for (const bad of ['red', '#ffff', '#12345g', 'url(x)', '#fff;--x:1', '', ' #fff', null, 5, {}]) {
    assert.equal(parseColour(bad), null);
  }
  assert.equal(toHex([1, 16, 255]), '#0110ff');
});

test('whatever the brand colour, what is written with or on it can be read', () => {
  for (const primaryColor of ['#000', '#fff', '#ff0', '#6d28d9', '#808080', '#22c55e', '#f97316', '#7a7a7a']) {
    for (const dark of [false, true]) {
      const look = lookOf({ primaryColor }, dark);
      const brand = parseColour(look['--brand']);
      const on = parseColour(look['--on-brand']);
      const text = parseColour(look['--brand-text']);
      assert.ok(brand && on && text);
      assert.ok(contrast(brand, on) >= 4.5, `${primaryColor} ${contrast(brand, on)}`);
      assert.ok(contrast(text, dark ? [30, 35, 46] : [255, 255, 255]) >= 4.5, primaryColor);
    }
  }
});

test('backgrounds', () => {
  const look = lookOf({ backgroundColor: '#fff7ed' }, false);
  const [bg, on] = [parseColour(look['--bg']), parseColour(look['--on-bg'])];
  assert.ok(bg && on && contrast(bg, on) >= 4.5);
  assert.equal(lookOf({ backgroundColor: '#fff7ed' }, true)['--bg'], undefined);
  assert.equal(lookOf({ backgroundColor: '#101010' }, true)['--bg'], '#101010');
  assert.deepEqual(lookOf(null, false), {});
  assert.deepEqual(readableOn([255, 255, 255]), [16, 20, 30]);
  assert.deepEqual(legible([0, 0, 0], [255, 255, 255]), [0, 0, 0]);
});

test('letters and corners', () => {
  assert.match(lookOf({ font: 'serif', radius: 4 }, false)['--font'] ?? '', /Georgia/);
  assert.equal(lookOf({ radius: 4 }, false)['--radius'], '4px');
  assert.equal(lookOf({ radius: 400 }, false)['--radius'], '28px');
  for (const odd of [{ font: 'Comic; x', radius: -1 }, { font: 'system', radius: '4' }] as object[]) {
    assert.deepEqual(lookOf(odd, false), {});
  }
});
