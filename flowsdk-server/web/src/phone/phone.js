const form = document.querySelector('form');
const frame = document.querySelector('iframe');
const status = document.querySelector('[role=status]');

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

form.addEventListener('click', async (event) => {
  const button = event.target instanceof Element ? event.target.closest('[data-fault]') : null;
  if (!button) return;
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch('/simulator/faults', { method: 'POST', headers, body: button.dataset.fault }).catch(() => null);
  status.textContent = answer?.ok ? `The next call ${button.textContent}.` : 'The simulator does not answer.';
});

if (form.checkValidity()) take();
