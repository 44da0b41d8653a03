import type { ForgeClient } from '../../forge/forge-client.js';
import type { Contents } from '../../core/objects/git.js';
import { orMissing, whereOffered } from '../support/where-offered.js';

interface Asked {
  readonly owner: string;
  readonly repo: string;
  readonly files: readonly string[];
  readonly ref: string | undefined;
}

/** A file as rules see it: `content` is text, `encoding` says `utf-8`; both null when it is too large, binary or no file. */
type FileText = Omit<Contents, 'content' | 'encoding'> & { content: string | null; encoding: 'utf-8' | null };

/** Op 5, or one call per file on a forge that has none (Forgejo). Contents are decoded once, here. */
export async function readFiles(
  forge: Pick<ForgeClient, 'getFiles'> & Partial<Pick<ForgeClient, 'getContents'>>,
  { files, ref, ...where }: Asked,
): Promise<Array<FileText | null>> {
  const paths = [...files];
  if (paths.length === 0) return [];
  const { getContents } = forge;
  const askAll: ForgeClient['getFiles'] = (args) => forge.getFiles(args);
  const all = { ...where, ref, body: { files: paths } };
  const together = getContents ? await whereOffered(askAll, (ask) => ask(all)) : await askAll(all);
  if (together !== undefined || !getContents) return (together ?? []).map(decode);
  const found: Array<FileText | null> = [];
  for (const filepath of paths) found.push(decode(await orMissing(getContents({ ...where, ref, filepath }))));
  return found;
}

function decode(file: Contents | null): FileText | null {
  if (!file) return null;
  const text =
    file.encoding === 'base64' && typeof file.content === 'string' ? asText(Buffer.from(file.content, 'base64')) : null;
  return { ...file, content: text, encoding: text === null ? null : 'utf-8' };
}

/** Null for what is not UTF-8: rules compare text, and a text with holes would be another text. */
function asText(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
