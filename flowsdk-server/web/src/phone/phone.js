const form = document.querySelector('form');
const frame = document.querySelector('iframe');
const status = document.querySelector('[role=status]');
const call = document.querySelector('select');

/** Shows the phone that the form names; a reload shows it again. */
function take() {
  const asked = new URLSearchParams(new FormData(form));
  history.replaceState(null, '', `?${asked}`);
  frame.src = `/simulator/phone?${asked}`;
}

const given = new URLSearchParams(location.search);
for (const name of ['number', 'phone', 'name']) {
  if (given.get(name)) form.elements[name].value = given.get(name);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  take();
});

async function tell(path, body, done) {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }).catch(() => null);
  status.textContent = answer?.ok ? done : 'The simulator does not answer.';
}

form.addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('[data-fault], [data-limits]') : null;
  if (!button) return;
  const { fault, limits } = button.dataset;
  const words = button.textContent;
  if (limits) void tell('/simulator/limits', JSON.parse(limits), `From now on ${words}.`);
  const about = call.selectedOptions[0].textContent;
  if (fault) void tell('/simulator/faults', { ...JSON.parse(fault), call: call.value }, `The next call about ${about} ${words}.`);
});

if (form.checkValidity()) take();
