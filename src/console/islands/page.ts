// On every page: times in the reader's zone, with UTC at hand.

const PLAIN = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });
const UNITS: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Writes the times below an element in the reader's zone. Live rows are written again by whoever adds them. */
export function writeTimes(below: ParentNode): void {
  for (const time of below.querySelectorAll<HTMLTimeElement>('time[data-local]')) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const local = PLAIN.format(at);
    const isRelative = time.dataset['local'] === 'relative';
    const utc = `${time.dateTime.slice(0, 19).replace('T', ' ')} UTC`;
    time.title = isRelative ? `${local} (${utc})` : utc;
    time.textContent = isRelative ? ago(at) : local;
  }
}

function ago(at: Date): string {
  const seconds = (at.getTime() - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 1];
  return RELATIVE.format(Math.round(seconds / size), unit);
}

writeTimes(document);
setInterval(() => writeTimes(document), 30_000);
const zone = document.querySelector('[data-zone]');
if (zone)
  zone.textContent = `Times are in your zone (${Intl.DateTimeFormat().resolvedOptions().timeZone}); UTC is in the tooltip.`;
