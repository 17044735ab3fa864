import { render } from 'preact';
import { Chat } from '../components/Chat.tsx';
import { Preview } from './preview.ts';

const preview = new Preview();
const root = document.getElementById('app');
if (root) render(<Chat app={preview} />, root);
if (window.parent !== window) preview.listen(window);
