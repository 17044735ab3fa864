import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Chat } from '../components/Chat.tsx';
import { HandsetContext, type Handset } from '../components/handset.ts';
import type { FormParameters } from '../protocol.ts';
import { FormSheet } from './FormSheet.tsx';
import { Phone } from './phone.ts';
import { Template } from './Template.tsx';

const asked = new URLSearchParams(window.location.search);
const part = (name: string, otherwise: string) => asked.get(name)?.trim() || otherwise;
const number = encodeURIComponent(part('number', ''));
const phone = encodeURIComponent(part('phone', ''));
const app = new Phone(`/simulator/numbers/${number}`, `/phones/${phone}`, part('name', 'Ana'));

function Screen() {
  const [form, setForm] = useState<FormParameters | null>(null);
  const handset = useMemo<Handset>(() => ({ openForm: setForm, tap: (id, title) => app.tap(id, title), Template }), []);
  return (
    <HandsetContext.Provider value={handset}>
      <Chat app={app} />
      {form && <FormSheet phone={app} form={form} onClose={() => setForm(null)} />}
    </HandsetContext.Provider>
  );
}

const root = document.getElementById('app');
if (root) render(<Screen />, root);
void app.start();
