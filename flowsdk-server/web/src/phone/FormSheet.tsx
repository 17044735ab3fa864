import { useEffect, useRef, useState } from 'preact/hooks';
import { CloseIcon } from '../components/icons.tsx';
import type { FormParameters } from '../protocol.ts';
import { SafeStorage } from '../storage.ts';
import { asksEndpoint, firstScreen, questionOf, replyOf, stepOf, valueOf, type Question, type Step } from './forms.ts';
import type { Phone } from './phone.ts';

interface Props {
  phone: Phone;
  form: FormParameters;
  onClose: () => void;
}

interface Field {
  name: string;
  value: string;
}

const EMPTY: Field = { name: '', value: '' };

const storage = new SafeStorage(() => window.localStorage);

/**
 * A form that the contact fills in. The simulator has no screens of forms, which are in the provider's console: it shows
 * what a screen is given, and the contact types the fields.
 */
export function FormSheet({ phone, form, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const remembered = `simulator-form-${String(form.flow_id)}`;
  const [endpoint, setEndpoint] = useState(() => {
    const known = storage.read(remembered);
    return typeof known === 'string' ? known : phone.formsEndpoint;
  });
  const [screen, setScreen] = useState(() => (asksEndpoint(form) ? null : firstScreen(form)));
  const [problem, setProblem] = useState('');
  const [fields, setFields] = useState<Field[]>([EMPTY]);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);

  const filled = () =>
    Object.fromEntries(fields.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), valueOf(value)]));

  const send = async (answers: Record<string, unknown>) => {
    await phone.reply(String(form.flow_token), replyOf(form, answers));
    onClose();
  };
  const ask = async (question: Question) => {
    setBusy(true);
    const next = await phone
      .askForm(endpoint, questionOf(form, question))
      .then(stepOf, (error: unknown): Step => ({ kind: 'refused', why: String(error) }));
    setBusy(false);
    setProblem(next.kind === 'refused' ? next.why : '');
    if (next.kind === 'sent') await send(next.answers);
    if (next.kind !== 'screen') return;
    setScreen(next);
    setFields([EMPTY]);
  };
  const submit = () => {
    if (!asksEndpoint(form)) return send(filled());
    storage.write(remembered, endpoint);
    if (screen) return ask({ action: 'data_exchange', screen: screen.screen, data: filled() });
    return ask({ action: 'INIT' });
  };
  const change = (at: number, changed: Partial<Field>) =>
    setFields(fields.map((field, place) => (place === at ? { ...field, ...changed } : field)));

  return (
    <dialog ref={dialog} class="sheet" aria-labelledby="form-title" onClose={onClose}>
      <form
        class="sheet-body"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <header class="sheet-head">
          <h2 id="form-title">{String(form.flow_cta ?? 'Form')}</h2>
          <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
            <CloseIcon />
          </button>
        </header>
        <div class="form-fields">
          {!screen && (
            <label>
              Endpoint, as in the provider's console
              <input type="url" required value={endpoint} onInput={(event) => setEndpoint(event.currentTarget.value)} />
            </label>
          )}
          {problem && <p role="alert">The endpoint answered {problem}</p>}
          {screen && (
            <>
              <p>
                Screen <strong>{screen.screen || '(the first)'}</strong>
              </p>
              {Object.keys(screen.data).length > 0 && <pre>{JSON.stringify(screen.data, null, 2)}</pre>}
              {fields.map((field, at) => (
                <div key={at} class="form-field">
                  <input
                    aria-label="Name of the field"
                    placeholder="field"
                    value={field.name}
                    onInput={(event) => change(at, { name: event.currentTarget.value })}
                  />
                  <input
                    aria-label="Value of the field"
                    placeholder="value"
                    value={field.value}
                    onInput={(event) => change(at, { value: event.currentTarget.value })}
                  />
                </div>
              ))}
              <button type="button" class="choice" onClick={() => setFields([...fields, EMPTY])}>
                Another field
              </button>
            </>
          )}
          {screen && asksEndpoint(form) && (
            <button type="button" class="choice" disabled={isBusy} onClick={() => void ask({ action: 'BACK', screen: screen.screen, data: filled() })}>
              Back
            </button>
          )}
          <button type="submit" class="choice main" disabled={isBusy}>
            {asksEndpoint(form) ? (screen ? 'Continue' : 'Open') : 'Send'}
          </button>
        </div>
      </form>
    </dialog>
  );
}
