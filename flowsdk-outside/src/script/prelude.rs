//! The code that runs in a context before the script.

/// Takes `(seed, now)`: chance and time become those of the turn, so that a repetition returns the same. Functions
/// that only harm the script itself are removed. Returns the functions that the engine calls itself.
pub(super) const PRELUDE: &str = r"(function (seed, now) {
  'use strict';
  let state = seed >>> 0;
  Math.random = function random() {
    state = (state + 0x6D2B79F5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const Real = Date;
  function Fixed(...parts) {
    if (!new.target) return new Real(now).toString();
    return Reflect.construct(Real, parts.length ? parts : [now], new.target);
  }
  Fixed.prototype = Real.prototype;
  Fixed.prototype.constructor = Fixed;
  Fixed.now = () => now;
  Fixed.UTC = Real.UTC;
  Fixed.parse = Real.parse;
  globalThis.Date = Fixed;
  for (const name of ['performance', 'queueMicrotask', 'Atomics', 'SharedArrayBuffer', 'WeakRef', 'FinalizationRegistry', 'gc'])
    delete globalThis[name];
  const textOf = Function.prototype.call.bind(Function.prototype.toString);
  return {
    stringify: JSON.stringify,
    isWhole: (value, text) => typeof value === 'function' && textOf(value) === text,
    // Whether it runs as it is. It is parsed only: its first statement throws.
    isScript: script => {
      try {
        eval('throw null;' + script);
      } catch (error) {
        return error === null;
      }
    },
  };
})";
