import type { EventName, Events } from './events.ts';
import type { TokenSource, Widget } from './widget.ts';

/** `window.flowsdk`. */
export interface Api {
  open(): void;
  close(): void;
  identify(tokens: TokenSource): void;
  configure(options: Readonly<Record<string, unknown>>): void;
  on<Name extends EventName>(name: Name, listener: (event: Events[Name]) => void): () => void;
  /** Makes a call given as a list: what pages do that cannot know whether the script has loaded. */
  push(call: readonly [name: string, ...args: unknown[]]): void;
}

export function apiOf(widget: Widget): Api {
  const calls = {
    open: () => widget.open(),
    close: () => widget.close(),
    identify: (tokens: TokenSource) => widget.identify(tokens),
    configure: (options: Readonly<Record<string, unknown>>) => widget.configure(options),
    on: <Name extends EventName>(name: Name, listener: (event: Events[Name]) => void) => widget.events.on(name, listener),
  };
  return {
    ...calls,
    push([name, ...args]) {
      if (!Object.hasOwn(calls, name)) throw new TypeError(`flowsdk has no ${name}`);
      (calls[name as keyof typeof calls] as (...args: unknown[]) => unknown)(...args);
    },
  };
}

/** Makes the calls that waited for the script. One that is wrong keeps no other from being made. */
export function makeCalls(api: Api, waiting: unknown): void {
  for (const call of Array.isArray(waiting) ? waiting : []) {
    try {
      api.push(call as [string]);
    } catch (error) {
      console.error('flowsdk:', error);
    }
  }
}
