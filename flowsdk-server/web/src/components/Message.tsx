import { useContext } from 'preact/hooks';
import { clock, t } from '../i18n.ts';
import type { Choice } from '../protocol.ts';
import type { Item } from '../timeline.ts';
import { HandsetContext } from './handset.ts';
import { AlertIcon, CheckIcon, ClockIcon, ReadIcon } from './icons.tsx';
import { Cards } from './Cards.tsx';
import { Interactive } from './Interactive.tsx';
import { Media } from './Media.tsx';
import { Place } from './Place.tsx';
import { RichText, TypedText } from './RichText.tsx';

interface Props {
  item: Item;
  /** Whether its options may still be chosen. */
  open: boolean;
  serviceName: string;
  /** First and last of a run of messages by the same side: the name stands above the first. */
  first: boolean;
  last: boolean;
  /** Whether somebody has read it, as the answer shows. */
  read: boolean;
  /** Whether it is the visitor's newest one, below which a tick always stands. */
  newest: boolean;
  /** Whether the time stands below: it does where that of the next message is another one. */
  timed: boolean;
  onChoose: (choice: Choice, asked: string | null) => void;
  onRetry: (key: string) => void;
}

export function senderLabel(item: Item): string {
  if (item.sender?.name) return item.sender.name;
  if (item.sender?.kind === 'human') return t.senderHuman;
  return item.sender?.kind === 'ai' ? t.senderAi : '';
}

export function Message({ item, open, serviceName, first, last, read, newest, timed, onChoose, onRetry }: Props) {
  const mine = item.direction === 'in';
  const label = mine ? t.you : senderLabel(item);
  const classes = ['message', mine ? 'mine' : 'theirs', first ? 'first' : '', last ? 'last' : ''];
  return (
    <div class={classes.filter(Boolean).join(' ')} data-id={item.id ?? ''} data-delivery={item.delivery ?? ''}>
      {first && !mine && label && (
        <span class="sender" aria-hidden="true">
          {label}
        </span>
      )}
      <span class="hidden">{t.saidBy(label || serviceName || t.chat)}</span>
      <Body item={item} open={open} onChoose={onChoose} />
      {mine && item.delivery !== 'sent' ? (
        <Delivery item={item} onRetry={onRetry} />
      ) : (
        (timed || newest) && (
          <span class="meta" aria-live="off">
            {timed && <time dateTime={new Date(item.at).toISOString()}>{clock.format(item.at)}</time>}
            {mine && (
              <>
                {read ? <ReadIcon /> : <CheckIcon />}
                <span class="hidden">{read ? t.read : t.sent}</span>
              </>
            )}
          </span>
        )
      )}
    </div>
  );
}

function Body({ item, open, onChoose }: Pick<Props, 'item' | 'open' | 'onChoose'>) {
  const content = item.content;
  const Template = useContext(HandsetContext)?.Template ?? Unsupported;
  switch (content.kind) {
    case 'text':
      return (
        <div class="bubble">
          {item.direction === 'in' ? <TypedText text={content.text} /> : <RichText text={content.text} />}
        </div>
      );
    case 'choice':
      return (
        <div class="bubble">
          <p>{content.title}</p>
        </div>
      );
    case 'buttons':
    case 'list':
    case 'link':
    case 'form':
      return <Interactive content={content} open={open} onChoose={(choice) => onChoose(choice, item.id)} />;
    case 'template':
      return <Template content={content} messageId={item.id} />;
    case 'media':
      return (
        <div class="bubble">
          <Media {...content} />
        </div>
      );
    case 'place':
      return (
        <div class="bubble">
          <Place {...content} />
        </div>
      );
    case 'cards':
      return (
        <div class="bubble">
          <Cards cards={content.cards} />
        </div>
      );
    case 'reaction':
      return (
        <div class="bubble">
          <p class="reaction">{content.emoji}</p>
        </div>
      );
    case 'unsupported':
      return <Unsupported />;
  }
}

function Unsupported() {
  return (
    <div class="bubble unsupported">
      <p>{t.unsupported}</p>
    </div>
  );
}

function reason(code: string | null): string {
  if (code === 'rate_limited') return t.tooFast;
  if (code === 'media_too_large' || code === 'payload_too_large') return t.fileTooLarge;
  if (code?.startsWith('media_')) return t.fileRefused;
  return code === 'too_long' || code === 'text_too_long' ? t.tooLong : t.failed;
}

function Delivery({ item, onRetry }: Pick<Props, 'item' | 'onRetry'>) {
  if (item.delivery === 'failed') {
    return (
      <span class="meta failed" role="alert">
        <AlertIcon />
        {reason(item.error)}
        <button type="button" class="link-button" onClick={() => onRetry(item.key)}>
          {t.retry}
        </button>
      </span>
    );
  }
  return (
    <span class="meta pending" aria-live="off">
      <ClockIcon />
      {item.delivery === 'sending' ? t.sending : t.queued}
    </span>
  );
}
