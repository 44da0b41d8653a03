type Close = () => Promise<unknown> | void;

/** What was opened, closed in the opposite order; what is opened after that is closed at once. */
export class Closers {
  private readonly list: Close[] = [];
  private closing: Promise<void> | null = null;

  async add(...close: Close[]): Promise<void> {
    if (!this.closing) this.list.push(...close);
    else for (const one of close.reverse()) await one();
  }

  closeAll(): Promise<void> {
    this.closing ??= this.closeList();
    return this.closing;
  }

  private async closeList(): Promise<void> {
    for (const close of this.list.splice(0).reverse()) await close();
  }
}
