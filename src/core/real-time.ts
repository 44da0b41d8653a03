const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** A day of the calendar, `2027-01-31`. JavaScript takes 30 February for 2 March. */
export function isRealDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** A time of RFC 3339 that exists, `2027-01-31T12:00:00Z`: a day of the calendar, hours to 23, no leap second. */
export function isRealTime(text: string): boolean {
  const day = TIME.exec(text)?.[1];
  return day !== undefined && isRealDay(day);
}
