import type { State } from '../app.ts';
import type { Surface } from '../components/Chat.tsx';
import { envelope, readLooks } from '../embedding.ts';
import { pickLanguage, spoken, type Language } from '../languages.ts';
import type { Appearance, Choice, WireMessage } from '../protocol.ts';
import { fromVisitor, fromWire, type Item } from '../timeline.ts';

interface Sample {
  hello: string;
  wish: string;
  question: string;
  buttons: readonly [string, string];
}

const SAMPLES: Record<Language, Sample> = {
  'pt-BR': {
    hello: 'Olá! Em que podemos **ajudar**?',
    wish: 'Quero fazer um pedido.',
    question: 'Com prazer. De que tamanho?',
    buttons: ['Pequeno', 'Grande'],
  },
  en: {
    hello: 'Hello! How can we **help**?',
    wish: 'I would like to order.',
    question: 'With pleasure. Which size?',
    buttons: ['Small', 'Large'],
  },
  es: {
    hello: '¡Hola! ¿En qué podemos **ayudar**?',
    wish: 'Quiero hacer un pedido.',
    question: 'Con gusto. ¿De qué tamaño?',
    buttons: ['Pequeño', 'Grande'],
  },
  fr: {
    hello: 'Bonjour ! Comment pouvons-nous **vous aider** ?',
    wish: 'Je voudrais commander.',
    question: 'Avec plaisir. Quelle taille ?',
    buttons: ['Petite', 'Grande'],
  },
  de: {
    hello: 'Hallo! Wie können wir **helfen**?',
    wish: 'Ich möchte bestellen.',
    question: 'Gern. Welche Größe?',
    buttons: ['Klein', 'Groß'],
  },
};

const AT = Date.now();

/** A chat page that shows looks: a conversation that is made up, and no connection. */
export class Preview implements Surface {
  state: State = {
    link: 'online',
    retryInMs: 0,
    refusal: null,
    started: true,
    canStartOver: false,
    loading: false,
    channelName: 'FlowSDK',
    appearance: null,
    items: conversation(null),
    cursor: null,
    loadingEarlier: false,
    typing: null,
    mode: 'flow',
    startsOnOpen: false,
    language: null,
    closable: false,
    shown: true,
    attachments: null,
  };
  #listeners = new Set<() => void>();

  /** Takes looks from the page around, which must be one of this server. */
  listen(window: Window): void {
    window.addEventListener('message', (event) => {
      if (event.source !== window.parent || event.origin !== window.location.origin) return;
      const looks = readLooks(event.data);
      if (looks) this.#show(looks);
    });
    window.parent.postMessage(envelope({ type: 'ready' }), window.location.origin);
  }

  #show(appearance: Appearance): void {
    this.state = { ...this.state, appearance, items: conversation(appearance) };
    for (const listener of this.#listeners) listener();
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  sendFile(): void {}
  sendText(text: string): void {
    this.#add(fromVisitor(`m${this.state.items.length}`, { kind: 'text', text }, Date.now()));
  }

  choose(choice: Choice): void {
    this.#add(fromVisitor(`m${this.state.items.length}`, { kind: 'choice', choice }, Date.now()));
  }

  #add(item: Item): void {
    this.state = { ...this.state, items: [...this.state.items, { ...item, delivery: 'sent' }] };
    for (const listener of this.#listeners) listener();
  }

  // Nothing is connected, stored or held by a widget.
  async start(): Promise<void> {}
  async loadEarlier(): Promise<void> {}
  startOver(): void {}
  startAgain(): void {}
  hide(): void {}
  retry(): void {}
  noteTyping(): void {}
  noteRead(): void {}
}

/** The conversation in the language that the page speaks with these looks. */
function conversation(appearance: Appearance | null): readonly Item[] {
  const wished = appearance?.language;
  const language = (typeof wished === 'string' ? spoken(wished) : undefined) ?? pickLanguage(navigator.languages);
  const { hello, wish, question, buttons } = SAMPLES[language];
  const reply = (title: string, at: number) => ({ type: 'reply', reply: { id: `b${at}`, title } });
  const messages: WireMessage[] = [
    { id: 's1', type: 'text', text: { body: hello }, direction: 'out' },
    { id: 's2', type: 'text', text: { body: wish }, direction: 'in' },
    {
      id: 's3',
      type: 'interactive',
      direction: 'out',
      interactive: { type: 'button', body: { text: question }, action: { buttons: buttons.map(reply) } },
    },
  ];
  return messages.map((message) => fromWire(message, AT));
}
