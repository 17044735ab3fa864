import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n.ts';
import type { Recording } from '../voice.ts';
import { CloseIcon, SendIcon } from './icons.tsx';

/** It is sent then. */
const LONGEST_SECONDS = 600;

interface Props {
  recording: Recording;
  /** `null` sends nothing. */
  onEnd: (file: File | null) => void;
}

/** Stands in place of the field while a voice message is recorded. */
export function Recorder({ recording, onEnd }: Props) {
  const [seconds, setSeconds] = useState(0);
  const sendButton = useRef<HTMLButtonElement>(null);
  const isOver = useRef(false);
  const end = async (isSent: boolean) => {
    if (isOver.current) return;
    isOver.current = true;
    if (!isSent) recording.discard();
    onEnd(isSent ? await recording.stop() : null);
  };
  useEffect(() => {
    sendButton.current?.focus();
    const timer = setInterval(() => setSeconds((now) => now + 1), 1_000);
    return () => {
      clearInterval(timer);
      // The page goes away.
      if (!isOver.current) recording.discard();
    };
  }, [recording]);
  useEffect(() => {
    if (seconds >= LONGEST_SECONDS) void end(true);
  }, [seconds]);

  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return (
    <>
      <button type="button" class="attach" aria-label={t.discard} title={t.discard} onClick={() => void end(false)}>
        <CloseIcon />
      </button>
      <span class="recording" role="timer" aria-label={t.recording}>
        {time}
      </span>
      <button ref={sendButton} type="button" class="send" aria-label={t.send} title={t.send} onClick={() => void end(true)}>
        <SendIcon />
      </button>
    </>
  );
}
