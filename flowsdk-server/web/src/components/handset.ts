import { createContext, type ComponentType } from 'preact';
import type { Content } from '../content.ts';
import type { FormParameters } from '../protocol.ts';

export interface TemplateProps {
  content: Extract<Content, { kind: 'template' }>;
  messageId: string | null;
}

/** What the app of the phone provider has for messages of a business. */
export interface Handset {
  openForm(form: FormParameters): void;
  /** Taps a quick reply of a template. */
  tap(messageId: string, title: string): void;
  Template: ComponentType<TemplateProps>;
}

/** Pages without phones have none: forms are out of use there, and no template comes. */
export const HandsetContext = createContext<Handset | null>(null);
