import { useRef } from 'preact/hooks';
import type { Content, InteractiveHeader } from '../content.ts';
import { t } from '../i18n.ts';
import { loadable } from '../links.ts';
import type { Choice } from '../protocol.ts';
import type { Options } from '../timeline.ts';
import { CheckIcon, ListIcon } from './icons.tsx';
import { ListPicker, openPicker } from './ListPicker.tsx';
import { RichText } from './RichText.tsx';

interface Props {
  content: Extract<Content, { kind: 'buttons' | 'list' }>;
  options: Options;
  onChoose: (choice: Choice) => void;
}

export function Interactive({ content, options: { open, chosen }, onChoose }: Props) {
  return (
    <>
      <div class="bubble">
        <Heading header={content.header} />
        <RichText text={content.text} />
        {content.footer && <p class="footer">{content.footer}</p>}
      </div>
      {content.kind === 'buttons' ? (
        <div class="choices" role="group" aria-label={t.options}>
          {content.buttons.map((button) => (
            <button
              key={button.id}
              type="button"
              class={chosen === button.id ? 'choice chosen' : 'choice'}
              disabled={!open}
              onClick={() => onChoose({ type: 'button_reply', id: button.id, title: button.title })}
            >
              {chosen === button.id && <Chosen />}
              {button.title}
            </button>
          ))}
        </div>
      ) : (
        <ListOpener content={content} chosen={chosen} answered={!open} onChoose={onChoose} />
      )}
    </>
  );
}

interface OpenerProps {
  content: Extract<Content, { kind: 'list' }>;
  chosen: string | null;
  answered: boolean;
  onChoose: (choice: Choice) => void;
}

function ListOpener({ content, chosen, answered, onChoose }: OpenerProps) {
  const picker = useRef<HTMLDialogElement>(null);
  const row = content.sections.flatMap((section) => section.rows).find((one) => one.id === chosen);
  const label = content.label || t.chooseOption;
  return (
    <div class="choices">
      <button
        type="button"
        class={row ? 'choice chosen' : 'choice'}
        aria-haspopup="dialog"
        disabled={answered}
        onClick={() => openPicker(picker.current)}
      >
        {row ? <Chosen /> : <ListIcon />}
        {row ? row.title : label}
      </button>
      {!answered && (
        <ListPicker
          dialog={picker}
          title={label}
          sections={content.sections}
          onPick={(picked) => onChoose({ type: 'list_reply', id: picked.id, title: picked.title })}
        />
      )}
    </div>
  );
}

function Chosen() {
  return (
    <>
      <CheckIcon />
      <span class="hidden">{t.selected}: </span>
    </>
  );
}

function Heading({ header }: { header: InteractiveHeader | null }) {
  if (header?.text) return <p class="heading">{header.text}</p>;
  const src = loadable(header?.image, window.location.href);
  return src ? <img class="heading-image" src={src} alt="" referrerpolicy="no-referrer" /> : null;
}
