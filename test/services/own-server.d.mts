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
export interface OwnPostgres extends OwnServer {
  /** A second server that follows this one, which is stopped and started again for it. Stop it first. */
  standby(): Promise<OwnServer>;
}
export const canStartOwnPostgres: boolean;
export const canStartOwnRedis: boolean;
export const canStartOwnPgBouncer: boolean;
export function startOwnPostgres(settings?: Readonly<Record<string, string>>): Promise<OwnPostgres>;
/** A pooler before the server of the given URL; `url` leads through it. It cannot be killed or started again. */
export function startOwnPgBouncer(
  url: string,
  mode: 'session' | 'transaction',
): Promise<Pick<OwnServer, 'url' | 'port' | 'pid' | 'stop'>>;
export function startOwnRedis(settings?: Readonly<Record<string, string>>): Promise<OwnServer>;
