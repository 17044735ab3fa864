import { render } from 'preact';
import { ChatApp } from './app.ts';
import { Chat } from './components/Chat.tsx';

const page = new URL(window.location.href);
const channelId = decode(page.pathname.split('/').filter(Boolean).at(-1) ?? '');
const token = page.searchParams.get('t');

const app = new ChatApp(channelId, token || null);
const root = document.getElementById('app');
if (root) render(<Chat app={app} />, root);
void app.start();

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
