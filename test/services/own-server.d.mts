export interface OwnServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
  /** Without a clean end. */
  kill(): Promise<void>;
  /** Same port again; PostgreSQL with the same data, Redis empty. */
  restart(): Promise<void>;
}
export const canStartOwnPostgres: boolean;
export const canStartOwnRedis: boolean;
export function startOwnPostgres(settings?: Readonly<Record<string, string>>): Promise<OwnServer>;
export function startOwnRedis(settings?: Readonly<Record<string, string>>): Promise<OwnServer>;
