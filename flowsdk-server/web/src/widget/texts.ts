import type { Language } from '../languages.ts';

interface Texts {
  chat: string;
  open: string;
  close: string;
  dismiss: string;
  unread: (count: number) => string;
}

export const TEXTS: Record<Language, Texts> = {
  'pt-BR': {
    chat: 'Conversa',
    open: 'Abrir a conversa',
    close: 'Fechar a conversa',
    dismiss: 'Dispensar',
    unread: (count) => (count === 1 ? '1 mensagem nova' : `${count} mensagens novas`),
  },
  en: {
    chat: 'Chat',
    open: 'Open chat',
    close: 'Close chat',
    dismiss: 'Dismiss',
    unread: (count) => (count === 1 ? '1 new message' : `${count} new messages`),
  },
  es: {
    chat: 'Chat',
    open: 'Abrir el chat',
    close: 'Cerrar el chat',
    dismiss: 'Descartar',
    unread: (count) => (count === 1 ? '1 mensaje nuevo' : `${count} mensajes nuevos`),
  },
  fr: {
    chat: 'Discussion',
    open: 'Ouvrir la discussion',
    close: 'Fermer la discussion',
    dismiss: 'Masquer',
    unread: (count) => (count === 1 ? '1 nouveau message' : `${count} nouveaux messages`),
  },
  de: {
    chat: 'Chat',
    open: 'Chat öffnen',
    close: 'Chat schließen',
    dismiss: 'Ausblenden',
    unread: (count) => (count === 1 ? '1 neue Nachricht' : `${count} neue Nachrichten`),
  },
};
