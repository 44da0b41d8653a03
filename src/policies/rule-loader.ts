import { actionCatalogue } from '../actions/index.js';
import { lookupCatalogue } from '../actions/lookups/index.js';
import type { AppConfig } from '../config/app-config.js';
import { orgsByKey } from '../config/live-config.js';
import type { Clock } from '../core/clock.js';
import { hashOf } from '../core/ids.js';
import { InUse } from '../core/in-use.js';
import { inSlices } from '../core/in-slices.js';
import type { OperatorStore } from '../core/operator-store.port.js';
import { approversOf } from '../core/operators.js';
import type { ExpressionEngine } from '../rules/language/expression-engine.js';
import type { CompiledPolicy, CompiledRule, RuleFile } from '../rules/language/revision.js';
import { loadSteps } from '../rules/language/load/load-rules.js';
import { beyondLimits } from '../rules/revisions/operator-limits.js';
import type { RuleLoader } from '../rules/revisions/rule-loader.port.js';
import { orgOf } from '../rules/revisions/shadow-org.js';
import { tryLoading } from './thread/bounded-rules.js';
import type { RuleThread } from './thread/rule-thread.js';

/** @param thread where files are tried first; null = they are loaded here at once */
export function makeRuleLoader(
  engine: ExpressionEngine,
  config: Pick<AppConfig, 'orgs'>,
  operators: Pick<OperatorStore, 'list'>,
  clock: Clock,
  thread: Pick<RuleThread, 'order'> | null,
): RuleLoader {
  const environment = {
    actions: actionCatalogue(),
    lookups: lookupCatalogue(),
    engine,
    compiled: new InUse<CompiledRule | CompiledPolicy>(),
    checkTypes: true,
  };
  const texts = new InUse<RuleFile>();
  /** Revisions keep their files: of a shared one they keep the same. */
  const keptOnce = (file: RuleFile): RuleFile => {
    if (file.shared === undefined) return file;
    const key = hashOf(
      file.path,
      file.name ?? '',
      file.shared,
      String(file.isPublic ?? false),
      file.refused ?? '',
      file.text,
    );
    return texts.get(key) ?? texts.add(key, file);
  };
  const orgs = orgsByKey(config);
  return {
    load: async (key, files, wasActive, isAlone = false) => {
      const ofConfig = orgs().get(orgOf(key));
      const name = ofConfig?.name ?? orgOf(key);
      const org = isAlone ? undefined : ofConfig;
      const [powers, secrets] = [org?.powers ?? [], Object.keys(org?.secrets ?? {})];
      // What is hostile or too large ends in the thread; what passed there is compiled here, a slice at a time. The files of the active revision passed
      // before they became active: a restart, which meets no others, begins no thread.
      const refused = thread && !wasActive ? await tryLoading(thread, { org: name, files, powers, secrets }) : null;
      if (refused) return refused;
      const approvers = wasActive ? {} : { approvers: approversOf(await operators.list(), clock.now()) };
      const result = await inSlices(
        loadSteps(files.map(keptOnce), {
          ...environment,
          ...approvers,
          org: name,
          powers: new Set(powers),
          secrets: new Set(secrets),
          mirrorHosts: org?.mirrorHosts ?? [],
          notifyHosts: org?.notifyHosts ?? [],
          wasActive,
        }),
      );
      const beyond = result.ok && org ? beyondLimits(result.revision, org.limits) : [];
      return beyond.length > 0 ? { ok: false, problems: beyond } : result;
    },
  };
}
