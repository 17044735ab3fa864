import { parseColour } from '../colour.ts';

export interface Options {
  position: 'left' | 'right';
  /** The background of the launcher, as `#rgb` or `#rrggbb`. */
  color: string;
  /** A text beside the launcher; none where it is empty. */
  greeting: string;
  /** A tag such as `es`; the channel's language or the visitor's where it is empty. */
  language: string;
  /** The name of the launcher for screen readers and as its tooltip. */
  label: string;
}

export const DEFAULTS: Options = { position: 'right', color: '#3558e6', greeting: '', language: '', label: '' };

/** Takes over what is usable of `given`, and names the rest to `complain`. */
export function withOptions(
  options: Options,
  given: Readonly<Record<string, unknown>>,
  complain: (name: string, value: unknown) => void,
): Options {
  const taken: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (isUsable(name, value)) taken[name] = value;
    else complain(name, value);
  }
  return { ...options, ...taken };
}

function isUsable(name: string, value: unknown): boolean {
  if (!Object.hasOwn(DEFAULTS, name) || typeof value !== 'string') return false;
  if (name === 'position') return value === 'left' || value === 'right';
  return name !== 'color' || parseColour(value) !== null;
}
