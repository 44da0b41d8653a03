import { hashOf } from '../../../core/ids.js';
import { stringifyJson } from '../../../core/json.js';
import type { FileContext } from '../compile/file-context.js';
import type { CompiledPolicy, CompiledRule } from '../revision.js';
import type { YamlNode } from './node.js';

/** What compiling took of the file's allowance, which a file has spent whether or not somebody had compiled it before. */
const charges = new WeakMap<CompiledRule | CompiledPolicy, number>();

/**
 * Compiles each rule or policy of a file, or takes it from a revision that has it already. So organizations that extend one shared file with the same constants
 * hold one program, however many they are, and a set of files of which one changed is compiled in that file alone.
 *
 * It gives what compiling anew would give. The key has all that compiling reads: path and text of the file and the place in it, its constants, the secrets that it
 * lists, what the operator allows, and the name of the organization where the file has that name. What has a problem or a warning is compiled each time, so that
 * everybody is told. Nothing is kept that no revision holds (`InUse`).
 */
export function compileOnce<Compiled extends CompiledRule | CompiledPolicy>(
  context: FileContext,
  what: 'rules' | 'policies',
  compile: (context: FileContext, node: YamlNode) => Compiled | null,
): (node: YamlNode) => Compiled | null {
  const { file, env } = context;
  const inUse = env.compiled;
  if (!inUse) return (node) => compile(context, node);
  const ofFile = keyOf(context);
  return (node) => {
    const key = `${what} ${node.start} ${ofFile}`;
    const existing = inUse.get(key);
    if (existing) {
      file.charge(charges.get(existing) ?? 0, node.start);
      return existing as Compiled;
    }
    const [warnings, charged] = [file.warnings.length, file.charged];
    const compiled = compile(context, node);
    if (!compiled || file.problems.length > 0 || file.warnings.length > warnings) return compiled;
    charges.set(compiled, file.charged - charged);
    return inUse.add(key, compiled) as Compiled;
  };
}

function keyOf({ file, env, vars, secrets }: FileContext): string {
  // A name may be written with escapes.
  const namesOrg = file.text.includes('\\') || file.text.toLowerCase().includes(env.org.toLowerCase());
  return hashOf(
    file.path,
    file.text,
    stringifyJson({
      vars,
      secrets: [...secrets].sort(),
      org: namesOrg ? env.org : null,
      powers: [...env.powers].sort(),
      operatorSecrets: [...env.secrets].sort(),
      checkTypes: env.checkTypes ?? false,
      approvers: env.approvers ?? null,
      mirrorHosts: env.mirrorHosts ?? null,
      notifyHosts: env.notifyHosts ?? null,
      offered: env.offered ? [...env.offered].sort() : null,
    }),
  );
}
