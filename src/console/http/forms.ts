import type { FastifyRequest } from 'fastify';
import { UserError } from '../../core/errors.js';
import { isJsonObject } from '../../core/json.js';
import type { Form } from '../page.js';

/** The fields of a form, however it was sent. @throws UserError BAD_REQUEST when it has none, or a field that is no text */
export function formOf({ body }: Pick<FastifyRequest, 'body'>): Form {
  if (!isJsonObject(body as never)) throw new UserError('BAD_REQUEST', 'the request has no form');
  for (const [name, value] of Object.entries(body as object))
    if (typeof value !== 'string' || value.includes('\0'))
      throw new UserError('BAD_REQUEST', `the field ${JSON.stringify(name).slice(0, 40)} of the form is no text`);
  return body as Form;
}
