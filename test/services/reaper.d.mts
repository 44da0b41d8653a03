export function startReaper(): {
  watch(pid: number): void;
  forget(pid: number): void;
  remove(dir: string): void;
  release(): void;
};
