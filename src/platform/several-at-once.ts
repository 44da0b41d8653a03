/**
 * Work on each item, on so many at once and in their order.
 * @throws what the first failed work threw; what is under way goes on, and nothing else begins in its place
 */
export async function severalAtOnce<Item>(
  most: number,
  items: Iterable<Item>,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const one = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: most }, one));
}
