/** Calls that one poll may make. */
export class CallAllowance {
  spent = 0;

  constructor(private readonly limit: number) {}

  get isLeft(): boolean {
    return this.spent < this.limit;
  }

  /** For a call that is made even when none is left. */
  spend(): void {
    this.spent += 1;
  }

  /** @returns false when none is left */
  spendIfLeft(): boolean {
    if (!this.isLeft) return false;
    this.spend();
    return true;
  }
}
