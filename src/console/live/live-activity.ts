import type { Control } from '../../api/operations/index.js';
import type { LiveSource } from './hub.js';

/** Nothing yet: the timeline's operation comes with its page. */
export function liveActivity(_control: () => Control | null): LiveSource<unknown> {
  return { news: async () => ({ mark: '', rows: [] }), idOf: () => '', tell: () => null };
}
