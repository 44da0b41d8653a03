import { z } from 'zod';
import { isSealed, type Encryptor, type Sealed } from '../../core/encryptor.js';
import { BotError } from '../../core/errors.js';
import { isJsonObject, parseJson, stringifyJson, type Json } from '../../core/json.js';
import { count, texts, type Shape } from '../../core/schema.js';
import { auditKey } from '../audit/audit-check.js';
import { addressesIn, ERASED, needlesOf, PersonEraser, type PersonToErase } from './erase-person.js';
import type {
  ErasableAct,
  ErasableArrival,
  ErasableEvent,
  ErasableRun,
  ErasedRows,
  ErasurePage,
  ErasureStore,
} from './erasure-store.port.js';

export const erasureReport = z.object({
  arrivals: count.describe('Stored bodies that held something of the person.'),
  events: count,
  runs: count.describe('Runs with their effects and calls.'),
  acts: count.describe('Acts whose reason the person gave, or that held an address of the person.'),
  addresses: texts.describe('Addresses by which the store knew the person; they are nowhere any more.'),
});
export type ErasureReport = Shape<typeof erasureReport>;

/** Of rows that an erasure changes. */
const KINDS = ['arrivals', 'events', 'runs', 'acts'] as const;

/** Takes the texts and the addresses of a person out of what is stored. Keys, numbers, names of accounts, and counts stay. */
export class PersonErasure {
  constructor(
    private readonly store: ErasureStore,
    private readonly encryptor: Encryptor,
  ) {}

  async run(forge: string, login: string, ownAddresses: readonly string[], isDryRun: boolean): Promise<ErasureReport> {
    const addresses = new Set(ownAddresses.map((address) => address.toLowerCase()));
    await this.look(forge, { login, addresses }, addresses);
    const person: PersonToErase = { login, addresses };
    const needles = needlesOf(person);
    const key = auditKey(this.encryptor);
    const done = { arrivals: new Set(), events: new Set(), runs: new Set(), acts: new Set() };
    const write = async (rows: ErasedRows): Promise<void> => {
      for (const kind of KINDS) for (const { id } of rows[kind] ?? []) done[kind].add(id);
      if (!isDryRun && KINDS.some((kind) => (rows[kind] ?? []).length > 0)) await this.store.write(rows, key);
    };

    for await (const rows of this.pages((after) => this.store.arrivals(forge, after, needles)))
      await write({ arrivals: rows.flatMap((row) => this.erasedArrival(row, person, [])) });
    for await (const rows of this.pages((after) => this.store.events(forge, after, needles))) {
      const { events, textsOf } = this.erasedEvents(rows, person);
      const runs = this.erasedRuns(await this.store.runsOf([...textsOf.keys()]), person, textsOf);
      await write({ events, runs });
      await write(await this.erasedEchoes(runs, person, textsOf));
    }
    for await (const rows of this.pages((after) => this.store.runs(forge, after, needles)))
      await write({ runs: this.erasedRuns(rows, person, new Map()) });
    for await (const rows of this.pages((after) => this.store.remembered(forge, after, needles)))
      await write({ runs: this.erasedRuns(rows, person, new Map()) });
    for await (const rows of this.pages((after) => this.store.acts(forge, login, after, needles)))
      await write({ acts: rows.flatMap((row) => erasedAct(row, person)) });
    return {
      arrivals: done.arrivals.size,
      events: done.events.size,
      runs: done.runs.size,
      acts: done.acts.size,
      addresses: [...addresses].sort(),
    };
  }

  private erasedArrival(
    { id, text }: ErasableArrival,
    person: PersonToErase,
    knownTexts: readonly string[],
  ): ErasableArrival[] {
    const { value, isChanged } = new PersonEraser(person, knownTexts).erase(parsed(text));
    return isChanged ? [{ id, text: stringifyJson(value) }] : [];
  }

  /** What rules made of the person's texts, as the forge told it afterwards: the bot is its author there. */
  private async erasedEchoes(
    runs: readonly ErasableRun[],
    person: PersonToErase,
    textsOf: ReadonlyMap<string, readonly string[]>,
  ): Promise<ErasedRows> {
    const knownOf = new Map(
      runs.flatMap(({ eventId, intents }) => intents.map(({ id }) => [id, textsOf.get(eventId ?? '') ?? []] as const)),
    );
    const echoes = await this.store.echoesOf([...knownOf.keys()]);
    const textsOfEchoes = new Map<string, readonly string[]>();
    const events = echoes.flatMap(({ id, intentId, data }) => {
      const knownTexts = knownOf.get(intentId) ?? [];
      textsOfEchoes.set(id, knownTexts);
      const { value, isChanged } = new PersonEraser(person, knownTexts).erase(parsed(data));
      return isChanged ? [{ id, data: stringifyJson(value) }] : [];
    });
    const arrivals = echoes.flatMap(({ intentId, arrivals: echoArrivals }) =>
      echoArrivals.flatMap((row) => this.erasedArrival(row, person, knownOf.get(intentId) ?? [])),
    );
    const further = await this.store.runsOf([...textsOfEchoes.keys()]);
    return { events, arrivals, runs: this.erasedRuns(further, person, textsOfEchoes) };
  }

