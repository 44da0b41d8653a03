/** In the order in which they are looked for: most browsers also name those that they descend from. */
const BROWSERS: ReadonlyArray<readonly [sign: RegExp, name: string]> = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?Chrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const SYSTEMS: ReadonlyArray<readonly [sign: RegExp, name: string]> = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b|\bX11\b/, 'Linux'],
];

/** `Firefox on Linux`, from what a browser says of itself; a program that is no browser by its first word. */
export function browserOf(agent: string): string {
  const find = (all: typeof BROWSERS): string | undefined => all.find(([sign]) => sign.test(agent))?.[1];
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)];
  if (browser === undefined) return agent.split(/[ /]/, 1)[0] || 'not known';
  return system === undefined ? browser : `${browser} on ${system}`;
}
