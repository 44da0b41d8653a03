import type { DeliveryQueue } from './deliveries/delivery-queue.js';
import type { CallFaults } from './faults/call-faults.js';
import type { Ledger } from './ledger.js';
import type { Profile } from './profiles.js';
import type { World } from './world.js';
import type { User } from './entities/people.js';

/** What the pieces of a running sandbox share. */
export interface SandboxParts {
  world: World;
  profile: Profile;
  ledger: Ledger;
  /** Faults of calls, by plan. */
  faults: CallFaults;
  /** Deliveries to hooks: sending, history, faults. */
  deliveries: DeliveryQueue;
  /** The site admin that was made at the start; given repositories, files, tags, labels and issues are made by it. */
  admin: User;
}

/** Something that lives beside the server (feed, deliveries, workflows): listens to the world from the start, ends with it. */
export type Attachment = (parts: SandboxParts) => { close?: () => Promise<void> | void } | undefined;
