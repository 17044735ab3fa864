import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseOf } from '../src/base.ts';

test('the base is what stands before /chat/', () => {
  for (const [path, base] of [
    ['/chat/c1', ''],
    ['/support/chat/c1', '/support'],
    ['/a/chat/b/chat/c1', '/a/chat/b'],
    ['/', ''],
  ]) {
    assert.equal(baseOf(path as string), base);
  }
});
