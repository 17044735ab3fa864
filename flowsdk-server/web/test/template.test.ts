import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTemplate } from '../src/phone/template.ts';

test('a template has a header, a text, a footer and buttons', () => {
  const buttons = [
    { type: 'quick_reply', text: 'Yes', payload: 'y' },
    { type: 'url', text: 'Track', url: 'https://a.example/7' },
    { type: 'phone_number', text: 'Call', phone_number: '+15550100' },
    { type: 'copy_code', text: 'Copy', code: '25OFF' },
    { type: 'flow', text: 'Fill in', parameters: { flow_token: 't' } },
    { type: 'catalog', text: 'Catalogue' },
    { type: 'quick_reply' },
    null,
  ];
  const place = { latitude: 1, longitude: 2, name: 'Shop' };
  assert.deepEqual(readTemplate({ header: { type: 'location', location: place }, body: 'B', footer: 'F', buttons }), {
    kind: 'template',
    header: { place: { ...place, address: '' } },
    text: 'B',
    footer: 'F',
    actions: [
      { kind: 'reply', label: 'Yes' },
      { kind: 'link', label: 'Track', href: 'https://a.example/7' },
      { kind: 'call', label: 'Call', number: '+15550100' },
      { kind: 'copy', label: 'Copy', code: '25OFF' },
      { kind: 'form', label: 'Fill in', parameters: { flow_token: 't' } },
      { kind: 'other', label: 'Catalogue' },
    ],
  });
  assert.deepEqual(readTemplate({ header: null }), { kind: 'template', header: null, text: '', footer: '', actions: [] });
});
