/** `*` within a path segment, `**` across, `?`, `{a,b}`, `[abc]`; without regard to case when asked. */
export function matchesGlob(pattern: string, text: string, ignoreCase = false): boolean {
  const source = pattern.replace(/\*\*\/?|[*?{},]|\[!?[^\]]+\]|[.+^$()|\\/\]]/g, (part) => {
    switch (part) {
      case '**':
        return '.*';
      case '**/':
        return '(?:.*/)?';
      case '*':
        return '[^/]*';
      case '?':
        return '[^/]';
      case '{':
        return '(?:';
      case '}':
        return ')';
      case ',':
        return '|';
      default:
        return part.startsWith('[') ? part.replace('[!', '[^') : `\\${part}`;
    }
  });
  return new RegExp(`^${source}$`, ignoreCase ? 'i' : '').test(text);
}
