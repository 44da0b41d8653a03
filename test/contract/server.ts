import type { JsonObject } from '../../src/core/json.js';

/** The server under test, as the player needs it. */
export interface ContractServer {
  /** `http://host:port`. */
  readonly origin: string;
  /** Another door to the same world that offers every operation, where the server under test offers few: keeps a story going. */
  readonly sideDoor?: string;
  /** How long a server may take over what it does behind an answer (milliseconds): until then a read that differs is asked again. Default 0. */
  readonly patienceMs?: number;
  /** For Basic; every user of a story has one. */
  passwordOf(user: string): string;
  /** A token made past the API, for a server that offers no call to make one. */
  makeToken(user: string, name: string, scopes: readonly string[]): Promise<string>;
  /** Make one entry of the world. */
  give(entry: JsonObject): Promise<void>;
  /** Let the runner do something; whether there was a job for it. */
  run(step: JsonObject): Promise<boolean>;
  /** So much time goes by, as it did behind a step when it was recorded (milliseconds). */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface StartOptions {
  readonly profile: string;
  /** Users to begin with; the first is the site admin. */
  readonly people: readonly string[];
  /** First id of every kind of object; default 1. */
  readonly firstId?: bigint;
}

export type StartServer = (options: StartOptions) => Promise<ContractServer>;
