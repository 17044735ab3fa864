import { parseMarkup, plainOf } from './markup.ts';
import type { ListSection, MediaKind, ReplyButton, WireMessage } from './protocol.ts';

export interface InteractiveHeader {
  text?: string;
  image?: string;
}

export type Content =
  | { kind: 'text'; text: string }
  | {
      kind: 'buttons';
      header: InteractiveHeader | null;
      text: string;
      footer: string;
      buttons: ReplyButton[];
    }
  | {
      kind: 'list';
      header: InteractiveHeader | null;
      text: string;
      footer: string;
      label: string;
      sections: ListSection[];
    }
  | { kind: 'choice'; id: string; title: string }
  | { kind: 'media'; media: MediaKind; link: string; caption: string; filename: string }
  | { kind: 'unsupported' };

const MEDIA: readonly string[] = ['image', 'video', 'audio', 'document'];

type Bag = Record<string, unknown>;

function bag(value: unknown): Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function header(value: unknown): InteractiveHeader | null {
  const given = bag(value);
  if (text(given['text'])) return { text: text(given['text']) };
  const image = text(bag(given['image'])['link']);
  return image ? { image } : null;
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
  const action = bag(value['action']);
  const common = {
    header: header(value['header']),
    text: text(bag(value['body'])['text']),
    footer: text(bag(value['footer'])['text']),
  };
  if (value['type'] === 'button') return { kind: 'buttons', ...common, buttons: buttons(action) };
  if (value['type'] === 'list') {
    return { kind: 'list', ...common, label: text(action['button']), sections: sections(action) };
  }
  return { kind: 'unsupported' };
}

/** Content comes from flows that anybody may author: whatever does not fit becomes `unsupported`, never an exception. */
export function readContent(message: WireMessage): Content {
  const type = text(message.type);
  const value = bag(message[type]);
  if (type === 'text') return { kind: 'text', text: text(value['body']) };
  if (type === 'interactive') return interactive(value);
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
      return plainOf(parseMarkup(content.text));
    case 'choice':
      return content.title;
    case 'media':
      return plainOf(parseMarkup(content.caption)) || content.filename;
    case 'unsupported':
      return '';
  }
}
