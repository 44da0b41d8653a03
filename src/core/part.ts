/** Stands for a port where classes are put together: interfaces are gone when the program runs. */
export type PortToken<Port> = symbol & { readonly port?: Port };

/** @param name of the interface, for error messages of the framework */
export function portToken<Port>(name: string): PortToken<Port> {
  return Symbol(name) as PortToken<Port>;
}

export type Token<Part> = (abstract new (...args: never[]) => Part) | PortToken<Part>;

/** What a token stands for. */
export type Made<Of> = Of extends abstract new (...args: never[]) => infer Part
  ? Part
  : Of extends PortToken<infer Port>
    ? Port
    : never;

/** A provider as the framework reads it. */
export interface PartProvider {
  readonly provide: symbol;
  readonly inject: symbol[];
  readonly useFactory: (...needs: unknown[]) => unknown;
}

/**
 * A provider that makes a plain class. The compiler checks that what `make` takes by name is what the tokens stand for. Whatever needs a part
 * that is made by a promise (something that is opened) waits for it.
 */
export function part<Part, Needs extends object>(
  token: Token<Part>,
  needs: { [Name in keyof Needs]: Token<Needs[Name]> },
  make: (needs: Needs) => Part | Promise<Part>,
): PartProvider {
  const names = Object.keys(needs);
  return {
    // The framework takes classes and symbols alike as tokens.
    provide: token as symbol,
    inject: Object.values(needs),
    useFactory: (...given) => make(Object.fromEntries(names.map((name, n) => [name, given[n]])) as Needs),
  };
}
