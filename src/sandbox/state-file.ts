import { readFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { UserError } from '../core/errors.js';
import { writeWholeFile } from '../platform/whole-file.js';
import type { SavedDeliveries } from './deliveries/delivery-queue.js';
import type { FaultState } from './faults/call-faults.js';
import type { LedgerEntry } from './ledger.js';
import type { SandboxParts } from './parts.js';
import type { Id, WorldState } from './world.js';

const FORMAT = 1;
const SOON_MS = 250;
/** Writing takes no more than this share of the time, however large the world. */
const SHARE = 0.05;

/** Everything that must survive a restart. */
interface SavedState {
  readonly format: typeof FORMAT;
  readonly profile: string;
  readonly adminId: Id;
  readonly controlToken: string;
  readonly world: WorldState;
  readonly ledger: readonly LedgerEntry[];
  readonly deliveries: SavedDeliveries;
  readonly faults: FaultState;
}

/** The state of a sandbox in one file, replaced as a whole: a reader finds the old one or the new one. It holds tokens and passwords: 0600. */
export class StateFile {
  #timer: NodeJS.Timeout | null = null;
  #save: (() => SavedState) | null = null;
  #waitMs = SOON_MS;

  constructor(private readonly path: string) {}

  /**
   * Null when there is no file yet.
   * @throws UserError when it is none of ours, or another profile's
   */
  read(profile: string): SavedState | null {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new UserError('STATE_FILE', `${this.path}: ${(error as Error).message}`);
    }
    const state = tryDeserialize(bytes);
    if (state?.format !== FORMAT)
      throw new UserError(
        'STATE_FILE',
        `${this.path} is no state of this version's sandbox: give another file, or remove it`,
      );
    if (state.profile !== profile) {
      throw new UserError(
        'STATE_FILE',
        `${this.path} is the state of a sandbox with --profile ${state.profile}: start it so, or give another file`,
      );
    }
    return state;
  }

  /** From now on the file follows what changes. */
  keep(parts: SandboxParts, controlToken: string): void {
    const { world, ledger, deliveries, faults, admin, profile } = parts;
    this.#save = () => ({
      format: FORMAT,
      profile: profile.name,
      adminId: admin.id,
      controlToken,
      world: world.save(),
      ledger: ledger.entries,
      deliveries: deliveries.save(),
      faults: faults.save(),
    });
    this.#write();
    world.onChange(() => this.#soon());
    world.listen(() => this.#soon());
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    this.#write();
    this.#save = null;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#write();
    }, this.#waitMs).unref();
  }

  #write(): void {
    if (!this.#save) return;
    const began = performance.now();
    writeWholeFile(this.path, serialize(this.#save()), { replace: true });
    this.#waitMs = Math.max(SOON_MS, (performance.now() - began) / SHARE);
  }
}

/** The parts beside the world; deliveries only once the sandbox listens. */
export function restoreParts({ ledger, faults }: SandboxParts, saved: SavedState): void {
  ledger.restore(saved.ledger);
  faults.restore(saved.faults);
}

function tryDeserialize(bytes: Buffer): SavedState | null {
  try {
    return deserialize(bytes) as SavedState;
  } catch {
    return null;
  }
}
