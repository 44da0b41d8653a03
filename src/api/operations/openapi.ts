import { z } from 'zod';
import type { JsonObject } from '../../core/json.js';
import { emptyTable } from '../../core/table.js';
import { VERSION } from '../../platform/version.js';
import { routeOf, type AnyOperation } from './operation.js';

const ERROR = {
  description: 'Refused; `error` is a code, `message` a sentence for people.',
  content: jsonOf({ type: 'object', properties: { error: { type: 'string' }, message: { type: 'string' } } }),
};

const GOES_ON = {
  description: 'The call goes on. `GET /v1/calls/{id}` tells how far it is, and its answer.',
  content: jsonOf({ type: 'object', properties: { id: { type: 'string' } } }),
};

/** The table of operations as an OpenAPI 3.1 document. */
export function openApi(operations: Readonly<Record<string, AnyOperation>>): JsonObject {
  const paths: Record<string, JsonObject> = emptyTable();
  for (const [name, operation] of Object.entries(operations)) {
    const { method, path } = routeOf(operation);
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, field = '']) => field);
    const {
      properties,
      required = [],
      ...input
    } = schemaOf(operation.input, 'input') as {
      properties: JsonObject;
      required?: string[];
    };
    const rest = Object.keys(properties).filter((field) => !inPath.includes(field));
    const parameter = (field: string): JsonObject => ({
      name: field,
      in: inPath.includes(field) ? 'path' : 'query',
      required: required.includes(field),
      schema: properties[field] ?? {},
    });
    const body = {
      ...input,
      properties: Object.fromEntries(rest.map((field) => [field, properties[field] ?? {}])),
      required: required.filter((field) => rest.includes(field)),
    };
    (paths[path.replace(/:(\w+)/g, '{$1}')] ??= {})[method.toLowerCase()] = {
      operationId: name,
      summary: operation.summary,
      'x-scope': operation.scope,
      parameters: [...inPath, ...(method === 'GET' ? rest : [])].map(parameter),
      ...(method === 'POST' && rest.length > 0 ? { requestBody: { content: jsonOf(body) } } : {}),
      responses: {
        200: { description: 'Done.', content: jsonOf(schemaOf(operation.answer, 'output')) },
        ...(operation.takesLong ? { 202: GOES_ON } : {}),
        default: ERROR,
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Control API of Forgehand', version: VERSION },
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    security: [{ token: [] }],
    paths,
  };
}

function jsonOf(schema: JsonObject): JsonObject {
  return { 'application/json': { schema } };
}

/** A schema as it is on the wire, where a time is an ISO text. A later version may answer with more fields. */
export function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...wireSchema } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
      if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return wireSchema as JsonObject;
}
