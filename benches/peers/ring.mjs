// The flow of the peers: three blocks in a ring, and the session that stands in it.
import { randomBytes } from 'node:crypto';

// Ids with the time in front, which indexes like.
let made = 0;
export const nextId = () =>
  'c' + Date.now().toString(16).padStart(12, '0') + (made++ & 0xfffffff).toString(16).padStart(7, '0') + randomBytes(6).toString('hex');

const blocks = {
  b1: { text: 'Olá {{contact.name}}, você disse: {{input}}', next: 'b2' },
  b2: { text: 'Passo 2: {{lastInput}} ({{count}})', next: 'b3' },
  b3: { text: 'Fim do passo 3, {{contact.name}}: {{input}}', next: 'b1' },
};

function interpolate(text, session, input) {
  return text.replace(/\{\{([^}]+)\}\}/g, (_, name) => {
    if (name === 'input' || name === 'lastInput') return input;
    if (name === 'contact.name') return 'Flow Chat';
    return String(session.variables[name] ?? '');
  });
}

export function begin(id) {
  return {
    mode: 'flow', routerId: 'r1', flowId: 'f1', contactId: 'c', chatId: `chat-${id}`, currentBlockId: 'b1',
    variables: {}, source: 'webchat', contactIdentity: id, sessionHistory: [], startedAt: Date.now(), lastInteractionAt: Date.now(),
  };
}

export function step(session, input) {
  const block = blocks[session.currentBlockId];
  session.variables.count = (session.variables.count | 0) + 1;
  session.variables.lastInput = input;
  session.currentBlockId = block.next;
  session.sessionHistory.push({ flow: 'f1', block: block.next });
  if (session.sessionHistory.length > 20) session.sessionHistory.shift();
  session.lastInteractionAt = Date.now();
  return interpolate(block.text, session, input);
}
