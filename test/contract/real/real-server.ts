import { setTimeout } from 'node:timers/promises';
import type { JsonObject } from '../../../src/core/json.js';
import type { RealForge } from '../../../src/cli/real-forge/connect.js';
import { Estate } from '../../../src/cli/real-forge/estate.js';
import type { ContractServer } from '../server.js';
import { RealWorld } from './real-world.js';
import { Skipped } from './skipped.js';

/** What a real server does behind its answers (merge checks, counts) takes seconds at most. */
const PATIENCE_MS = 5_000;

/** A corner of a real server for one story: its people and organizations, gone when it is closed. */
export class RealServer implements ContractServer {
  readonly patienceMs = PATIENCE_MS;
  readonly origin: string;
  private readonly estate: Estate;
  private world: RealWorld | null = null;

  constructor(forge: RealForge) {
    this.origin = forge.origin;
    this.estate = new Estate(forge.admin);
  }

  /** @param people the first is a site administrator of its own */
  async settle([rootLogin = '', ...others]: readonly string[]): Promise<void> {
    const root = await this.estate.makeAccount(rootLogin, { isAdmin: true });
    for (const login of others) await this.estate.makeAccount(login);
    this.world = new RealWorld(this.estate, root);
  }

  passwordOf(user: string): string {
    const account = this.estate.account(user);
    if (!account) throw new Error(`the story gave no user ${user}`);
    return account.password;
  }

  async makeToken(): Promise<string> {
    throw new Skipped('the server makes no tokens for a user and password');
  }

  async give(entry: JsonObject): Promise<void> {
    await this.world?.give(entry);
  }

  async run(): Promise<boolean> {
    throw new Skipped('there is no runner');
  }

  pass(ms: number): Promise<void> {
    return setTimeout(ms);
  }

  /** Which of these names somebody has already. */
  async taken(names: Iterable<string>): Promise<string[]> {
    const taken: string[] = [];
    for (const name of names) if (!(await this.estate.isFree(name))) taken.push(name);
    return taken;
  }

  /** @returns what could not be removed */
  clear(): Promise<string[]> {
    return this.estate.clear();
  }

  async close(): Promise<void> {
    await this.clear();
  }
}
