import { Validator } from '@cfworker/json-schema';
import { drawn, languageOf } from '../widget/options.ts';
import { TEXTS } from '../widget/texts.ts';
import { View } from '../widget/view.ts';

// The looks are one object: fields change members of it, and the text is the body of a request with all of it. What is
// wrong is not shown.
const frame = document.querySelector('iframe');
const form = document.querySelector('form');
const text = form.elements.json;
const problem = document.getElementById('problem');
const copy = form.querySelector('button');
const fields = [...form.elements].filter((field) => field !== text && field !== copy);
/** Errors that only say that there is one inside. */
const OUTER = new Set(['$ref', 'properties', 'additionalProperties', 'oneOf']);
const nothing = () => {};
const launcher = new View({ toggle: nothing, close: nothing, dismiss: nothing });
let looks = {};
/** Knows what a channel takes, as soon as the description of the API is here. */
let validator = null;

function show() {
  frame.contentWindow.postMessage({ flowsdk: 1, type: 'looks', looks }, window.location.origin);
  const language = languageOf({}, looks);
  const options = drawn({}, looks, language);
  launcher.draw({ options, language, texts: TEXTS[language], open: false, unread: 0, greets: options.greeting !== '' });
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
    text.value = JSON.stringify({ appearance: looks }, null, 2);
    complain(refused().join(', '));
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
  if (!isObject(read)) return complain('An object is expected');
  // Also the looks without the body around them.
  looks = Object.keys(read).join() === 'appearance' && isObject(read.appearance) ? read.appearance : read;
  for (const field of fields) field.value = looks[field.name] ?? '';
  complain(refused().join(', '));
  show();
});

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a channel does not take of the looks. */
function refused() {
  const errors = validator?.validate(looks).errors ?? [];
  // Of an alternative, the error inside is told, and not that null would do.
  const inner = errors.filter(({ keyword, error }) => !OUTER.has(keyword) && !error.endsWith('Expected "null".'));
  return inner.map(({ keyword, instanceLocation, error }) => {
    const name = instanceLocation.slice('#/'.length).replaceAll('/', '.');
    if (keyword === 'pattern') return `${name} has a value that is not taken`;
    if (keyword !== 'false') return `${name}: ${error}`;
    return name.includes('.') ? `${name} is not known` : `${name} is not known: own keys go into custom`;
  });
}

async function learn() {
  const { components } = await (await fetch('/openapi.json')).json();
  validator = new Validator({ $ref: '#/components/schemas/Appearance', components }, '2020-12', false);
  text.dispatchEvent(new Event('input'));
}

copy.addEventListener('click', async () => {
  text.select();
  // Pages that came without encryption from another machine may not write to the clipboard: the text is selected there.
  await navigator.clipboard?.writeText(text.value);
  copy.textContent = 'Copied';
  setTimeout(() => (copy.textContent = 'Copy the JSON'), 2000);
});

text.value = JSON.stringify({ appearance: looks });
learn();
document.body.append(launcher.host);
form.addEventListener('submit', (event) => event.preventDefault());
window.addEventListener('message', (event) => {
  if (event.source === frame.contentWindow && event.data?.flowsdk === 1 && event.data.type === 'ready') show();
});
