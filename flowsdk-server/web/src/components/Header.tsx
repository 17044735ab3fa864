import { useState } from 'preact/hooks';
import type { State } from '../app.ts';
import { t } from '../i18n.ts';
import { loadable } from '../links.ts';
import { CloseIcon, RestartIcon } from './icons.tsx';

interface Props {
  state: State;
  title: string;
  /** The customer's own; empty without one. */
  subtitle: string;
  onStartOver: () => void;
  onClose: () => void;
}

export function Header({ state, title, subtitle, onStartOver, onClose }: Props) {
  return (
    <header class="header">
      <Avatar key={state.appearance?.avatarUrl ?? ''} url={state.appearance?.avatarUrl} title={title} />
      <div class="header-text">
        <h1>{title || t.chat}</h1>
        <p class={state.link === 'online' ? 'status on' : 'status'}>
          <span class="dot" aria-hidden="true" />
          <span class="status-text">{subtitleOf(state, subtitle)}</span>
        </p>
      </div>
      {state.canStartOver && (
        <button
          type="button"
          class="icon-button start-over"
          aria-label={t.newConversation}
          title={t.newConversation}
          onClick={onStartOver}
        >
          <RestartIcon />
        </button>
      )}
      {state.closable && <CloseButton onClose={onClose} />}
    </header>
  );
}

/** Closes the widget that holds the page. */
export function CloseButton({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" class="icon-button close" aria-label={t.close} title={t.close} onClick={onClose}>
      <CloseIcon />
    </button>
  );
}

function subtitleOf(state: State, own: string): string {
  if (!state.started) return state.refusal ? '' : t.connecting;
  if (state.link === 'offline') return '';
  if (state.mode === 'human') return t.withHuman;
  if (own !== '') return own;
  return state.mode === 'agent' ? t.withAi : t.online;
}

function Avatar({ url, title }: { url: unknown; title: string }) {
  const [broken, setBroken] = useState(false);
  const src = loadable(url, window.location.href);
  if (src && !broken) {
    return <img class="avatar" src={src} alt="" referrerpolicy="no-referrer" onError={() => setBroken(true)} />;
  }
  return (
    <span class="avatar" aria-hidden="true">
      {[...title.trim()][0]?.toUpperCase() ?? '·'}
    </span>
  );
}
