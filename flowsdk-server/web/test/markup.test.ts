import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linksOf, parseMarkup, plainOf, type Block, type Inline } from '../src/markup.ts';

/** Short enough to compare: <b>, <i>, <s>, <c> and <a>, with lists in brackets. */
function draw(blocks: readonly Block[]): string {
  const inline = (parts: readonly Inline[]): string =>
    parts
      .map((part) => {
        if (part.kind === 'text') return part.text;
        if (part.kind === 'code') return `<c>${part.text}</c>`;
        if (part.kind === 'link') return `<a>${part.text}</a>`;
        const tag = part.kind[0];
        return `<${tag}>${inline(part.children)}</${tag}>`;
      })
      .join('');
  return blocks
    .map((block) => {
      if (block.kind === 'paragraph') return inline(block.children);
      return `[${block.first ?? '-'} ${block.items.map(inline).join(' | ')}]`;
    })
    .join(' / ');
}

test('signs at the edges of words, within a line', () => {
  for (const [text, expected] of [
    ['*bold* and **bold**', '<b>bold</b> and <b>bold</b>'],
    ['_italic_, ~gone~.', '<i>italic</i>, <s>gone</s>.'],
    ['*_both_* (_*both*_)', '<b><i>both</i></b> (<i><b>both</b></i>)'],
    ['***all***', '<b>all</b>'],
    ['`*code* _x_` *b*', '<c>*code* _x_</c> <b>b</b>'],
    ['*a `b` c*', '<b>a <c>b</c> c</b>'],
    ['2*3*4 and snake_case_name', '2*3*4 and snake_case_name'],
    ['a * b * c', 'a * b * c'],
    ['*open', '*open'],
    ['*a _b* c_', '<b>a _b</b> c_'],
    ['* *', '* *'],
    ['**', '**'],
    ['****', '****'],
    ['________', '________'],
    ['¡*olá*!', '¡<b>olá</b>!'],
    ['*ação*ção*', '<b>ação*ção</b>'],
    ['*one\ntwo*', '*one\ntwo*'],
    ['``', '``'],
    ['`a', '`a'],
    ['<b>no</b> &amp; [x](javascript:1)', '<b>no</b> &amp; [x](javascript:1)'],
    ['*https://a.example/x_y_z*', '<b><a>https://a.example/x_y_z</a></b>'],
    ['see https://a.example/*b*', 'see <a>https://a.example/*b</a>*'],
    ['_me@a.example_', '<i><a>me@a.example</a></i>'],
    ['', ''],
    ['\n', ''],
    ['a\n\nb', 'a\n\nb'],
  ] as const) {
    assert.equal(draw(parseMarkup(text)), expected, JSON.stringify(text));
  }
});

test('lists, line by line', () => {
  for (const [text, expected] of [
    ['We have:\n- *tea*\n- coffee\n\nWhich?', 'We have: / [- <b>tea</b> | coffee] / Which?'],
    ['1. one\n2. two', '[1 one | two]'],
    ['3. three', '[3 three]'],
    ['- a\n1. b\n- c', '[- a] / [1 b] / [- c]'],
    ['-5 degrees', '-5 degrees'],
    ['1.5 litres', '1.5 litres'],
    ['- ', '- '],
    ['a - b', 'a - b'],
    ['- a\n\n- b', '[- a | b]'],
  ] as const) {
    assert.equal(draw(parseMarkup(text)), expected, JSON.stringify(text));
  }
});

test('a list goes on over blank lines only where nothing stands between', () => {
  assert.equal(draw(parseMarkup('- a\nx\n- b')), '[- a] / x / [- b]');
});

test('what a visitor typed stays as it is, but for links', () => {
  const text = '*a* `b`\n- c https://d.example';
  assert.deepEqual(linksOf(text), [
    { kind: 'text', text: '*a* `b`\n- c ' },
    { kind: 'link', text: 'https://d.example', href: 'https://d.example/' },
  ]);
});

test('the plain text keeps words and loses signs', () => {
  assert.equal(plainOf(parseMarkup('*Hi* `x`, see:\n3. _a_\n4. https://b.example')), 'Hi x, see:\n3. a\n4. https://b.example');
});

test('no text costs more than its length', () => {
  const size = 200_000;
  for (const unit of ['*', '_', '*a ', '*a _b ~c ', '`', '`a', '(', 'https://(', 'a@', 'a.', '+1', '+', '(11) ', '- ', '1. ', '\n', 'https://a/))))', '**a*']) {
    const text = unit.repeat(size / unit.length);
    // Time of the processor: a busy machine lets the test wait.
    const begun = process.cpuUsage();
    const blocks = parseMarkup(text);
    const { user, system } = process.cpuUsage(begun);
    const took = (user + system) / 1000;
    assert.ok(took < 2000, `${JSON.stringify(unit)}: ${took} ms`);
    assert.ok(plainOf(blocks).length <= text.length + size, unit);
  }
});
