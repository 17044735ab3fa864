import { useContext, useRef } from 'preact/hooks';
import type { Content, InteractiveHeader } from '../content.ts';
import { t } from '../i18n.ts';
import { webAddress } from '../links.ts';
import type { Choice } from '../protocol.ts';
import { HandsetContext } from './handset.ts';
import { LinkIcon, ListIcon } from './icons.tsx';
import { ListPicker, openPicker } from './ListPicker.tsx';
import { Media } from './Media.tsx';
import { Place } from './Place.tsx';
import { RichText } from './RichText.tsx';

interface Props {
  content: Extract<Content, { kind: 'buttons' | 'list' | 'link' | 'form' }>;
  /** Whether the options may still be chosen. Afterwards the visitor's own message says what was. */
  open: boolean;
  onChoose: (choice: Choice) => void;
}

export function Interactive({ content, open, onChoose }: Props) {
  const handset = useContext(HandsetContext);
  return (
    <>
      <div class="bubble">
        <Heading header={content.header} />
        <RichText text={content.text} />
        {content.footer && <p class="footer">{content.footer}</p>}
      </div>
      {open && content.kind === 'buttons' && (
        <div class="choices" role="group" aria-label={t.options}>
          {content.buttons.map((button) => (
            <button
              key={button.id}
              type="button"
              class="choice"
              onClick={() => onChoose({ type: 'button_reply', id: button.id, title: button.title })}
            >
              {button.title}
            </button>
          ))}
        </div>
      )}
      {open && content.kind === 'list' && <ListOpener content={content} onChoose={onChoose} />}
      {content.kind === 'link' && (
        <div class="choices">
          <Link label={content.label} href={content.href} />
        </div>
      )}
      {content.kind === 'form' && (
        <div class="choices">
          <button type="button" class="choice" disabled={!handset} onClick={() => handset?.openForm(content.parameters)}>
            {content.label}
          </button>
        </div>
      )}
    </>
  );
}

interface OpenerProps {
  content: Extract<Content, { kind: 'list' }>;
  onChoose: (choice: Choice) => void;
}

function ListOpener({ content, onChoose }: OpenerProps) {
  const picker = useRef<HTMLDialogElement>(null);
  const label = content.label || t.chooseOption;
  return (
    <div class="choices">
      <button type="button" class="choice" aria-haspopup="dialog" onClick={() => openPicker(picker.current)}>
        <ListIcon />
        {label}
      </button>
      <ListPicker
        dialog={picker}
        title={label}
        sections={content.sections}
        onPick={(picked) => onChoose({ type: 'list_reply', id: picked.id, title: picked.title })}
      />
    </div>
  );
}

export function Heading({ header }: { header: InteractiveHeader | null }) {
  if (header?.text) return <p class="heading">{header.text}</p>;
  if (header?.place) return <Place {...header.place} />;
  return header?.file ? <Media {...header.file} caption="" /> : null;
}

/** It stays: an address may be opened again. */
export function Link({ label, href: given }: { label: string; href: string }) {
  const href = webAddress(given);
  if (!href) return null;
  return (
    <a class="choice" href={href} target="_blank" rel="noopener noreferrer nofollow">
      <LinkIcon />
      {label || href}
      <span class="hidden"> ({t.newTab})</span>
    </a>
  );
}
