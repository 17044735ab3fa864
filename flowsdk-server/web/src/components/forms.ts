import { createContext } from 'preact';
import type { FormParameters } from '../protocol.ts';

/** Opens a form of the phone provider. Pages without phones have none, and show such a button as out of use. */
export const FormOpener = createContext<((form: FormParameters) => void) | null>(null);
