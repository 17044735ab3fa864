import { drawn, languageOf } from '../widget/options.ts';
import { TEXTS } from '../widget/texts.ts';
import { View } from '../widget/view.ts';
import { refusalsBy } from './refusals.ts';

// The looks are one object: fields change members of it, and the text is the body of a request with all of it. What is
// wrong is not shown.
const frame = document.querySelector('iframe');
const form = document.querySelector('form');
const text = form.elements.json;
const problem = document.getElementById('problem');
const copy = form.querySelector('button');
const copyName = copy.textContent;
const fields = [...form.elements].filter((field) => field !== text && field !== copy);
const nothing = () => {};
const launcher = new View({ toggle: nothing, close: nothing, dismiss: nothing });
let looks = {};
/** What a channel does not take, as soon as the description of the API is here. */
let refusals = () => [];
/** Whether the description of the API cannot be had. */
let unchecked = false;

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
    check();
    show();
  });
}

text.addEventListener('input', () => {
  let read;
  try {
    read = looksIn(JSON.parse(text.value || '{}'));
  } catch (error) {
    // Fields write the text anew: what they did not understand would be lost.
    allow(false);
    return complain(error.message);
  }
  looks = read;
  allow(true);
  for (const field of fields) field.value = looks[field.name] ?? '';
  check();
  show();
});

/** The looks in what was written: the body of a request, or the looks alone. */
function looksIn(written) {
  if (!isObject(written)) throw new Error('An object is expected');
  const { appearance, ...beside } = written;
  if (appearance === undefined) return written;
  const names = Object.keys(beside).join(', ');
  if (names) throw new Error(`${names}: move this into appearance, which has all that is shown here`);
  if (appearance !== null && !isObject(appearance)) throw new Error('appearance: expected an object');
  return appearance ?? {};
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function allow(fieldsWrite) {
  for (const field of fields) field.disabled = !fieldsWrite;
}

/** Tells what a channel does not take of the looks. */
function check() {
  complain(refusals(looks).join('\n'));
  if (unchecked) problem.textContent = 'The description of the API cannot be loaded: nothing is checked here.';
}

async function learn() {
  try {
    const answer = await fetch('/openapi.json');
    const { components } = await answer.json();
    refusals = refusalsBy(components);
  } catch {
    unchecked = true;
  }
  text.dispatchEvent(new Event('input'));
}

copy.addEventListener('click', async () => {
  text.select();
  // Pages that came without encryption from another machine may not write to the clipboard: the text is selected there.
  await navigator.clipboard?.writeText(text.value);
  copy.textContent = 'Copied';
  setTimeout(() => (copy.textContent = copyName), 2000);
});

text.value = JSON.stringify({ appearance: looks });
learn();
document.getElementById('corner').append(launcher.host);
form.addEventListener('submit', (event) => event.preventDefault());
window.addEventListener('message', (event) => {
  if (event.source === frame.contentWindow && event.data?.flowsdk === 1 && event.data.type === 'ready') show();
});
