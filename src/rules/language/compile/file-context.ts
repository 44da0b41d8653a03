import type { JsonObject } from '../../../core/json.js';
import type { YamlNode } from '../load/node.js';
import type { SourceFile } from '../load/source-file.js';
import type { LoadEnvironment } from '../revision.js';
import type { TypeScope } from './variable-types.js';

/** What compiling the parts of one file needs to know. */
export interface FileContext {
  readonly file: SourceFile;
  readonly env: LoadEnvironment;
  readonly vars: JsonObject;
  /** The `vars` of the file itself, where they stand. */
  readonly varNodes?: YamlNode | undefined;
  /** Names listed under `secrets`. */
  readonly secrets: ReadonlySet<string>;
}

/** What an expression may read at the place where it stands. */
export interface Scope {
  /** The rule reacts to events. */
  readonly hasEvent: boolean;
  /** Each run is about a repository. */
  readonly hasRepo: boolean;
  /** Inside a step or lookup with `for_each`. */
  readonly hasItem: boolean;
  /** Lookups of the rule; null = lookups cannot be used here at all. */
  readonly lookups: ReadonlySet<string> | null;
  /** What is known of the variables; absent where types are not checked. */
  readonly types?: TypeScope | undefined;
}
