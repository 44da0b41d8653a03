import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attachActs } from './acts/perform-act.js';
import { controlRoutes } from './control/index.js';
import { ControlRouter } from './control/router.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { attachDeliveries } from './deliveries/tell-hooks.js';
import { CallFaults } from './faults/call-faults.js';
import type { FaultPlan } from './faults/fault-plan.js';
import { useFaultPlan } from './faults/fault-route.js';
import { attachFeed } from './feed/org-feed.js';
import { Ledger } from './ledger.js';
import type { Attachment, SandboxParts } from './parts.js';
import { type ProfileName, profileOf } from './profiles.js';
import { allHandlers } from './registry.js';
import { followPulls } from './resources/pull-follow.js';
import { mergePlanned } from './resources/pull-merge.js';
import { followMirrors } from './resources/push-mirror.js';
import { makeUser } from './resources/user.js';
import { Router } from './routing.js';
import { API_PREFIX, createForgeServer } from './server.js';
import { restoreParts, StateFile } from './state-file.js';
import { startWorkflows } from './workflows/start-workflows.js';
import { type Id, type User, World, type WorldOptions } from './world.js';

export interface SandboxOptions extends Omit<WorldOptions, 'quirks'> {
  /** 0 (default) = any free one. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Default `gitea`. */
  profile?: ProfileName;
  /** Default `admin`. */
  adminLogin?: string;
  /** Default random per start. */
  adminPassword?: string;
  /** Bearer token of `/_sandbox`; default random per start. */
  controlToken?: string;
  /** Fills the world before the first request is served. */
  populate?: (parts: SandboxParts) => void | Promise<void>;
  /** Faults of calls and deliveries from the start; see `faults/fault-plan.ts`. */
  faults?: FaultPlan;
  /**
   * File that keeps the state over a restart; made when it is not there. Written soon after every change and at the end: what a kill
   * of the sandbox itself loses is the last quarter of a second, more in a very large world.
   */
  stateFile?: string;
  onFault?: (error: unknown) => void;
}

export interface Sandbox {
  /** `http://127.0.0.1:4000` */
  url: string;
  /** Base address of the API: `url` + `/api/v1`. */
  apiUrl: string;
  port: number;
  admin: { login: string; password: string };
  controlToken: string;
  /** For use inside one process; other processes use `/_sandbox`. */
  parts: SandboxParts;
  /** Resolves when no delivery waits any more. */
  deliveriesSettled(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts a forge of its own: a real HTTP server with a world in memory.
 * @throws Error of node when the port is taken
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const profile = profileOf(options.profile ?? 'gitea');
  const world = new World({ ...options, quirks: profile.quirks });
  const file = options.stateFile === undefined ? null : new StateFile(options.stateFile);
  const saved = file?.read(profile.name) ?? null;
  if (saved) world.restore(saved.world);
  const admin = saved ? adminOf(world, saved.adminId, options) : makeAdmin(world, options);
  const controlToken = options.controlToken ?? saved?.controlToken ?? randomBytes(24).toString('base64url');
  const deliveries = new DeliveryQueue({ style: profile.telling.requests, clock: world.clock });
  const parts: SandboxParts = {
    world,
    profile,
    ledger: new Ledger(world),
    deliveries,
    faults: new CallFaults(),
    admin,
  };
  if (saved) restoreParts(parts, saved);
  const late = new Set<Promise<unknown>>();
  const companions = attachments.map((attach) => attach(parts));
  const server = createForgeServer({
    ...parts,
    router: new Router(allHandlers(), profile),
    letGo: (work) => {
      const ended = work.catch(() => undefined).finally(() => late.delete(ended));
      late.add(ended);
    },
    control: new ControlRouter(parts, controlToken, controlRoutes),
    onFault: options.onFault ?? ((error) => console.error(error)),
  });
  const host = options.host ?? '127.0.0.1';
  const port = await listen(server, options.port ?? 0, host);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  world.rootUrl = url;
  let closing: Promise<void> | null = null;
  if (!saved) await options.populate?.(parts);
  // Deliveries that a stop kept back go out once the address is known.
  if (saved) deliveries.restore(saved.deliveries);
  if (options.faults) useFaultPlan(parts, options.faults);
  file?.keep(parts, controlToken);
  return {
    url,
    apiUrl: url + API_PREFIX,
    port,
    admin: { login: admin.login, password: admin.password },
    controlToken,
    parts,
    deliveriesSettled: () => deliveries.settled(),
    close: () => (closing ??= close()),
  };
  async function close(): Promise<void> {
    await end(server);
    // Effects that come late come all the same, as on a real server.
    await Promise.all(late);
    for (const companion of companions) await companion?.close?.();
    file?.close();
  }
}

function makeAdmin(world: World, { adminLogin, adminPassword }: SandboxOptions): User {
  return makeUser(world, {
    login: adminLogin ?? 'admin',
    password: adminPassword ?? randomBytes(18).toString('base64url'),
    isAdmin: true,
  });
}

function adminOf(world: World, id: Id, { adminPassword }: SandboxOptions): User {
  const admin = world.user(id);
  if (adminPassword !== undefined) admin.password = adminPassword;
  return admin;
}

function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function end(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()));
    server.closeAllConnections();
  });
}

/**
 * A new companion of the server is one file and one line here; they hear of acts in this order. Those that only tell stand first: what
 * the others do in answer to an act is told after the act itself.
 */
const attachments: readonly Attachment[] = [
  attachActs,
  attachFeed,
  attachDeliveries,
  followPulls,
  mergePlanned,
  startWorkflows,
  followMirrors,
];
