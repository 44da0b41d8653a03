/** The value, which the test knows to be there; a readable failure when it is not. */
export function given<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Error('the test counts on a value that is not there');
  return value;
}
