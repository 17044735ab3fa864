import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordedType } from '../src/voice.ts';

test('a voice message has the first form that the browser records', () => {
  const supports = (...types: string[]) => recordedType((type) => types.includes(type));
  assert.deepEqual(supports('audio/webm;codecs=opus', 'audio/mp4'), ['audio/mp4', 'm4a']);
  assert.deepEqual(supports('audio/ogg;codecs=opus', 'audio/mp4;codecs=opus'), ['audio/ogg;codecs=opus', 'ogg']);
  assert.equal(supports('video/webm'), undefined);
});
