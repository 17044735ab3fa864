import type { FormParameters } from '../protocol.ts';

type Fields = Record<string, unknown>;

/** What the endpoint of a form answered, as the simulator tells it. */
export interface Answered {
  status: number;
  answer: { screen?: string; data?: Fields } | null;
  refusal: unknown;
}

export type Question = { action: 'INIT' } | { action: 'BACK' | 'data_exchange'; screen: string; data: Fields };

/** A screen of a form, and what it is filled with. */
export interface FormScreen {
  kind: 'screen';
  screen: string;
  data: Fields;
}

/** What the phone does after an answer. */
export type Step =
  | FormScreen
  | { kind: 'sent'; answers: Fields }
  | { kind: 'refused'; why: string };

/** The version of the protocol that phones speak. */
const VERSION = '3.0';

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** Returns whether a form asks its endpoint; any other shows its screens alone. */
export function asksEndpoint(form: FormParameters): boolean {
  return form.flow_action === 'data_exchange';
}

/** Returns the screen that a form begins with which asks nobody. */
export function firstScreen(form: FormParameters): FormScreen {
  const payload = fieldsOf(form.flow_action_payload);
  return { kind: 'screen', screen: String(payload['screen'] ?? ''), data: fieldsOf(payload['data']) };
}

/** Returns the question as the endpoint reads it. */
export function questionOf(form: FormParameters, question: Question): Fields {
  return { version: VERSION, flow_token: form.flow_token, ...question };
}

/** Returns what follows from an answer. */
export function stepOf({ status, answer, refusal }: Answered): Step {
  if (status !== 200 || !answer?.screen) {
    const words = fieldsOf(refusal)['message'] ?? refusal ?? answer?.data ?? '';
    return { kind: 'refused', why: `${status} ${typeof words === 'string' ? words : JSON.stringify(words)}`.trim() };
  }
  const data = fieldsOf(answer.data);
  if (answer.screen !== 'SUCCESS') return { kind: 'screen', screen: answer.screen, data };
  const sent = fieldsOf(fieldsOf(data['extension_message_response'])['params']);
  return { kind: 'sent', answers: sent };
}

/** Returns the message of a form that was filled in. */
export function replyOf(form: FormParameters, answers: Fields): Fields {
  const response = { flow_token: form.flow_token, ...answers };
  return {
    type: 'interactive',
    interactive: {
      type: 'nfm_reply',
      nfm_reply: { name: 'flow', body: 'Sent', response_json: JSON.stringify(response) },
    },
  };
}

/** Reads what was typed for a field: JSON where it is some, such as a number or a list, otherwise a text. */
export function valueOf(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}
