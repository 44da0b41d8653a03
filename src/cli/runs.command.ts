import { describeOrigin } from '../rules/sources/rule-repository.port.js';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { OrgShadow, RunReport } from '../api/operations/answers.js';
import { RUN_STATES, type RunState } from '../core/run.js';
import { stringifyJson } from '../core/json.js';
import { limitOption, storeCommand } from './command-options.js';
import { plain, print, state, table, when } from './print.js';
import { withBot } from './reach-bot.js';
import { colour } from './terminal.js';

interface RunsOptions {
  config: string;
  json: boolean;
  org?: string;
  rule?: string;
  state?: RunState;
  shadow: boolean;
  limit: number;
}

export function runsCommand(): Command {
  return storeCommand('runs', 'list decisions and their outcome, newest first; with an id, show one in full')
    .argument('[run]', 'id of one run')
    .option('--org <name>', 'only this organization')
    .option('--rule <id>', 'only this rule or policy')
    .addOption(new Option('--state <state>', 'only in this state').choices(RUN_STATES))
    .option('--shadow', 'compare the decisions of the shadow revision with the live ones, by rule', false)
    .addOption(limitOption())
    .action((id: string | undefined, options: RunsOptions) =>
      withBot(options.config, async (bot) => {
        if (id) {
          const report = await bot.call('run', { id });
          return print(options.json, report, () => whole(report));
        }
        if (options.shadow) {
          const orgs = await bot.call('shadow', { org: options.org, limit: options.limit });
          return print(
            options.json,
            orgs,
            () => orgs.map(shadowOf).join('\n\n') || 'no organization has a shadow revision (orgs[].rules.shadow)',
          );
        }
        const reports = await bot.call('runs', {
          org: options.org,
          rule: options.rule,
          state: options.state,
          shadow: false,
          limit: options.limit,
        });
        return print(options.json, reports, () =>
          table(['at (UTC)', 'run', 'rule', 'state', 'effects', 'why'], reports.map(row), 'no run yet'),
        );
      }),
    );
}

function shadowOf({ org, rules }: OrgShadow): string {
  const rows = rules.map(({ rule, decided, fired, agree, differ }) => [
    rule,
    String(decided),
    String(fired),
    String(agree),
    String(differ),
  ]);
  const samples = rules.flatMap(({ rule, samples: differences }) =>
    differences.map(
      ({ eventId, shadow, live }) =>
        `${rule}, event ${eventId}\n  shadow ${shadow.verdict}: ${plain(shadow.reason)}\n  live   ${live ? `${live.verdict}: ${plain(live.reason)}` : 'did not decide: no such rule, or on and where turned the event away'}`,
    ),
  );
  return [
    colour.bold(org),
    table(['rule', 'decided', 'fired', 'agree', 'differ'], rows, 'no shadow decision yet'),
    ...samples,
  ].join('\n');
}

function row({ run, intents }: RunReport): string[] {
  const effects = intents.map((intent) => `${intent.action} ${state(intent.state)}`).join(', ');
  return [when(run.decidedAt), run.id, `${run.org}/${run.rule}`, state(run.state), effects, plain(run.reason)];
}

function whole({ run, origin, intents }: RunReport): string {
  const lines = [
    `${colour.bold(`${run.org}/${run.rule}`)}  ${state(run.state)}  ${plain(run.reason)}`,
    `run ${run.id}, decided ${when(run.decidedAt)} UTC on revision ${run.revisionId}, mode ${run.mode}, cause ${stringifyJson(run.cause)}`,
    ...(origin ? [`rules from ${plain(describeOrigin(origin))}`] : []),
    `trace ${stringifyJson(run.trace)}`,
  ];
  for (const intent of intents) {
    lines.push(
      '',
      `  ${colour.bold(intent.action)} ${plain(intent.itemKey)}  ${state(intent.state)}${intent.reason ? `  ${plain(intent.reason)}` : ''}`,
      `    intent ${intent.id}, effect ${plain(intent.effectKey)}`,
    );
    for (const attempt of intent.attempts_made) {
      lines.push(
        `    attempt ${attempt.n}: ${attempt.operation} sent ${when(attempt.sentAt)}, ${attempt.outcome ?? 'no answer stored'}${attempt.status ? ` (${attempt.status})` : ''}${attempt.message ? `: ${plain(attempt.message)}` : ''}`,
      );
    }
  }
  return lines.join('\n');
}
