/** The beginning of a text, of so many characters, and `…` where something is left out. */
export function shorten(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
