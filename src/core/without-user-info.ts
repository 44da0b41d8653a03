/** Name and password before the host of an address. */
const USER_INFO = /\/\/[^\s/@]*@/g;

/** Text of a forge without the credentials in its addresses. Servers leave them out themselves; one that did not must not make us keep them. */
export function withoutUserInfo(text: string): string {
  return text.replace(USER_INFO, '//');
}
