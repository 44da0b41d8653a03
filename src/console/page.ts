import type { ComponentChildren } from 'preact';
import type { AnswerOf, OperationName, SentTo } from '../api/operations/index.js';
import type { KeptSession } from '../api/session-store.port.js';
import { UserError } from '../core/errors.js';
import type { Json } from '../core/json.js';
import type { OperatorScope } from '../core/operator-scopes.js';
import type { ControlCaller } from '../core/operators.js';
import type { Column } from './ui/components.js';

/** May be left out where nothing has to be sent. */
type Sent<Name extends OperationName> =
  Record<never, never> extends SentTo<Name> ? [input?: SentTo<Name>] : [input: SentTo<Name>];

export type TimelineRow = AnswerOf<'activity'>['rows'][number];

/** What a page may ask: the operations of the control API, as the person who looks at it. */
export interface Ask {
  readonly caller: ControlCaller;
  readonly session: Pick<KeptSession, 'id' | 'kind' | 'name' | 'grant'>;
  readonly now: Date;
  /** Values of the `:name` parts of the path. */
  readonly params: Readonly<Record<string, string>>;
  /** What stands behind the `?`. A name that is there twice counts once, and an empty value not at all. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * One operation, as this caller. The input is checked as the control API checks it, so values of the query can be handed on.
   * @throws BotError as the operation; the frame makes an error page of it
   */
  call<Name extends OperationName>(name: Name, ...input: Sent<Name>): Promise<AnswerOf<Name>>;
  /** Whether to offer an act at all; the operation decides. @param org null = in every organization */
  may(scope: OperatorScope, org: string | null): boolean;
}

/** Fields of a form that was sent; each once. */
export type Form = Readonly<Record<string, string>>;

/** What came of an act. */
export interface Done {
  /** The path of the Console where the browser goes. Default: the page itself. */
  readonly to?: string;
  /** Shown there once, as text. */
  readonly notice?: string;
}

/** The page is shown at once, with what came of the form: for what was only looked at. */
interface Again<Data> {
  readonly show: Data;
}

/** What an island of a page asks; both ways JSON. */
type Call = (ask: Ask, body: Json) => Promise<Json>;

interface Page<Data> {
  /** `/runs/:id`. Rows link to it, so it lasts. */
  readonly path: string;
  /** Where the page stands in the navigation; absent = it is reached from another page. */
  readonly nav?: { readonly label: string; readonly order: number };
  /** Under which entry of the navigation it belongs, by its path; absent = its own. */
  readonly within?: string;
  readonly title: (data: Data) => string;
  readonly load: (ask: Ask) => Promise<Data>;
  readonly view: (data: Data) => ComponentChildren;
  /** Of the timeline: how its rows are drawn, on the page and when they come as news (`ui/live.tsx`). */
  readonly timeline?: ReadonlyArray<Column<TimelineRow>>;
  /** Names of the islands that the page needs (files in `islands/`). */
  readonly islands?: readonly string[];
  /**
   * Does what a form of the page asks for (`POST` to its path). The session, the origin and the form's token were checked before, and the rights of
   * the caller were read anew. @throws BotError; the page is shown again with what it says
   */
  readonly act?: (ask: Ask, form: Form) => Promise<Done | Again<Data>>;
  /** `POST` to the path and `/NAME`, by the islands of the page. */
  readonly calls?: Readonly<Record<string, Call>>;
  /** Largest form or call, in bytes. Default: 64 KiB. */
  readonly maxBodyBytes?: number;
}

/** A page as the registry holds it. */
export type AnyPage = Page<unknown>;

/** A form whose field `act` says nothing that the page can do. */
export function unknownAct(): UserError {
  return new UserError('BAD_REQUEST', 'the form names no act');
}

/** Checks that the view takes what `load` gives. */
export function definePage<Data>(page: Page<Data>): AnyPage {
  return page as unknown as AnyPage;
}
