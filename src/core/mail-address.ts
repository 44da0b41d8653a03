/** Labels of letters, digits and "-", at least two of them: no raw address and no name without a dot. */
const DOMAIN = /^(?=.{4,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)+$/i;
/** The plain form of an address, which needs no quotes: nothing in it can end a header or a command of SMTP. */
const LOCAL_PART = /^(?=.{1,64}$)[a-z0-9_+'=~&/-]+(\.[a-z0-9_+'=~&/-]+)*$/i;

export function isMailDomain(text: string): boolean {
  return DOMAIN.test(text);
}

/** `name@host.example`, and nothing around it. */
export function isMailAddress(text: string): boolean {
  const cut = text.lastIndexOf('@');
  return cut > 0 && LOCAL_PART.test(text.slice(0, cut)) && isMailDomain(text.slice(cut + 1));
}

/** The addresses of a list with commas or spaces between them, each once. */
export function mailAddressesIn(list: string): readonly string[] {
  return [...new Set(list.split(/[\s,]+/).filter((address) => address !== ''))];
}

/** Whether one of the entries is this address, or its domain. */
export function isMailAllowed(address: string, entries: readonly string[]): boolean {
  const whole = address.toLowerCase();
  const domain = whole.slice(whole.lastIndexOf('@') + 1);
  return entries.some((entry) => [whole, domain].includes(entry.toLowerCase()));
}
