import type { DataType } from '../../core/data-types.js';
import type { EventKind } from '../../core/event-kinds.js';
import type { Json, JsonObject } from '../../core/json.js';
import type { Reason } from '../../core/reason.js';
import type { NeededRight } from '../../core/rights.js';

/** A parameter before anything runs: its value where that is the same each time, else the text that is certain to stand first. */
export type WrittenParam = { readonly value: Json } | { readonly prefix: string };

/** Why parameters can never work together. */
export interface Unfit {
  readonly reason: Reason;
  readonly hint?: string;
  /** The one at fault; absent = all of them. */
  readonly param?: string;
  /** Its value is at fault, not that it is there. */
  readonly isValue?: true;
  readonly isWarning?: true;
}

/** What a text parameter names: a number of the forge, a branch or tag by its short name, or (`ref`) either of them or a commit. */
export type ParamNames = 'number' | 'branch' | 'tag' | 'ref';

/** Objects of the forge that rule files name literally. */
export type NamedKind = 'repository' | 'user' | 'team' | 'label' | 'milestone' | 'branch';

/** What the operator lists; absent = not known. */
export interface OperatorHosts {
  /** `orgs[].mirror_hosts` */
  readonly mirrorHosts?: readonly string[];
  /** `orgs[].notify_hosts` */
  readonly notifyHosts?: readonly string[];
}

/** Parameters of a step, as far as they are known before a run. */
export type WrittenInputs = Readonly<Record<string, WrittenParam>>;

/** What the loop proof and the checks of rule files must know of an effect, beside the kinds of event that it raises. */
export interface EffectFacts {
  /** Whether it may raise the event with these parameters. Default: it may. */
  readonly mayRaise?: (kind: EventKind, inputs: WrittenInputs) => boolean;
  /** Whether who waits for such an event means those of this effect: warnings go by that. Default: as `mayRaise`. */
  readonly isExpected?: (kind: EventKind, inputs: WrittenInputs) => boolean;
  /** Whether the bot can tell, with these parameters, that such an event is of this effect. Default: it can. */
  readonly isKnown?: (kind: EventKind, inputs: WrittenInputs) => boolean;
  /** Parameters that name the branch or the tag of the raised events; where one is left out, they have none. Default: any branch or tag. */
  readonly refs?: Readonly<Partial<Record<'branch' | 'tag', string>>>;
  /** The object that it makes, and the parameter with its name. */
  readonly makes?: { readonly kind: NamedKind; readonly param: string };
  /** It makes its object and never changes one: the second time of one key changes nothing. */
  readonly makesOnly?: true;
  /** It makes a repository: each is a new place to write to. */
  readonly makesRepository?: true;
  /** The action that makes what this one takes away. */
  readonly undoes?: string;
  /** Whether its second time changes nothing. Default: where its parameters are the same each time. */
  readonly endsAlone?: (inputs: WrittenInputs) => boolean;
  /** Parameters whose absence is a wish too: nothing is to be there. */
  readonly absent?: readonly string[];
}

/** A further step of a verb: an action with the same parameters. `where`: only where this parameter is given. */
export interface LaterStep {
  readonly action: string;
  readonly where?: string;
}

/** What the compiler must know about an action; given by the action catalogue, so that `rules` imports no action. */
export interface ActionFacts {
  name: string;
  summary: string;
  /** Parameters by name. `secret` accepts only `secrets.X`; `sealed` values are kept encrypted. */
  params: Record<
    string,
    {
      type: 'string' | 'integer' | 'boolean' | 'time' | 'strings' | 'any';
      required: boolean;
      secret?: boolean;
      sealed?: boolean;
      /** The forge shows it as Markdown: what events and lookups tell is escaped in it. */
      markdown?: boolean;
      /** The forge shows it as one line: what events and lookups tell is made one, and bounded. */
      line?: boolean;
      /** The forge shows it as a title: what events and lookups tell becomes one line, mentions nobody and refers to nothing. */
      title?: boolean;
      /** Services and programs outside of the forge show it: what events and lookups tell mentions nobody and leads nowhere. */
      chat?: boolean;
      summary: string;
      default?: Json;
      /** A value, where a number or a word alone would not say what is wanted. */
      example?: string;
      /** It names one of these: what is no number, or a full ref, is never meant. */
      names?: ParamNames;
      /** It needs objects of this kind, named literally. */
      refersTo?: NamedKind;
    }
  >;
  /** Parameter that names the object. */
  naturalKey: string;
  /** Parameters that together are the item key of `for_each` when no `key` is given. Default: the natural key. */
  itemBy?: readonly string[];
  /** The natural key as the forge tells two objects apart. Default: the text as it is, without spaces around it. */
  keyOf?: (params: JsonObject) => string;
  /** Operations it may call. */
  operations: readonly string[];
  /** Needs this power of the operator config. */
  power?: string;
  /** What it acts on. */
  target: 'repository' | 'organization' | 'account';
  /** It writes to a service outside of the forge, and each time anew. */
  sends?: true;
  /** Steps that follow it, each an intent of its own. */
  laterSteps?: readonly LaterStep[];
  /** Check of constant values at load (colour, host allow list at run time is the action's own); message or null. */
  checkConstant?: (param: string, value: Json) => string | null;
  /** Check of the parameters together, as far as they are known at load. */
  unfit?: (inputs: WrittenInputs, operator: OperatorHosts) => Unfit | null;
  /** Operations without which it cannot work at all; absent = it has a way around each of them. */
  requires?: readonly string[];
  /** Further ones without which it cannot work where this parameter is given. */
  requiresWith?: { readonly param: string; readonly operations: readonly string[] };
  /** Kinds of event that its effect makes the forge tell. */
  raises?: readonly EventKind[];
  /** Of these, the ones of which the bot knows which rule's effect raised them. */
  echoes?: readonly EventKind[];
  effect?: EffectFacts;
  /** What whoever asks for it by a command must be allowed to do; absent = nobody may ask for it so. */
  right?: NeededRight;
  /** Where an event wants it, the forge must confirm that the event happened. */
  asksAct?: true;
}

/** The same of a lookup. */
export interface LookupFacts {
  name: string;
  summary: string;
  params: Record<
    string,
    {
      type: 'string' | 'integer' | 'boolean' | 'strings' | 'any';
      required: boolean;
      summary: string;
      /** Why a constant can never be meant, or null. */
      check?: (value: string) => string | null;
      /** It names one of these: what is no number, or a full ref, is never meant. */
      names?: ParamNames;
    }
  >;
  /** Operations it calls; each must be offered. */
  operations: readonly string[];
  /** With one of these it does without the others. */
  instead?: readonly string[];
  /** What it answers; absent = not known before it runs. */
  answer?: DataType;
  /** What it reads about; absent = the repository of the event or tick. */
  target?: 'repository' | 'organization' | 'account';
}
