import type { State } from '../app.ts';
import type { Surface } from '../components/Chat.tsx';
import type { Bag, Content } from '../content.ts';
import { kindOf } from '../files.ts';
import type { Choice, FormParameters, WireMessage } from '../protocol.ts';
import { type Delivery, fromWire, type Item } from '../timeline.ts';
import type { Answered } from './forms.ts';
import { readTemplate } from './template.ts';

/** How often the phone looks for messages. */
const POLL_MS = 600;
/** What the provider takes at most. */
const MOST_BYTES = 100 << 20;
const LOOK = { primaryColor: '#0b7a5c', backgroundColor: '#efe9e1', radius: 12 };
/** Failures in a row after which the page says that it is offline. */
const AWAY_AFTER = 3;

/** A message on the phone, as the simulator tells it. */
interface Bubble {
  id: string;
  from: 'phone' | 'business';
  /** Milliseconds. */
  at: number;
  /** Of what the phone wrote: whether the business has read it. */
  read: boolean;
  /** Of what the phone wrote: what the webhook made of it, once it was delivered. */
  delivered: { outcome: 'taken' | 'left_out' | 'refused' | 'unanswered' } | null;
  message: WireMessage;
}

/** What is on the phone; `version` grows with each change. */
interface Screen {
  version: number;
  business: string;
  /** A line about the business. */
  about?: string | null;
  /** The beginning of the endpoints of forms, if the simulator knows the server. */
  formsEndpoint?: string | null;
  typing: boolean;
  messages: Bubble[];
}

type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

/** A phone that the simulator has, as the chat page shows a chat: the contact is the one who types. */
export class Phone implements Surface {
  state: State = {
    link: 'connecting',
    retryInMs: 0,
    refusal: null,
    started: false,
    canStartOver: false,
    loading: true,
    channelName: '',
    appearance: LOOK,
    items: [],
    cursor: null,
    loadingEarlier: false,
    typing: null,
    mode: 'flow',
    startsOnOpen: false,
    language: null,
    closable: false,
    shown: true,
    attachments: { kinds: ['image', 'audio', 'video', 'document'], maxBytes: MOST_BYTES },
  };
  /** Where the server of the business has its forms, which need not be the address of this page. */
  formsEndpoint = '';
  #listeners = new Set<() => void>();
  #version = -1;
  #bubbles: Bubble[] = [];
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `number` and `phone` are the addresses of both below the simulator, `name` is that of the profile. */
  constructor(
    private readonly number: string,
    private readonly phone: string,
    private readonly name: string,
    private readonly ask: Fetch = (path, init) => fetch(path, init),
  ) {}

  async start(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#look();
    this.#timer = setTimeout(() => void this.start(), POLL_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  sendText(text: string): void {
    void this.#say({ text });
  }

  sendFile(file: File): void {
    void this.#sayFile(file);
  }

