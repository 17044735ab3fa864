import { useContext, useState } from 'preact/hooks';
import { HandsetContext, type TemplateProps } from '../components/handset.ts';
import { CallIcon, CheckIcon, CopyIcon, ListIcon, ReplyIcon } from '../components/icons.tsx';
import { Heading, Link } from '../components/Interactive.tsx';
import { RichText } from '../components/RichText.tsx';
import type { TemplateAction } from '../content.ts';
import { t } from '../i18n.ts';

/** A template as the provider's app shows it. */
export function Template({ content, messageId }: TemplateProps) {
  return (
    <>
      <div class="bubble">
        <Heading header={content.header} />
        <RichText text={content.text} />
        {content.footer && <p class="footer">{content.footer}</p>}
      </div>
      {content.actions.length > 0 && (
        <div class="choices stacked" role="group" aria-label={t.options}>
          {content.actions.map((action, at) => (
            <Action key={at} action={action} messageId={messageId} />
          ))}
        </div>
      )}
    </>
  );
}

function Action({ action, messageId }: { action: TemplateAction } & Pick<TemplateProps, 'messageId'>) {
  const handset = useContext(HandsetContext);
  switch (action.kind) {
    case 'reply': {
      const onTap = handset && messageId ? () => handset.tap(messageId, action.label) : null;
      return (
        <button type="button" class="choice" disabled={!onTap} onClick={() => onTap?.()}>
          <ReplyIcon />
          {action.label}
        </button>
      );
    }
    case 'link':
      return <Link label={action.label} href={action.href} />;
    case 'call':
      return (
        <a class="choice" href={`tel:${action.number}`}>
          <CallIcon />
          {action.label}
        </a>
      );
    case 'copy':
      return <Copy label={action.label} code={action.code} />;
    case 'form':
      return (
        <button type="button" class="choice" disabled={!handset} onClick={() => handset?.openForm(action.parameters)}>
          <ListIcon />
          {action.label}
        </button>
      );
    case 'other':
      return (
        <button type="button" class="choice" disabled>
          {action.label}
        </button>
      );
  }
}

function Copy({ label, code }: { label: string; code: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(code).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  return (
    <button type="button" class="choice" title={code} disabled={!code} onClick={() => void copy()}>
      {isCopied ? <CheckIcon /> : <CopyIcon />}
      {label}
    </button>
  );
}
