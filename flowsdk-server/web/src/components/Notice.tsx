import { useEffect, useRef } from 'preact/hooks';
import { t } from '../i18n.ts';
import { AlertIcon } from './icons.tsx';

interface Props {
  code: string;
  /** A conversation already on the screen stays readable: the notice then takes the place of the composer. */
  compact: boolean;
  onStartOver: () => void;
  onTryAgain: () => void;
}

const TEXTS: Record<string, { title: string; text: string }> = {
  channel_unknown: { title: t.channelUnknownTitle, text: t.channelUnknownText },
  identity_invalid: { title: t.identityInvalidTitle, text: t.identityInvalidText },
  token_invalid: { title: t.tokenInvalidTitle, text: t.tokenInvalidText },
  token_expired: { title: t.tokenExpiredTitle, text: t.tokenExpiredText },
};

export function Notice({ code, compact, onStartOver, onTryAgain }: Props) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (window.parent === window) title.current?.focus();
  }, [code]);
  // Alone on the page it has to bring the page's main heading along.
  const Title = compact ? 'h2' : 'h1';
  const known = TEXTS[code] ?? { title: t.errorTitle, text: t.errorText };
  return (
    <section class={compact ? 'notice compact' : 'notice'} role="alert" data-code={code}>
      <span class="notice-mark" aria-hidden="true">
        <AlertIcon />
      </span>
      <Title ref={title} class="notice-title" tabIndex={-1}>
        {known.title}
      </Title>
      <p>{known.text}</p>
      {code === 'identity_invalid' && (
        <button type="button" class="primary" onClick={onStartOver}>
          {t.newConversation}
        </button>
      )}
      {!TEXTS[code] && (
        <button type="button" class="primary" onClick={onTryAgain}>
          {t.tryAgain}
        </button>
      )}
    </section>
  );
}
