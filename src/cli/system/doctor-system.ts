import { readConfig } from '../../config/read-config.js';
import { listenAddress } from '../../config/safe-address.js';
import { InvalidFile } from '../../core/errors.js';
import { formatProblem } from '../../core/problem.js';
import { isFinding } from '../../housekeeping/doctor/check.js';
import { plain, print, state, table } from '../print.js';
import { describeFix } from '../print-doctor.js';
import { colour } from '../terminal.js';
import { examineSystem, type SystemCheck } from './examine-system.js';
import { lookAtSystem, type PlannedPort } from './system-view.js';

/**
 * `doctor --system`: print what of this machine is not as it should be. It reaches no bot and opens no store.
 * @param root where the root of the machine is; default `/`
 * @returns how many findings there are
 */
export async function doctorSystem(configFile: string, json: boolean, root = '/'): Promise<number> {
  const { ports, unread } = plannedPorts(configFile);
  const checks = [...examineSystem(await lookAtSystem(root, ports)), ...unread];
  const findings = checks.filter(isFinding).length;
  print(json, { findings, checks }, () => describeSystem(checks, findings));
  return findings;
}

function describeSystem(checks: readonly SystemCheck[], findings: number): string {
  return [
    table(
      ['state', 'check', 'seen'],
      checks.map((one) => [state(one.state), one.check, plain(one.said)]),
      '',
    ),
    ...checks
      .filter(({ fix }) => fix.length > 0)
      .map((one) => describeFix({ ...one, org: null, forge: 'this machine' })),
    '',
    findings === 0
      ? colour.green('nothing is wrong')
      : colour.red(findings === 1 ? '1 finding' : `${findings} findings`),
  ].join('\n');
}

/** Where the processes of the config listen, as far as the config can be read without their secrets. */
function plannedPorts(file: string): { ports: PlannedPort[]; unread: SystemCheck[] } {
  try {
    return { ports: portsOf(file), unread: [] };
  } catch (error) {
    if (!(error instanceof InvalidFile)) throw error;
    const sentence = `ports were not looked at: ${error.problems.map(formatProblem)[0] ?? error.message}`;
    return {
      ports: [],
      unread: [{ check: 'system.ports', state: 'note', said: sentence, fix: ['type: forgehand check'] }],
    };
  }
}

/** Of every role: a machine may have a process of each. */
export function portsOf(file: string): PlannedPort[] {
  const byKey: Array<[string, string]> = [];
  const config = readConfig(file, { reader: 'command', listensAt: (key, address) => byKey.push([key, address]) });
  // With TLS, the control API would not tell a stranger who it is.
  const isAsked = (key: string): boolean =>
    /^metrics\.listen/.test(key) || (/^control\.listen/.test(key) && !config.control.tls);
  const addresses: Array<[string, { host: string; port: number }]> = [
    ['server.port', config.server],
    ...(config.console.enabled ? [named('console.listen', config.console.listen)] : []),
    ...byKey.filter(([key]) => isAsked(key)).map(([key, address]) => named(key, address)),
  ];
  return addresses.map(([key, { host, port }]) => ({ key, host, port })).filter(({ port }) => port !== 0);
}

function named(key: string, listen: string): [string, { host: string; port: number }] {
  return [key, listenAddress(listen)];
}
