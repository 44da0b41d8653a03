/** A class, which stands for itself. */
export type Token<Part> = abstract new (...args: never[]) => Part;

/** A provider as the framework reads it. */
interface PartProvider {
  readonly provide: Token<unknown>;
  readonly inject: Array<Token<unknown>>;
  readonly useFactory: (...needs: unknown[]) => unknown;
}

/** A provider that makes a plain class. The compiler checks that what `make` takes by name is what the tokens stand for. */
export function part<Part, Needs extends object>(
  token: Token<Part>,
  needs: { [Name in keyof Needs]: Token<Needs[Name]> },
  make: (needs: Needs) => Part,
): PartProvider {
  const names = Object.keys(needs);
  return {
    provide: token,
    inject: Object.values(needs),
    useFactory: (...dependencies) => make(Object.fromEntries(names.map((name, n) => [name, dependencies[n]])) as Needs),
  };
}
