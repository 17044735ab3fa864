import { useCallback, useEffect, useState } from 'preact/hooks';
import type { State } from '../app.ts';
import { language, speak, t } from '../i18n.ts';
import type { Choice } from '../protocol.ts';
import { applyLook } from '../look.ts';
import { wordingOf } from '../wording.ts';
import { Banner } from './Banner.tsx';
import { Composer } from './Composer.tsx';
import { CloseButton, Header } from './Header.tsx';
import { Log } from './Log.tsx';
import { Notice } from './Notice.tsx';

/** What the page shows, and what a visitor can do with it. */
export interface Surface {
  readonly state: State;
  subscribe(listener: () => void): () => void;
  start(): Promise<void>;
  startOver(): void;
  startAgain(): void;
  hide(): void;
  sendText(text: string): void;
  sendFile(file: File): void;
  /** `asked` is the message with the options. */
  choose(choice: Choice, asked: string | null): void;
  retry(key: string): void;
  loadEarlier(): Promise<void>;
  noteTyping(): void;
  noteRead(messageId: string): void;
}

export function Chat({ app }: { app: Surface }) {
  const [state, setState] = useState(app.state);
  useEffect(() => app.subscribe(() => setState(app.state)), [app]);
  useEffect(() => applyLook(state.appearance), [state.appearance]);
  // Before anything below is drawn: all of it reads the texts.
  speak([state.language, state.appearance?.language], navigator.languages);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);

  const wording = wordingOf(state.appearance, language);
  const title = wording.title || state.channelName;
  useEffect(() => {
    if (title) document.title = title;
  }, [title]);

  useEffect(() => {
    if (!state.closable) return;
    const onKey = (event: KeyboardEvent) => {
      // In an open dialog the key closes that alone.
      if (event.key === 'Escape' && !event.isComposing && !document.querySelector('dialog[open]')) app.hide();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [app, state.closable]);
  useEffect(() => {
    // A phone would raise its keyboard over what is to be read first.
    if (!state.closable || !state.shown || !window.matchMedia('(pointer: fine)').matches) return;
    document.querySelector<HTMLElement>('.composer-text')?.focus({ preventScroll: true });
  }, [state.closable, state.shown]);

  const onChoose = useCallback(
    (choice: Choice, asked: string | null) => {
      app.choose(choice, asked);
      keepFocus();
    },
    [app],
  );
  const onStartAgain = useCallback(() => {
    app.startAgain();
    keepFocus();
  }, [app]);
  const onRead = useCallback((messageId: string) => app.noteRead(messageId), [app]);

  const full = state.refusal !== null && state.items.length === 0;
  const notice = state.refusal !== null && (
    <Notice
      code={state.refusal}
      compact={!full}
      onStartOver={() => app.startOver()}
      onTryAgain={() => void app.start()}
    />
  );
  return (
    <main class="chat">
      {full && state.closable && <CloseButton onClose={() => app.hide()} />}
      {!full && (
        <>
          <Header
            state={state}
            title={title}
            subtitle={wording.subtitle}
            onStartOver={() => app.startOver()}
            onClose={() => app.hide()}
          />
          <Banner state={state} />
          <Log
            state={state}
            serviceName={title}
            welcomeText={wording.welcomeText}
            onChoose={onChoose}
            onRetry={(key) => app.retry(key)}
            onLoadEarlier={() => void app.loadEarlier()}
            onRead={onRead}
            onStartAgain={onStartAgain}
          />
        </>
      )}
      {notice || (
        <Composer
          placeholder={wording.placeholder || t.placeholder}
          attachments={state.attachments}
          onSend={(text) => app.sendText(text)}
          onFile={(file) => app.sendFile(file)}
          onTyping={() => app.noteTyping()}
        />
      )}
    </main>
  );
}

/** Takes the focus from a button that goes away. On a phone the field would raise the keyboard. */
function keepFocus(): void {
  const fine = window.matchMedia('(pointer: fine)').matches;
  document.querySelector<HTMLElement>(fine ? '.composer-text' : '#log')?.focus({ preventScroll: true });
}
