import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refusalsBy } from '../src/docs/refusals.ts';

const schemas = {
  Appearance: {
    type: 'object',
    properties: {
      primaryColor: { type: ['string', 'null'], pattern: '^#[0-9a-f]{3}$', example: '#0a7' },
      radius: { type: ['integer', 'null'], minimum: 0, maximum: 28 },
      title: { type: ['string', 'null'], maxLength: 5 },
      launcher: { oneOf: [{ $ref: '#/components/schemas/Launcher' }, { type: 'null' }] },
      custom: { type: ['object', 'null'], additionalProperties: true },
    },
    additionalProperties: false,
  },
  Launcher: {
    type: 'object',
    properties: { position: { oneOf: [{ $ref: '#/components/schemas/Side' }, { type: 'null' }] } },
    additionalProperties: false,
  },
  Side: { type: 'string', enum: ['left', 'right'] },
};

test('what a channel refuses is said with what it takes instead', () => {
  const refusals = refusalsBy({ schemas });
  const all = 'primaryColor, radius, title, launcher, custom';
  for (const [looks, expected] of [
    [{}, []],
    [{ primaryColor: null, launcher: null, custom: { mine: 1 } }, []],
    [{ primaryColor: '#0a7', radius: 28, title: 'Shop', launcher: { position: 'left' } }, []],
    [{ colour: 'red' }, [`colour is not known; known are ${all}, which takes own keys`]],
    [{ primaryColor: 'red' }, ['primaryColor: expected a value such as #0a7']],
    [{ '': 1 }, [`"" is not known; known are ${all}, which takes own keys`]],
    [{ radius: 29 }, ['radius: expected at most 28']],
    [{ radius: -1 }, ['radius: expected at least 0']],
    [{ radius: 1.5 }, ['radius: expected a whole number']],
    [{ title: 5 }, ['title: expected a text']],
    [{ title: 'Boutique' }, ['title: expected at most 5 characters']],
    [{ launcher: 5 }, ['launcher: expected an object']],
    [{ launcher: { position: 'top' } }, ['launcher.position: expected left or right']],
    [{ launcher: { side: 'left' } }, ['launcher.side is not known; known are position']],
    [{ position: 'left' }, ['position: position belongs into launcher']],
    [{ launcher: { title: 'Shop' } }, ['launcher.title: title belongs into appearance']],
    [{ radius: 99, launcher: { position: 1 } }, ['radius: expected at most 28', 'launcher.position: expected left or right']],
    [[], ['appearance: expected an object']],
  ] as const) {
    assert.deepEqual(refusals(looks), expected, JSON.stringify(looks));
  }
});