  choose(choice: Choice, asked: string | null): void {
    const reply = { id: choice.id, title: choice.title };
    void this.#say({
      message: {
        type: 'interactive',
        interactive: { type: choice.type, [choice.type]: reply },
        ...(asked ? { context: { id: asked } } : {}),
      },
    });
  }

  /** Taps a button of a message: the simulator knows what it says. */
  tap(message: string, title: string): void {
    void this.#tell('/taps', { message, title });
  }

  /** Asks the endpoint of a form. Fails with the words of the simulator if it cannot be asked. */
  async askForm(endpoint: string, question: object): Promise<Answered> {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ endpoint, question });
    const answer = await this.ask(`${this.number}/forms`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as Answered;
  }

  /** Sends a form that was filled in, as the answer to the message with its token. */
  async reply(token: string, message: object): Promise<void> {
    const asked = this.state.items.find(({ content }) => formsOf(content).some(({ flow_token }) => flow_token === token));
    await this.#say({ message: { ...message, ...(asked?.id ? { context: { id: asked.id } } : {}) } });
  }

  noteRead(): void {
    void this.#post('/read', {});
  }

  get #base(): string {
    return this.number + this.phone;
  }

  async #look(): Promise<void> {
    try {
      const answer = await this.ask(`${this.#base}/messages?version=${this.#version}`);
      if (!answer.ok) throw new Error(String(answer.status));
      this.#failures = 0;
      if (answer.status === 204) return this.#show({ link: 'online' });
      const screen = (await answer.json()) as Screen;
      this.#version = screen.version;
      this.#bubbles = screen.messages;
      this.formsEndpoint = screen.formsEndpoint ?? '';
      this.#show({
        link: 'online',
        started: true,
        loading: false,
        channelName: screen.business,
        appearance: { ...LOOK, subtitle: screen.about ?? '' },
        typing: screen.typing ? screen.business : null,
        items: screen.messages.map(itemOf),
      });
    } catch {
      this.#failures += 1;
      if (this.#failures >= AWAY_AFTER) this.#show({ link: 'offline' });
    }
  }

  async #say(said: object): Promise<void> {
    await this.#tell('/messages', said);
  }

  async #tell(path: string, told: object): Promise<void> {
    await this.#post(path, { name: this.name, ...told });
    await this.#look();
  }

  async #sayFile(file: File): Promise<void> {
    const query = new URLSearchParams({ name: this.name });
    // Of anything but a document the name stays on the phone.
    if (kindOf(file.type) === 'document') query.set('filename', file.name);
    const headers = { 'content-type': file.type || 'application/octet-stream' };
    try {
      await this.ask(`${this.#base}/files?${query}`, { method: 'POST', headers, body: file });
    } catch {
      this.#show({ link: 'offline' });
    }
    await this.#look();
  }

  async #post(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    try {
      await this.ask(`${this.#base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    } catch {
      this.#show({ link: 'offline' });
    }
  }

  #show(change: Partial<State>): void {
    const keys = Object.keys(change) as (keyof State)[];
    if (keys.every((key) => this.state[key] === change[key])) return;
    this.state = { ...this.state, ...change };
    for (const listener of this.#listeners) listener();
  }

  /** Says a message once more that the webhook left out. */
  retry(key: string): void {
    const message = this.#bubbles.find(({ id }) => id === key)?.message;
    if (message) void this.#say({ message });
  }

  // A phone keeps its whole chat, and no widget holds it.
  async loadEarlier(): Promise<void> {}
  startOver(): void {}
  startAgain(): void {}
  hide(): void {}
  noteTyping(): void {}
}

/** Returns the forms that a message opens. */
function formsOf(content: Content): FormParameters[] {
  if (content.kind === 'form') return [content.parameters];
  return content.kind === 'template' ? content.actions.flatMap((action) => (action.kind === 'form' ? [action.parameters] : [])) : [];
}

function itemOf(bubble: Bubble): Item {
  const direction = bubble.from === 'phone' ? 'in' : 'out';
  const wire = { ...shown(bubble.message), id: bubble.id, direction, timestamp: bubble.at } as const;
  const read = fromWire(wire, bubble.at);
  const filled = filledOf(bubble.message);
  const item = filled ? { ...read, content: readTemplate(filled) } : read;
  return direction === 'in' ? { ...item, delivery: deliveryOf(bubble), read: bubble.read } : item;
}

/** A phone of a contact shows nothing of this; whoever tries a webhook wants to know. */
function deliveryOf({ delivered }: Bubble): Delivery {
  switch (delivered?.outcome) {
    case 'left_out':
      return 'failed';
    case 'refused':
    case 'unanswered':
      return 'sending';
    default:
      return 'sent';
  }
}

/** A file that is at the simulator has an id, and its content there. */
function withFile<M extends { type: string; [kind: string]: unknown }>(message: M): M {
  const file = message[message.type] as { id?: unknown; link?: unknown } | undefined;
  if (typeof file?.id !== 'string' || file.link) return message;
  return { ...message, [message.type]: { ...file, link: `/simulator/media/${encodeURIComponent(file.id)}` } };
}

/** The parts of a template as a phone shows them. */
interface Filled {
  header: Part | null;
  body: string;
  footer: string | null;
  buttons: Record<string, unknown>[];
}

interface Part {
  type: string;
  [kind: string]: unknown;
}

/** Returns the parts of a template that the simulator keeps, with its files. */
function filledOf(message: WireMessage): Bag | null {
  const filled = (message['template'] as Partial<Template> | undefined)?.filled;
  return filled ? { ...filled, header: filled.header && withFile(filled.header) } : null;
}

interface Template {
  name: string;
  language: { code: string };
  /** With its values, where the simulator keeps the template. */
  filled?: Filled;
  components?: { type: string; parameters?: { type: string; text?: string; [kind: string]: unknown }[] }[];
}

/** Returns a message with its files. A template that the simulator does not keep is a text with its name and values. */
function shown(message: WireMessage): WireMessage {
  if (message.type === 'interactive') {
    const { header, ...rest } = message['interactive'] as { header?: Part };
    return header ? { ...message, interactive: { ...rest, header: withFile(header) } } : message;
  }
  if (message.type !== 'template') return withFile(message);
  const { name, language, components } = (message as unknown as { template: Template }).template;
  const values = (components ?? []).map(({ type, parameters }) => {
    const told = (parameters ?? []).map((one) => one.text ?? JSON.stringify(one[one.type] ?? one.type));
    return `${type}: ${told.join(' · ')}`;
  });
  return { type: 'text', text: { body: [`${name} (${language.code})`, ...values].join('\n') } } as unknown as WireMessage;
}
