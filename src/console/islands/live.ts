// A table that grows at its head while one looks: `<div data-live="/live?…" data-live-table="ID">`, with a button that stops it.
import { writeTimes } from './page.js';

const MOST_ROWS = 200;

interface Row {
  readonly id: string;
  readonly html: string;
}

for (const place of document.querySelectorAll<HTMLElement>('[data-live]')) start(place);

function start(place: HTMLElement): void {
  const statusLine = place.querySelector<HTMLElement>('[data-live-said]');
  const button = place.querySelector<HTMLButtonElement>('button');
  const table = document.getElementById(place.dataset['liveTable'] ?? '');
  const body = table?.querySelector('tbody');
  if (!statusLine || !button) return;
  place.hidden = false;
  let stream: EventSource | null = null;

  /** Rows that came while the pointer or the focus was in the table: what somebody is about to click does not move, and the focus is not lost. */
  const waiting: Row[] = [];
  const show = (): void => {
    if (!body) return;
    if (body.matches(':hover, :focus-within')) return say('open', 'Live. New rows wait until you leave the table.');
    for (const row of waiting.splice(0)) put(body, row);
    while (body.rows.length > MOST_ROWS) body.deleteRow(-1);
    say('open', 'Live');
  };
  const showWaiting = (): void => void (waiting.length > 0 && show());
  body?.addEventListener('pointerleave', showWaiting);
  // While it moves on, nothing has the focus yet.
  body?.addEventListener('focusout', () => setTimeout(showWaiting));

  const say = (state: string, text: string): void => {
    place.dataset['state'] = state;
    statusLine.textContent = text;
  };
  const stop = (state: string, text: string): void => {
    stream?.close();
    stream = null;
    button.textContent = 'Go on';
    say(state, text);
  };
  const open = (): void => {
    stream = new EventSource(place.dataset['live'] ?? '/live');
    button.textContent = 'Stop';
    say('opening', 'Connecting…');
    stream.addEventListener('open', () => say('open', 'Live'));
    stream.addEventListener('still-here', () => say('open', 'Live'));
    stream.addEventListener('rows', (event: MessageEvent<string>) => {
      // An empty list has no table yet.
      if (!body) return location.reload();
      const rows = JSON.parse(event.data) as Row[];
      // The newest is the first of them.
      waiting.push(...rows.reverse());
      show();
    });
    stream.addEventListener('over', () => stop('lost', 'Your session has ended. Log in again.'));
    stream.addEventListener('error', () => {
      if (stream?.readyState === EventSource.CLOSED) stop('lost', 'The timeline is closed. Load the page again.');
      else say('lost', 'Connecting again…');
    });
  };
  button.addEventListener('click', () => (stream ? stop('stopped', 'Stopped') : open()));
  open();
}

/** In the place of the row of this id, or before the others. */
function put(body: HTMLTableSectionElement, { id, html }: Row): void {
  const holder = document.createElement('tbody');
  holder.innerHTML = html;
  const row = holder.querySelector('tr');
  if (!row) return;
  row.id = `row-${id}`;
  const before = document.getElementById(row.id);
  if (before?.innerHTML === row.innerHTML) return;
  writeTimes(row);
  if (before) return before.replaceWith(row);
  row.classList.add('is-new');
  setTimeout(() => row.classList.remove('is-new'), 3_000);
  body.prepend(row);
}
