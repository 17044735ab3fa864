import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Chat } from '../components/Chat.tsx';
import { FormOpener } from '../components/forms.ts';
import type { FormParameters } from '../protocol.ts';
import { FormSheet } from './FormSheet.tsx';
import { Phone } from './phone.ts';

const asked = new URLSearchParams(window.location.search);
const part = (name: string, otherwise: string) => asked.get(name)?.trim() || otherwise;
const number = encodeURIComponent(part('number', ''));
const phone = encodeURIComponent(part('phone', ''));
const app = new Phone(`/simulator/numbers/${number}`, `/phones/${phone}`, part('name', 'Ana'));

function Screen() {
  const [form, setForm] = useState<FormParameters | null>(null);
  return (
    <FormOpener.Provider value={setForm}>
      <Chat app={app} />
      {form && <FormSheet phone={app} form={form} onClose={() => setForm(null)} />}
    </FormOpener.Provider>
  );
}

const root = document.getElementById('app');
if (root) render(<Screen />, root);
void app.start();
