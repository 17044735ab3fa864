import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { acceptOf } from '../files.ts';
import { t } from '../i18n.ts';
import { TEXT_LIMIT, type Attachments } from '../protocol.ts';
import { canRecord, record, type Recording } from '../voice.ts';
import { AttachIcon, MicrophoneIcon, SendIcon } from './icons.tsx';
import { Recorder } from './Recorder.tsx';

const COUNTER_FROM = TEXT_LIMIT - 300;
const TALLEST_PX = 140;

interface Props {
  placeholder: string;
  attachments: Attachments | null;
  onSend: (text: string) => void;
  onFile: (file: File) => void;
  onTyping: () => void;
}

export function Composer({ placeholder, attachments, onSend, onFile, onTyping }: Props) {
  const [text, setText] = useState('');
  const [recording, setRecording] = useState<Recording | null>(null);
  const [hasNoMicrophone, setHasNoMicrophone] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const id = useId();
  // The server counts characters; an emoji is one of them although it takes two places in a string.
  const length = text.length > COUNTER_FROM ? [...text.trim()].length : text.length;
  const left = TEXT_LIMIT - length;
  const sendable = text.trim() !== '' && left >= 0;
  const records = text === '' && attachments?.kinds.includes('audio') && canRecord();

  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = 'auto';
    const border = element.offsetHeight - element.clientHeight;
    element.style.height = `${Math.min(element.scrollHeight + border, TALLEST_PX)}px`;
    element.style.overflowY = element.scrollHeight > TALLEST_PX ? 'auto' : 'hidden';
  }, [text]);

  useEffect(() => {
    // In a frame the focus belongs to the page around it.
    if (window.parent === window && window.matchMedia('(pointer: fine)').matches) field.current?.focus();
  }, []);

  useEffect(() => {
    if (!recording) return undefined;
    // The field is there again, and takes the focus from the button that goes.
    return () => {
      if (window.matchMedia('(pointer: fine)').matches) field.current?.focus();
    };
  }, [recording]);

  const send = () => {
    if (!sendable) return;
    onSend(text.trim());
    setText('');
    field.current?.focus();
  };

  const startRecording = async () => {
    setHasNoMicrophone(false);
    try {
      setRecording(await record());
    } catch {
      setHasNoMicrophone(true);
    }
  };
  const endRecording = (file: File | null) => {
    if (file) onFile(file);
    setRecording(null);
  };

  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="hidden" for={`${id}-text`}>
        {t.messageLabel}
      </label>
      <div class="field">
        {recording ? (
          <Recorder recording={recording} onEnd={endRecording} />
        ) : (
          <>
            {attachments && (
              <>
                <input
                  ref={files}
                  class="files"
                  type="file"
                  hidden
                  multiple
                  accept={acceptOf(attachments)}
                  onChange={(event) => {
                    for (const file of event.currentTarget.files ?? []) onFile(file);
                    event.currentTarget.value = '';
                  }}
                />
                <button
                  type="button"
                  class="attach"
                  aria-label={t.attach}
                  title={t.attach}
                  onClick={() => files.current?.click()}
                >
                  <AttachIcon />
                </button>
              </>
            )}
            <textarea
              ref={field}
              id={`${id}-text`}
              class="composer-text"
              rows={1}
              value={text}
              placeholder={placeholder}
              enterkeyhint="send"
              autocomplete="off"
              aria-describedby={`${id}-keys ${id}-left`}
              aria-invalid={left < 0}
              onInput={(event) => {
                setText(event.currentTarget.value);
                if (event.currentTarget.value.trim()) onTyping();
              }}
              onKeyDown={(event) => {
                // While an input method composes, Enter belongs to it.
                if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
                event.preventDefault();
                send();
              }}
            />
            {records ? (
              <button
                type="button"
                class="attach"
                aria-label={t.record}
                title={t.record}
                onClick={() => void startRecording()}
              >
                <MicrophoneIcon />
              </button>
            ) : (
              <button
                type="submit"
                class="send"
                aria-label={t.send}
                title={t.send}
                disabled={!sendable}
                // Taking the focus from the field would fold the keyboard of a phone.
                onPointerDown={(event) => event.preventDefault()}
              >
                <SendIcon />
              </button>
            )}
          </>
        )}
      </div>
      <span id={`${id}-keys`} class="hidden">
        {t.keysHint}
      </span>
      <span id={`${id}-left`} class={left < 0 ? 'counter over' : 'counter'} aria-live="polite">
        {length > COUNTER_FROM ? t.charsLeft(left) : hasNoMicrophone ? t.noMicrophone : ''}
      </span>
    </form>
  );
}
