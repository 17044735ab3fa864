import { LANGUAGES, spoken } from '../languages.ts';
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
const shownIn = document.getElementById('shown-in');
let looks = {};
/** Other fields of the channel, in the body that was written. */
let beside = {};
/** Whether the looks stand in `appearance`, as a channel takes them. */
let wrapped = true;
/** What a channel does not take, as soon as the description of the API is here. */
let refusals = () => [];
/** Whether a key is one of the looks, as far as is known. */
let isLook = () => true;
/** Whether the description of the API cannot be had. */
let unchecked = false;

function show() {
  const shown = shownIn.value ? { ...looks, language: shownIn.value } : looks;
  frame.contentWindow.postMessage({ flowsdk: 1, type: 'looks', looks: shown }, window.location.origin);
  const language = languageOf({}, shown);
  const options = drawn({}, shown, language);
  launcher.draw({ options, language, texts: TEXTS[language], open: false, unread: 0, greets: options.greeting !== '' });
}

/** Tells what is wrong with the JSON, and what else there is to say. */
function complain(problems, notes = []) {
  problem.textContent = [...new Set([...problems, ...notes])].join('\n');
  text.setAttribute('aria-invalid', String(problems.length > 0));
}

for (const field of fields) {
  field.addEventListener('input', () => {
    if (!field.validity.valid) return check();
    const { [field.name]: _before, ...others } = looks;
    const value = field.type === 'number' ? field.valueAsNumber : field.value;
    looks = field.value === '' ? others : { ...looks, [field.name]: value };
    write();
    check();
    show();
  });
}

/** What a channel says of the value of a field, and else the browser. */
function wrong(field) {
  const value = field.type === 'number' ? field.valueAsNumber : field.value;
  const refused = refusals({ [field.name]: value });
  return refused[0] ?? `${field.name}: ${field.validationMessage}`;
}

/** Writes the body of a request with the looks. */
function write() {
  text.value = JSON.stringify({ ...beside, appearance: looks }, null, 2);
  wrapped = true;
}

shownIn.addEventListener('change', show);
text.addEventListener('input', () => {
  let read;
  try {
    read = looksIn(JSON.parse(text.value || '{}'));
  } catch (error) {
    // Fields write the text anew: what they did not understand would be lost.
    allow(false);
    return complain([error.message, 'The fields are locked until the JSON is right.']);
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
  const { appearance, ...others } = written;
  wrapped = appearance !== undefined || Object.keys(written).length === 0;
  beside = wrapped ? others : {};
  if (!wrapped) return written;
  const misplaced = Object.keys(others).filter((name) => isLook(name));
  if (misplaced.length > 0) throw new Error(`${misplaced.join(', ')}: move this into appearance`);
  if (appearance != null && !isObject(appearance)) throw new Error('appearance: expected an object');
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
  const problems = refusals(looks);
  if (!wrapped) problems.unshift('A channel takes this inside of appearance: { "appearance": { … } }');
  const notes = fields.filter((field) => !field.validity.valid).map(wrong);
  if (looks.language && typeof looks.language === 'string' && !spoken(looks.language)) {
    notes.push(`language: the page does not speak ${looks.language}, and takes the visitor's. It speaks ${LANGUAGES.join(', ')}`);
  }
  if (typeof looks.avatarUrl === 'string' && /^http:/i.test(looks.avatarUrl)) {
    notes.push('avatarUrl: the page shows pictures over https only');
  }
  if (unchecked) notes.push('The description of the API cannot be loaded: what a channel takes is not checked here');
  complain(problems, notes);
}

async function learn() {
  try {
    const answer = await fetch('/openapi.json');
    const { components } = await answer.json();
    refusals = refusalsBy(components);
    isLook = (name) => Object.hasOwn(components.schemas.Appearance.properties, name);
  } catch {
    unchecked = true;
  }
  // Fields that somebody is typing into stay as they are.
  if (text.getAttribute('aria-invalid') === 'true') text.dispatchEvent(new Event('input'));
  else check();
}

copy.addEventListener('click', async () => {
  text.select();
  // Pages that came without encryption from another machine may not write to the clipboard: the text is selected there.
  await navigator.clipboard?.writeText(text.value);
  copy.textContent = 'Copied';
  setTimeout(() => (copy.textContent = copyName), 2000);
});

write();
learn();
document.getElementById('corner').append(launcher.host);
form.addEventListener('submit', (event) => event.preventDefault());
window.addEventListener('message', (event) => {
  if (event.source === frame.contentWindow && event.data?.flowsdk === 1 && event.data.type === 'ready') show();
});
