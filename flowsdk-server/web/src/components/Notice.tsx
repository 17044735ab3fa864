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

interface Words {
  title: string;
  text: string;
}

/** Asked for at each drawing: the language is known only then. */
function wordsOf(code: string): Words | null {
  switch (code) {
    case 'channel_unknown':
      return { title: t.channelUnknownTitle, text: t.channelUnknownText };
    case 'identity_invalid':
      return { title: t.identityInvalidTitle, text: t.identityInvalidText };
    case 'origin_refused':
    case 'token_invalid':
      return { title: t.tokenInvalidTitle, text: t.tokenInvalidText };
    case 'token_expired':
      return { title: t.tokenExpiredTitle, text: t.tokenExpiredText };
    default:
      return null;
  }
}

export function Notice({ code, compact, onStartOver, onTryAgain }: Props) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (window.parent === window) title.current?.focus();
  }, [code]);
  // Alone on the page it has to bring the page's main heading along.
  const Title = compact ? 'h2' : 'h1';
  const known = wordsOf(code);
  const { title: heading, text } = known ?? { title: t.errorTitle, text: t.errorText };
  return (
    <section class={compact ? 'notice compact' : 'notice'} role="alert" data-code={code}>
      <span class="notice-mark" aria-hidden="true">
        <AlertIcon />
      </span>
      <Title ref={title} class="notice-title" tabIndex={-1}>
        {heading}
      </Title>
      <p>{text}</p>
      {code === 'identity_invalid' && (
        <button type="button" class="primary" onClick={onStartOver}>
          {t.newConversation}
        </button>
      )}
      {!known && (
        <button type="button" class="primary" onClick={onTryAgain}>
          {t.tryAgain}
        </button>
      )}
    </section>
  );
}
