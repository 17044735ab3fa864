export type AuthErrorCode =
  | 'channel_unknown'
  | 'identity_invalid'
  | 'token_invalid'
  | 'token_expired'
  | 'origin_refused'
  | 'rate_limited'
  | 'unavailable';

export interface PageTexts {
  title?: string;
  subtitle?: string;
  placeholder?: string;
  welcomeText?: string;
  /** Beside the launcher. */
  greeting?: string;
  /** The name of the launcher. */
  label?: string;
}

/** The button of the widget that opens the chat. */
export interface Launcher {
  position?: 'left' | 'right';
  color?: string;
  greeting?: string;
  label?: string;
}

export interface Appearance extends Omit<PageTexts, keyof Launcher> {
  primaryColor?: string;
  backgroundColor?: string;
  font?: string;
  /** Of the corners of messages, in pixels. */
  radius?: number;
  avatarUrl?: string;
  /** The language of the page, as a tag such as `es`; the visitor's where it is missing or not spoken. */
  language?: string;
  launcher?: Launcher;
  texts?: Record<string, PageTexts | undefined>;
}

export interface AuthOk {
  userId: string;
  /** null for visitors with an embed token */
  sessionKey: string | null;
  channelName: string;
  appearance: Appearance | null;
  /** Who begins: `open` lets the flow speak first. */
  startOn?: string;
  /** Who has the session; `null` before it begins and after it has ended. Older servers do not say. */
  mode?: string | null;
  /** In a test channel; absent in others. */
  isTestChannel?: boolean;
  /** What may be sent beside texts; `null` is nothing. Older servers do not say. */
  attachments?: Attachments | null;
}

/** What a visitor may send beside texts. */
export interface Attachments {
  kinds: MediaKind[];
  /** Most bytes of a file. */
  maxBytes: number;
}

/** A file that the server has. */
export interface Uploaded {
  id: string;
  kind: MediaKind;
  filename: string;
  link: string;
}

export interface AuthError {
  message: string;
  code?: string;
}

export type SenderKind = 'flow' | 'ai' | 'human';

export interface Sender {
  kind: SenderKind;
  name?: string;
}

export interface Choice {
  type: 'button_reply' | 'list_reply';
  id: string;
  title: string;
}

export interface ReplyButton {
  id: string;
  title: string;
}

export interface ListRow {
  id: string;
  title: string;
  description?: string;
}

export interface ListSection {
  title?: string;
  rows: ListRow[];
}

/** What a form of the provider is opened with: `action.parameters` of its message. */
export interface FormParameters {
  flow_id?: unknown;
  flow_token?: unknown;
  flow_cta?: unknown;
  flow_action?: unknown;
  flow_action_payload?: unknown;
}

export type MediaKind = 'image' | 'video' | 'audio' | 'document' | 'sticker';

/** A message of either direction as the server sends it: the content sits under the key named by `type`. */
export interface WireMessage {
  id: string;
  type: string;
  /** The place in the chat named by `chatId`, from 1. */
  seq?: number;
  chatId?: string;
  timestamp?: string | number;
  sender?: Sender;
  direction?: 'in' | 'out';
  status?: string;
  clientMessageId?: string;
  [content: string]: unknown;
}

export interface HistoryPage {
  items: WireMessage[];
  nextCursor: string | null;
}

export type Ack = { ok: true; messageId: string } | { ok: false; code: string; message?: string };

export type Outgoing =
  | { kind: 'text'; text: string }
  | { kind: 'choice'; choice: Choice }
  | { kind: 'file'; file: Uploaded };

export interface Credentials {
  channelId: string;
  token: string | null;
  identity: Identity | null;
  /** The origin of the page whose widget holds this one. */
  embedder: string | null;
}

export interface Identity {
  userId: string;
  sessionKey: string;
}

export const TEXT_LIMIT = 4096;
