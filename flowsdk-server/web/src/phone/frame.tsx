import { render } from 'preact';
import { Chat } from '../components/Chat.tsx';
import { Phone } from './phone.ts';

const asked = new URLSearchParams(window.location.search);
const part = (name: string, otherwise: string) => asked.get(name)?.trim() || otherwise;
const number = encodeURIComponent(part('number', ''));
const phone = encodeURIComponent(part('phone', ''));
const app = new Phone(`/simulator/numbers/${number}/phones/${phone}`, part('name', 'Ana'));
const root = document.getElementById('app');
if (root) render(<Chat app={app} />, root);
void app.start();
