import type { RefObject } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../i18n.ts';
import type { ListRow, ListSection } from '../protocol.ts';
import { CloseIcon } from './icons.tsx';

interface Props {
  dialog: RefObject<HTMLDialogElement | null>;
  title: string;
  sections: ListSection[];
  onPick: (row: ListRow) => void;
}

/**
 * The rows of a list message. Whether it is open is known by the dialog element alone: the browser tells of a close
 * later, so that a second record of it is wrong in between.
 */
export function ListPicker({ dialog, title, sections, onPick }: Props) {
  const titleId = useId();
  const close = () => dialog.current?.close();

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
      onClick={(event) => {
        // The backdrop belongs to the dialog element itself; everything visible lies in its child.
        if (event.target === dialog.current) close();
      }}
    >
      <div class="sheet-body">
        <header class="sheet-head">
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="icon-button" aria-label={t.close} onClick={() => close()}>
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
                    <button
                      type="button"
                      class="row"
                      onClick={() => {
                        close();
                        onPick(row);
                      }}
                    >
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

/** Closing it, also the browser's way, gives the focus back to where it was. */
export function openPicker(dialog: HTMLDialogElement | null): void {
  dialog?.showModal();
  rows(dialog)[0]?.focus();
}

function rows(dialog: HTMLDialogElement | null): HTMLElement[] {
  return [...(dialog?.querySelectorAll<HTMLElement>('.row') ?? [])];
}
