// The demonstration flow, small enough to be repeated by the mock: what the real server's flow answers too.

const text = (body) => ({ type: 'text', text: { body } });

export const MENU = {
  type: 'interactive',
  interactive: {
    type: 'button',
    body: { text: 'O que você quer fazer?' },
    footer: { text: '“assistente” fala com nossa IA, “atendente” com uma pessoa.' },
    action: {
      buttons: [
        { type: 'reply', reply: { id: 'plans', title: 'Ver planos' } },
        { type: 'reply', reply: { id: 'order', title: 'Fazer um pedido' } },
        { type: 'reply', reply: { id: 'bye', title: 'Encerrar' } },
      ],
    },
  },
};

export const PLANS = {
  type: 'interactive',
  interactive: {
    type: 'list',
    body: { text: 'Temos estes planos:' },
    action: {
      button: 'Ver planos',
      sections: [
        {
          title: 'Planos',
          rows: [
            { id: 'basic', title: 'Básico' },
            { id: 'pro', title: 'Profissional' },
          ],
        },
      ],
    },
  },
};

const CHOOSE = text('Por favor, escolha uma das opções.');

/** Returns what the flow says to `input` (`{ text }` or `{ id, title }`) and moves `session` on. */
export function answer(session, input) {
  switch (session.step) {
    case 'name':
      session.name = input.text ?? input.title;
      session.step = 'menu';
      return [text(`Prazer, ${session.name}!`), MENU];
    case 'menu':
      if (input.id === 'plans') {
        session.step = 'plans';
        return [PLANS];
      }
      if (input.id === 'order') {
        session.step = 'order';
        return [text('Quantas unidades? (1 a 10)')];
      }
      if (input.id === 'bye') {
        session.step = undefined;
        return [text(`Até logo, ${session.name}!`)];
      }
      return [CHOOSE];
    case 'plans': {
      const title = { basic: 'Básico', pro: 'Profissional' }[input.id];
      if (!title) return [CHOOSE];
      session.step = 'menu';
      return [text(`Boa escolha, ${session.name}: ${title}.`), MENU];
    }
    case 'order': {
      const units = /^\d+$/.test(input.text ?? '') ? Number(input.text) : 0;
      if (units < 1 || units > 10) return [text('Digite um número de 1 a 10.')];
      session.step = 'menu';
      const said =
        units <= 5 ? `Pedido de ${units} unidades anotado.` : `Pedido grande: ${units} unidades. Vamos dar desconto!`;
      return [text(said), MENU];
    }
    default:
      session.step = 'name';
      return [text('Olá! 👋 Eu sou o assistente de demonstração do FlowSDK. Como você se chama?')];
  }
}
