import { isOperationName, operationOf } from './operations.js';

/** What an operation does, in the words of its summary: `createLabel` is "create a label". A name that is none of ours stays as it is. */
export function operationInWords(name: string): string {
  if (!isOperationName(name)) return name;
  const [words = name] = operationOf(name).summary.split(/[;:,]/, 1);
  return `${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}
