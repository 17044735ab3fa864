import { apiOf, makeCalls } from './api.ts';
import type { Looks } from './options.ts';
import { Widget } from './widget.ts';

const page = window as unknown as { flowsdk?: unknown };
// Asked for at once: later the browser does not tell any more which script runs.
const script = document.currentScript as (HTMLScriptElement & { flowsdkLooks?: Looks }) | null;
/** The server puts those of the channel before the script. */
const looks = script?.flowsdkLooks ?? {};
const { channel: named, ...options } = script?.dataset ?? {};
const channel = (script && new URL(script.src).searchParams.get('channel')) || named;

if (page.flowsdk && !Array.isArray(page.flowsdk)) console.warn('flowsdk: the widget is in the page already');
else if (!script || !channel) console.error('flowsdk: the address of the widget needs ?channel=');
else if (document.body) start(script.src, channel);
else document.addEventListener('DOMContentLoaded', () => start(script.src, channel));

function start(source: string, channelId: string): void {
  const widget = new Widget(new URL(`chat/${encodeURIComponent(channelId)}`, source), looks);
  widget.configure(options);
  const api = apiOf(widget);
  const waiting = page.flowsdk;
  page.flowsdk = api;
  makeCalls(api, waiting);
}
