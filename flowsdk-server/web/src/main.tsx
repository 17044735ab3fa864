import { render } from 'preact';
import { ChatApp, type Around } from './app.ts';
import { Chat } from './components/Chat.tsx';
import { WIDGET_FRAGMENT } from './embedding.ts';
import { Host } from './host.ts';

const page = new URL(window.location.href);
const channelId = decode(page.pathname.split('/').filter(Boolean).at(-1) ?? '');

if (page.hash === WIDGET_FRAGMENT && window.parent !== window) {
  Host.greet(window, (hello, host) => start(hello.token, host && { host, hello }));
} else start(page.searchParams.get('t') || null, null);

function start(token: string | null, around: Around | null): void {
  const app = new ChatApp(channelId, token, around);
  const root = document.getElementById('app');
  if (root) render(<Chat app={app} />, root);
  void app.start();
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
