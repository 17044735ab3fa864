import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksEndpoint, firstScreen, questionOf, replyOf, stepOf, valueOf } from '../src/phone/forms.ts';

const FORM = { flow_id: '4711', flow_token: 'm1', flow_cta: 'Choose', flow_action: 'data_exchange' };

test('a form asks its endpoint, or shows its own screen', () => {
  assert.equal(asksEndpoint(FORM), true);
  const alone = { ...FORM, flow_action: 'navigate', flow_action_payload: { screen: 'SIZE', data: { sizes: [1] } } };
  assert.equal(asksEndpoint(alone), false);
  assert.deepEqual(firstScreen(alone), { kind: 'screen', screen: 'SIZE', data: { sizes: [1] } });
  assert.deepEqual(firstScreen({}), { kind: 'screen', screen: '', data: {} });
  assert.deepEqual(questionOf(FORM, { action: 'INIT' }), { version: '3.0', flow_token: 'm1', action: 'INIT' });
});

test('an answer is a screen, the end, or a refusal', () => {
  const answered = (answer: object | null, status = 200, refusal: unknown = null) => stepOf({ status, answer, refusal });
  assert.deepEqual(answered({ screen: 'SIZE', data: { a: 1 } }), { kind: 'screen', screen: 'SIZE', data: { a: 1 } });
  const params = { flow_token: 'm1', price: '12' };
  const ended = answered({ screen: 'SUCCESS', data: { extension_message_response: { params } } });
  assert.deepEqual(ended, { kind: 'sent', answers: params });
  assert.deepEqual(answered(null, 404, { code: 'not_found', message: 'Not found' }), { kind: 'refused', why: '404 Not found' });
  assert.deepEqual(answered(null, 502, { code: 7 }), { kind: 'refused', why: '502 {"code":7}' });
  assert.deepEqual(answered({ data: { error_msg: 'over' } }, 427), { kind: 'refused', why: '427 {"error_msg":"over"}' });
  assert.deepEqual(answered(null), { kind: 'refused', why: '200' });
});

test('a form that is filled in is a message with its token', () => {
  const { interactive } = replyOf(FORM, { price: '12' }) as { interactive: { nfm_reply: { response_json: string } } };
  assert.deepEqual(JSON.parse(interactive.nfm_reply.response_json), { flow_token: 'm1', price: '12' });
  assert.deepEqual(['12', '[1]', 'M', ''].map(valueOf), [12, [1], 'M', '']);
});
