import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { State } from '../app.ts';
import { clock, locale, t } from '../i18n.ts';
import type { Choice } from '../protocol.ts';
import { isOpen, lastOf, type Item } from '../timeline.ts';
import { ChatIcon, DownIcon } from './icons.tsx';
import { Message, senderLabel } from './Message.tsx';
import { RichText } from './RichText.tsx';

interface Props {
  state: State;
  serviceName: string;
  welcomeText: string;
  onChoose: (choice: Choice, asked: string | null) => void;
  onRetry: (key: string) => void;
  onLoadEarlier: () => void;
  onRead: (messageId: string) => void;
  onStartAgain: () => void;
}

const NEAR_END_PX = 60;
const RUN_MS = 5 * 60_000;

export function Log({ state, serviceName, welcomeText, onChoose, onRetry, onLoadEarlier, onRead, onStartAgain }: Props) {
  const { items } = state;
  const answered = lastOf('out', items);
  const newest = lastOf('in', items);
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const pinned = useRef(true);
  const height = useRef(0);
  const edges = useRef<{ first: string; last: string }>({ first: '', last: '' });
  const [away, setAway] = useState(false);
  const [unseen, setUnseen] = useState(false);

  const toEnd = useCallback(() => {
    pinned.current = true;
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
    setAway(false);
    setUnseen(false);
  }, []);

  const markRead = useCallback(() => {
    if (document.visibilityState !== 'visible' || !state.shown || !pinned.current) return;
    const last = items.filter((item) => item.direction === 'out').at(-1);
    if (last?.id) onRead(last.id);
  }, [items, onRead, state.shown]);

  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    // What was added since the page scrolled, such as a picture that has loaded, is no scrolling of the visitor.
    const end = Math.min(element.scrollHeight, height.current);
    pinned.current = end - element.scrollTop - element.clientHeight < NEAR_END_PX;
    setAway(!pinned.current);
    if (pinned.current) {
      setUnseen(false);
      markRead();
    }
  };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const first = items[0]?.key ?? '';
    const tail = items.at(-1);
    const last = tail?.key ?? '';
    const appended = last !== edges.current.last;
    if (appended && tail?.direction === 'in' && tail.delivery !== 'sent') toEnd();
    else if (pinned.current) element.scrollTop = element.scrollHeight;
    else if (first !== edges.current.first) element.scrollTop += element.scrollHeight - height.current;
    else if (appended) setUnseen(true);
    height.current = element.scrollHeight;
    edges.current = { first, last };
  }, [items, state.mode, toEnd]);

  // Pictures that finish loading and the keyboard of a phone change heights without any new message.
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      const element = scroller.current;
      if (!element) return;
      if (pinned.current) element.scrollTop = element.scrollHeight;
      height.current = element.scrollHeight;
    });
    if (scroller.current) observer.observe(scroller.current);
    if (content.current) observer.observe(content.current);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    markRead();
    document.addEventListener('visibilitychange', markRead);
    return () => document.removeEventListener('visibilitychange', markRead);
  }, [markRead, state.link]);

  return (
    <div class="log-frame">
      <div
        ref={scroller}
        class="log"
        id="log"
        role="log"
        aria-live="polite"
        aria-label={t.chat}
        aria-busy={state.loading || state.loadingEarlier}
        tabIndex={0}
        onScroll={onScroll}
      >
        <div ref={content} class="log-content">
          {state.cursor && (
            <button type="button" class="earlier" disabled={state.loadingEarlier} onClick={onLoadEarlier}>
              {state.loadingEarlier ? t.loading : t.loadEarlier}
            </button>
          )}
          {!state.cursor && <Welcome state={state} text={welcomeText} />}
          {items.map((item, at) => (
            <Entry
              key={item.key}
              item={item}
              before={items[at - 1]}
              after={items[at + 1]}
              open={isOpen(items, at)}
              read={item.read ?? (state.typing !== null || at < answered)}
              newest={at === newest}
              serviceName={serviceName}
              onChoose={onChoose}
              onRetry={onRetry}
            />
          ))}
          {state.typing && <Typing />}
          {state.mode === null && items.length > 0 && (
            <Ended startsOnOpen={state.startsOnOpen && state.link === 'online'} onStartAgain={onStartAgain} />
          )}
        </div>
      </div>
      {away && (
        <button type="button" class={unseen ? 'to-end unseen' : 'to-end'} onClick={toEnd}>
          <DownIcon />
          <span class={unseen ? '' : 'hidden'}>{unseen ? t.newMessages : t.toEnd}</span>
        </button>
      )}
    </div>
  );
}

interface EntryProps {
  item: Item;
  before: Item | undefined;
  after: Item | undefined;
  /** Whether its options may still be chosen. */
  open: boolean;
  read: boolean;
  newest: boolean;
  serviceName: string;
  onChoose: (choice: Choice, asked: string | null) => void;
  onRetry: (key: string) => void;
}

function Entry({ item, before, after, ...rest }: EntryProps) {
  const newDay = !before || day(before.at) !== day(item.at);
  return (
    <>
      {newDay && (
        <p class="day">
          <span>{dayName(item.at)}</span>
        </p>
      )}
      <Message
        item={item}
        first={newDay || !sameRun(before, item)}
        last={!sameRun(item, after)}
        timed={!sameMinute(item, after)}
        {...rest}
      />
    </>
  );
}

function sameRun(one: Item | undefined, other: Item | undefined): boolean {
  if (!one || !other || one.direction !== other.direction || day(one.at) !== day(other.at)) return false;
  return senderLabel(one) === senderLabel(other) && Math.abs(other.at - one.at) < RUN_MS;
}

/** A question and its answer need one time between them. */
function sameMinute(one: Item, other: Item | undefined): boolean {
  return other !== undefined && day(one.at) === day(other.at) && clock.format(one.at) === clock.format(other.at);
}

function day(at: number): string {
  return new Date(at).toDateString();
}

function dayName(at: number): string {
  if (day(at) === day(Date.now())) return t.today;
  if (day(at) === day(Date.now() - 86_400_000)) return t.yesterday;
  return new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', year: 'numeric' }).format(at);
}

function Welcome({ state, text }: { state: State; text: string }) {
  if (!state.started && state.items.length === 0) {
    return (
      <div class="skeleton" aria-hidden="true">
        <span />
        <span />
        <span />
      </div>
    );
  }
  if (state.items.length > 0) {
    return text ? (
      <div class="welcome">
        <RichText text={text} />
      </div>
    ) : null;
  }
  return (
    <div class="empty">
      <span class="empty-mark">
        <ChatIcon />
      </span>
      <div>
        <RichText text={text || t.welcome} />
      </div>
    </div>
  );
}

function Ended({ startsOnOpen, onStartAgain }: { startsOnOpen: boolean; onStartAgain: () => void }) {
  return (
    <div class="ended">
      <p>{startsOnOpen ? t.ended : `${t.ended} ${t.writeAgain}`}</p>
      {startsOnOpen && (
        <button type="button" class="link-button" onClick={onStartAgain}>
          {t.startAgain}
        </button>
      )}
    </div>
  );
}

function Typing() {
  return (
    <div class="message theirs first last">
      <div class="bubble typing">
        <span class="hidden">{t.typing}</span>
        <i />
        <i />
        <i />
      </div>
    </div>
  );
}
