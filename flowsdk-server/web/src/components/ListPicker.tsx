import { useEffect, useId, useRef } from 'preact/hooks';
import { t } from '../i18n.ts';
import type { ListRow, ListSection } from '../protocol.ts';
import { CloseIcon } from './icons.tsx';

interface Props {
  title: string;
  sections: ListSection[];
  onPick: (row: ListRow) => void;
  onClose: () => void;
}

export function ListPicker({ title, sections, onPick, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const picked = useRef<ListRow | null>(null);
  const titleId = useId();

  // Closing it the browser's way gives the focus back to where it was.
  const close = (row: ListRow | null) => {
    picked.current = row;
    dialog.current?.close();
  };

  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    rows(element)[0]?.focus();
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const all = rows(dialog.current);
    const at = all.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    all[(next + all.length) % all.length]?.focus();
  };

  return (
    <dialog
      ref={dialog}
      class="sheet"
      aria-labelledby={titleId}
      onKeyDown={onKeyDown}
      onClose={() => (picked.current ? onPick(picked.current) : onClose())}
      onClick={(event) => {
        // The backdrop belongs to the dialog element itself; everything visible lies in its child.
        if (event.target === dialog.current) close(null);
      }}
    >
      <div class="sheet-body">
        <header class="sheet-head">
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="icon-button" aria-label={t.close} onClick={() => close(null)}>
            <CloseIcon />
          </button>
        </header>
        <div class="sheet-rows">
          {sections.map((section, at) => (
            <section key={at}>
              {section.title && <h3>{section.title}</h3>}
              <ul>
                {section.rows.map((row) => (
                  <li key={row.id}>
                    <button type="button" class="row" onClick={() => close(row)}>
                      <span class="row-title">{row.title}</span>
                      {row.description && <span class="row-text">{row.description}</span>}
                    </button>
                  </li>
                ))}
              </ul>
            </section>
          ))}
        </div>
      </div>
    </dialog>
  );
}

function rows(dialog: HTMLDialogElement | null): HTMLElement[] {
  return [...(dialog?.querySelectorAll<HTMLElement>('.row') ?? [])];
}
