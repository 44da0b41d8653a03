const DAY = /^(\d{4})-(\d\d)-(\d\d)$/;
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** A time as people write it, or a day (its noon in UTC); null when it is neither. */
export function parseTime(text: string): Date | null {
  const day = DAY.exec(text);
  if (!day && !RFC_3339.test(text)) return null;
  const time = new Date(day ? `${text}T12:00:00Z` : text);
  if (Number.isNaN(time.getTime())) return null;
  // Date accepts 31 February by rolling over.
  return !day || time.toISOString().startsWith(text) ? time : null;
}

/** RFC 3339 in UTC, without a fraction when it is whole. */
export function formatTime(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}
