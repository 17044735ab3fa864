import { drawn, languageOf } from '../widget/options.ts';
import { TEXTS } from '../widget/texts.ts';
import { View } from '../widget/view.ts';

// The looks are one object: fields change members of it, and the text is all of it. What is wrong is not shown.
const frame = document.querySelector('iframe');
const form = document.querySelector('form');
const text = form.elements.json;
const problem = document.getElementById('problem');
const copy = form.querySelector('button');
const fields = [...form.elements].filter((field) => field !== text && field !== copy);
const known = new Set([...fields.map((field) => field.name), 'launcher', 'texts', 'custom']);
const nothing = () => {};
const launcher = new View({ toggle: nothing, close: nothing, dismiss: nothing });
let looks = {};

function show() {
  frame.contentWindow.postMessage({ flowsdk: 1, type: 'looks', looks }, window.location.origin);
  const language = languageOf({}, looks);
  const options = drawn({}, looks, language);
  launcher.draw({ options, texts: TEXTS[language], open: false, unread: 0, greets: options.greeting !== '' });
}

function complain(message) {
  problem.textContent = message;
  text.setAttribute('aria-invalid', String(message !== ''));
}

for (const field of fields) {
  field.addEventListener('input', () => {
    if (!field.validity.valid) return complain(`${field.name}: ${field.validationMessage}`);
    const { [field.name]: _before, ...others } = looks;
    const value = field.type === 'number' ? field.valueAsNumber : field.value;
    looks = field.value === '' ? others : { ...looks, [field.name]: value };
    text.value = JSON.stringify(looks, null, 2);
    complain('');
    show();
  });
}

text.addEventListener('input', () => {
  let read;
  try {
    read = JSON.parse(text.value || '{}');
  } catch (error) {
    return complain(error.message);
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return complain('An object is expected');
  looks = read;
  for (const field of fields) field.value = looks[field.name] ?? '';
  complain(refused().join(', '));
  show();
});

// The names in the text that no field has, and those whose value a field does not take.
function refused() {
  const strange = Object.keys(looks).filter((name) => !known.has(name));
  const wrong = fields.filter(({ name, value, validity }) => {
    const written = looks[name] ?? '';
    return !validity.valid || String(written) !== value;
  });
  return [
    ...strange.map((name) => `${name} is not known: own keys go into custom`),
    ...wrong.map(({ name }) => `${name} has a value that is not taken`),
  ];
}

copy.addEventListener('click', async () => {
  text.select();
  // Pages that came without encryption from another machine may not write to the clipboard: the text is selected there.
  await navigator.clipboard?.writeText(text.value);
});

text.value = '{}';
document.body.append(launcher.host);
form.addEventListener('submit', (event) => event.preventDefault());
window.addEventListener('message', (event) => {
  if (event.source === frame.contentWindow && event.data?.flowsdk === 1 && event.data.type === 'ready') show();
});
