import { parseMarkup, plainOf } from './markup.ts';
import type { FormParameters, ListSection, MediaKind, ReplyButton, WireMessage } from './protocol.ts';

export interface InteractiveHeader {
  text?: string;
  file?: { media: MediaKind; link: string; filename: string };
  place?: Place;
}

export interface Place {
  name: string;
  address: string;
  latitude: number;
  longitude: number;
}

interface Frame {
  header: InteractiveHeader | null;
  text: string;
  footer: string;
}

/** The card of a person. */
export interface Card {
  name: string;
  organisation: string;
  phones: string[];
  emails: string[];
  urls: string[];
}

/** A button of a template of the phone provider. */
export type TemplateAction =
  | { kind: 'reply'; label: string }
  | { kind: 'link'; label: string; href: string }
  | { kind: 'call'; label: string; number: string }
  | { kind: 'copy'; label: string; code: string }
  | { kind: 'form'; label: string; parameters: FormParameters }
  | { kind: 'other'; label: string };

export type Content =
  | { kind: 'text'; text: string }
  | ({ kind: 'buttons'; buttons: ReplyButton[] } & Frame)
  | ({ kind: 'list'; label: string; sections: ListSection[] } & Frame)
  | ({ kind: 'link'; label: string; href: string } & Frame)
  | ({ kind: 'form'; label: string; parameters: FormParameters } & Frame)
  | ({ kind: 'template'; actions: TemplateAction[] } & Frame)
  | { kind: 'choice'; id: string; title: string }
  | { kind: 'media'; media: MediaKind; link: string; caption: string; filename: string }
  | ({ kind: 'place' } & Place)
  | { kind: 'cards'; cards: Card[] }
  | { kind: 'reaction'; emoji: string }
  | { kind: 'unsupported' };

const MEDIA: readonly string[] = ['image', 'video', 'audio', 'document', 'sticker'];

export type Bag = Record<string, unknown>;

export function bag(value: unknown): Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown, name: string): string[] {
  return list(value)
    .map((entry) => text(bag(entry)[name]))
    .filter((entry) => entry !== '');
}

export function readHeader(value: unknown): InteractiveHeader | null {
  const given = bag(value);
  if (text(given['text'])) return { text: text(given['text']) };
  const media = text(given['type']);
  const file = bag(given[media]);
  if (media === 'location') {
    const found = place(file);
    return found && { place: found };
  }
  if (!MEDIA.includes(media) || !text(file['link'])) return null;
  return { file: { media: media as MediaKind, link: text(file['link']), filename: text(file['filename']) } };
}

function cards(value: unknown): Card[] {
  return list(value)
    .map(bag)
    .map((card) => ({
      name: text(bag(card['name'])['formatted_name']),
      organisation: text(bag(card['org'])['company']),
      phones: texts(card['phones'], 'phone'),
      emails: texts(card['emails'], 'email'),
      urls: texts(card['urls'], 'url'),
    }))
    .filter((card) => card.name !== '');
}

function place(value: Bag): Place | null {
  const [latitude, longitude] = [Number(value['latitude']), Number(value['longitude'])];
  if (!Number.isFinite(latitude) || !Number.isFinite(longitude)) return null;
  return { name: text(value['name']), address: text(value['address']), latitude, longitude };
}

function buttons(action: Bag): ReplyButton[] {
  return list(action['buttons'])
    .map((entry) => bag(bag(entry)['reply']))
    .map((reply) => ({ id: text(reply['id']), title: text(reply['title']) }))
    .filter((button) => button.id !== '' && button.title !== '');
}

function sections(action: Bag): ListSection[] {
  return list(action['sections'])
    .map(bag)
    .map((section) => ({
      title: text(section['title']),
      rows: list(section['rows'])
        .map(bag)
        .map((row) => ({
          id: text(row['id']),
          title: text(row['title']),
          description: text(row['description']),
        }))
        .filter((row) => row.id !== '' && row.title !== ''),
    }))
    .filter((section) => section.rows.length > 0);
}

function interactive(value: Bag): Content {
  const reply = bag(value['button_reply'] ?? value['list_reply']);
  if (text(reply['title']) || text(reply['id'])) {
    return { kind: 'choice', id: text(reply['id']), title: text(reply['title']) || text(reply['id']) };
  }
  const filledIn = bag(value['nfm_reply']);
  if (text(filledIn['body'])) return { kind: 'text', text: text(filledIn['body']) };
  const action = bag(value['action']);
  const common = {
    header: readHeader(value['header']),
    text: text(bag(value['body'])['text']),
    footer: text(bag(value['footer'])['text']),
  };
  if (value['type'] === 'button') return { kind: 'buttons', ...common, buttons: buttons(action) };
  if (value['type'] === 'list') {
    return { kind: 'list', ...common, label: text(action['button']), sections: sections(action) };
  }
  const parameters = bag(action['parameters']);
  if (value['type'] === 'cta_url') {
    return { kind: 'link', ...common, label: text(parameters['display_text']), href: text(parameters['url']) };
  }
  if (value['type'] === 'flow') return { kind: 'form', ...common, label: text(parameters['flow_cta']), parameters };
  return { kind: 'unsupported' };
}

/** Content comes from flows that anybody may author: whatever does not fit becomes `unsupported`, never an exception. */
export function readContent(message: WireMessage): Content {
  const type = text(message.type);
  const value = bag(message[type]);
  if (type === 'text') return { kind: 'text', text: text(value['body']) };
  if (type === 'interactive') return interactive(value);
  if (type === 'location') {
    const found = place(value);
    return found ? { kind: 'place', ...found } : { kind: 'unsupported' };
  }
  // The tap on a quick reply of a template. It is no choice, which would close the options of the flow.
  if (type === 'button' && text(value['text'])) return { kind: 'text', text: text(value['text']) };
  if (type === 'contacts') {
    const found = cards(message[type]);
    return found.length > 0 ? { kind: 'cards', cards: found } : { kind: 'unsupported' };
  }
  if (type === 'reaction' && text(value['emoji'])) return { kind: 'reaction', emoji: text(value['emoji']) };
  if (MEDIA.includes(type) && text(value['link'])) {
    return {
      kind: 'media',
      media: type as MediaKind,
      link: text(value['link']),
      caption: text(value['caption']),
      filename: text(value['filename']),
    };
  }
  return { kind: 'unsupported' };
}

/** What a message of the service says, without formatting and options: for those who hear of it and do not see it. */
export function plainText(content: Content): string {
  switch (content.kind) {
    case 'text':
    case 'buttons':
    case 'list':
    case 'link':
    case 'form':
    case 'template':
      return plainOf(parseMarkup(content.text));
    case 'choice':
      return content.title;
    case 'media':
      return plainOf(parseMarkup(content.caption)) || content.filename;
    case 'place':
      return content.name || content.address;
    case 'cards':
      return content.cards.map((card) => card.name).join(', ');
    case 'reaction':
      return content.emoji;
    case 'unsupported':
      return '';
  }
}
