/** What browsers record, the form that phones send first. */
const TYPES: readonly (readonly [type: string, ending: string])[] = [
  ['audio/ogg;codecs=opus', 'ogg'],
  ['audio/mp4;codecs=opus', 'm4a'],
  ['audio/mp4', 'm4a'],
  ['audio/webm;codecs=opus', 'webm'],
];
/** Enough for speech. */
const BITS_PER_SECOND = 32_000;

/** A voice message that is being recorded. */
export interface Recording {
  /** Ends it; `null` if nothing was recorded. */
  stop(): Promise<File | null>;
  /** Ends it for nothing. */
  discard(): void;
}

/** Returns the type that a browser records, and the ending of its files. */
export function recordedType(isSupported: (type: string) => boolean): readonly [type: string, ending: string] | undefined {
  return TYPES.find(([type]) => isSupported(type));
}

/** Returns whether this page can record. Browsers keep the microphone from pages without https. */
export function canRecord(): boolean {
  if (typeof MediaRecorder === 'undefined' || !navigator.mediaDevices?.getUserMedia) return false;
  return recordedType((type) => MediaRecorder.isTypeSupported(type)) !== undefined;
}

/** Asks for the microphone and begins to record. Fails where there is none, or the visitor gives none. */
export async function record(): Promise<Recording> {
  const [mimeType, ending] = recordedType((type) => MediaRecorder.isTypeSupported(type)) ?? ['', 'webm'];
  const sound = await navigator.mediaDevices.getUserMedia({ audio: true });
  const pieces: Blob[] = [];
  const recorder = new MediaRecorder(sound, { mimeType, audioBitsPerSecond: BITS_PER_SECOND });
  const ended = new Promise<void>((resolve) => recorder.addEventListener('stop', () => resolve(), { once: true }));
  recorder.addEventListener('dataavailable', (event) => pieces.push(event.data));
  recorder.start();
  const end = async () => {
    if (recorder.state !== 'inactive') recorder.stop();
    await ended;
    // The light of the microphone goes off.
    for (const track of sound.getTracks()) track.stop();
  };
  return {
    stop: async () => {
      await end();
      const content = new Blob(pieces, { type: mimeType });
      return content.size > 0 ? new File([content], `voice.${ending}`, { type: mimeType }) : null;
    },
    discard: () => void end(),
  };
}
