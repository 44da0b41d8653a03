import { UserError } from './errors.js';

/** An issue or pull request as people name it. */
interface ObjectReference {
  readonly owner: string;
  readonly repo: string;
  readonly number: number;
}

/**
 * @param text `acme/app#12`
 * @throws UserError BAD_OBJECT
 */
export function readObjectReference(text: string): ObjectReference {
  const [, owner, repo, number] = /^([\w.-]+)\/([\w.-]+)#([1-9]\d{0,8})$/.exec(text.trim()) ?? [];
  if (owner === undefined || repo === undefined || number === undefined)
    throw new UserError('BAD_OBJECT', `"${text}" names no issue or pull request: write it as acme/app#12`);
  return { owner, repo, number: Number(number) };
}
