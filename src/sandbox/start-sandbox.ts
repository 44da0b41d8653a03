import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { attachments } from './attachments.js';
import { controlRoutes } from './control/index.js';
import { ControlRouter } from './control/router.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { Ledger } from './ledger.js';
import { makeUser } from './make/people.js';
import type { SandboxParts } from './parts.js';
import type { ProfileName } from './profiles.js';
import { profileOf } from './profiles.js';
import { allHandlers } from './registry.js';
import { Router } from './routing.js';
import { API_PREFIX, createForgeServer } from './server.js';
import type { WorldOptions } from './world.js';
import { World } from './world.js';

export interface SandboxOptions extends Omit<WorldOptions, 'habits'> {
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
  const world = new World({ ...options, habits: profile.habits });
  const admin = makeUser(world, {
    login: options.adminLogin ?? 'admin',
    password: options.adminPassword ?? randomBytes(18).toString('base64url'),
    isAdmin: true,
  });
  const controlToken = options.controlToken ?? randomBytes(24).toString('base64url');
  const deliveries = new DeliveryQueue({ style: profile.telling.requests, clock: world.clock });
  const parts: SandboxParts = { world, profile, ledger: new Ledger(world), deliveries, admin };
  const companions = attachments.map((attach) => attach(parts));
  const server = createForgeServer({
    ...parts,
    router: new Router(allHandlers(), profile),
    control: new ControlRouter(parts, controlToken, controlRoutes),
    onFault: options.onFault ?? ((error) => console.error(error)),
  });
  const host = options.host ?? '127.0.0.1';
  const port = await listen(server, options.port ?? 0, host);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  world.rootUrl = url;
  await options.populate?.(parts);
  return {
    url,
    apiUrl: url + API_PREFIX,
    port,
    admin: { login: admin.login, password: admin.password },
    controlToken,
    parts,
    deliveriesSettled: () => deliveries.settled(),
    close: async () => {
      await end(server);
      for (const companion of companions) await companion?.close?.();
    },
  };
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