  /** Which addresses the person has, before anything is taken out: texts of others hold them too. */
  private async look(forge: string, person: PersonToErase, addresses: Set<string>): Promise<void> {
    const needles = [person.login];
    for await (const rows of this.pages((after) => this.store.arrivals(forge, after, needles)))
      for (const { text } of rows) addressesIn(parsed(text), person, addresses);
    for await (const rows of this.pages((after) => this.store.events(forge, after, needles)))
      for (const { data } of rows) addressesIn(parsed(data), person, addresses);
  }

  private erasedEvents(
    rows: readonly ErasableEvent[],
    person: PersonToErase,
  ): { events: Array<{ id: string; data: string }>; textsOf: Map<string, readonly string[]> } {
    const textsOf = new Map<string, readonly string[]>();
    const events = rows.flatMap(({ id, actor, data }) => {
      const by = parsed(actor);
      const isActor = isJsonObject(by) && String(by['login']).toLowerCase() === person.login.toLowerCase();
      const { value, isChanged, texts: erasedTexts } = new PersonEraser(person).erase(parsed(data), isActor);
      if (!isChanged) return [];
      textsOf.set(id, erasedTexts);
      return [{ id, data: stringifyJson(value) }];
    });
    return { events, textsOf };
  }

  private erasedRuns(
    runs: readonly ErasableRun[],
    person: PersonToErase,
    textsOf: ReadonlyMap<string, readonly string[]>,
  ): ErasableRun[] {
    return runs.flatMap((run) => {
      const knownTexts = textsOf.get(run.eventId ?? '') ?? [];
      let isChanged = false;
      const erased = <Columns extends Readonly<Record<string, string | null>>>(columns: Columns): Columns =>
        Object.fromEntries(
          Object.entries(columns).map(([name, text]) => {
            const erasedText = text === null ? null : this.column(text, person, knownTexts);
            isChanged ||= erasedText !== text;
            return [name, erasedText];
          }),
        ) as Columns;
      const after: ErasableRun = {
        ...run,
        columns: erased(run.columns),
        intents: run.intents.map(({ id, columns }) => ({ id, columns: erased(columns) })),
        attempts: run.attempts.map(({ id, columns }) => ({ id, columns: erased(columns) })),
      };
      return isChanged ? [after] : [];
    });
  }

  /** The same text when nothing in it was the person's. */
  private column(text: string, person: PersonToErase, knownTexts: readonly string[]): string {
    const json = parsed(text);
    if (json === null) return new PersonEraser(person, knownTexts).text(text);
    const { value, isChanged } = new PersonEraser(person, knownTexts).erase(json);
    const { opened, wasSealed } = this.openedAndErased(value, person, knownTexts);
    return isChanged || wasSealed ? stringifyJson(opened) : text;
  }

  /** What is sealed is opened, and sealed again where something was taken out. */
  private openedAndErased(
    value: Json,
    person: PersonToErase,
    knownTexts: readonly string[],
  ): { opened: Json; wasSealed: boolean } {
    let wasSealed = false;
    const visit = (inner: Json): Json => {
      if (Array.isArray(inner)) return inner.map(visit);
      if (!isJsonObject(inner)) return inner;
      if (!isSealed(inner))
        return Object.fromEntries(Object.entries(inner).map(([key, one]): [string, Json] => [key, visit(one)]));
      const text = this.opened(inner);
      if (text === null) return inner;
      const erasedText = this.column(text, person, knownTexts);
      if (erasedText === text) return inner;
      wasSealed = true;
      return { ...this.encryptor.seal(erasedText) };
    };
    return { opened: visit(value), wasSealed };
  }

  /** Null under a key that is gone: nobody can open it any more. */
  private opened(sealed: Sealed): string | null {
    try {
      return this.encryptor.unseal(sealed).reveal();
    } catch (error) {
      if (error instanceof BotError && error.code === 'SEAL_BROKEN') return null;
      throw error;
    }
  }

  private async *pages<Row>(read: (after: string | null) => Promise<ErasurePage<Row>>): AsyncGenerator<readonly Row[]> {
    for (let after: string | null = null; ;) {
      const { rows, last }: ErasurePage<Row> = await read(after);
      if (rows.length > 0) yield rows;
      if (last === null) return;
      after = last;
    }
  }
}

function erasedAct({ id, reason, isOwn }: ErasableAct, person: PersonToErase): Array<{ id: string; reason: string }> {
  const erasedText = isOwn ? ERASED : new PersonEraser(person).text(reason);
  return erasedText === reason ? [] : [{ id, reason: erasedText }];
}

/** Null when it is no JSON. */
function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
