export const ROOT: string;
export function withServices<T>(
  use: (services: { env: Record<string, string>; missing: string[] }) => Promise<T>,
  options?: {
    log?: (line: string) => void;
    only?: ReadonlyArray<'postgres' | 'redis' | 'pgbouncer'>;
    postgresSettings?: Readonly<Record<string, string>>;
  },
): Promise<T>;
