import { useLook } from './look.js';

/** Keeps a table up to date while one looks (`islands/live.ts`); without JavaScript it is not there. */
export function Live({ table }: { /** Id of the table. */ table: string }) {
  const { query } = useLook();
  const text = new URLSearchParams(query).toString();
  return (
    <div class="live" data-live={text === '' ? '/live' : `/live?${text}`} data-live-table={table} hidden>
      <span data-live-said role="status">
        Connecting…
      </span>
      <button type="button" class="button-plain">
        Stop
      </button>
    </div>
  );
}
