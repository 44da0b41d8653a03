import { parse } from 'node-html-parser';
import type { Json, JsonObject } from '../../src/core/json.js';
import { isJsonObject } from '../../src/core/json.js';

/** What counts of an answer of the web side, as one body: some headers, the names of the cookies set and taken away, and the page. */
export function webBody(headers: Readonly<Record<string, string>>, cookies: readonly string[], body: Json): JsonObject {
  return {
    headers: Object.fromEntries(COUNTED.map((name) => [name, headers[name] ?? null])),
    cookies: [...cookies].sort(),
    body: isJsonObject(body) && isJsonObject(body.html) ? essence(body.html) : withoutIds(body),
  };
}

/** Descriptions of errors name the client. */
function withoutIds(body: Json): Json {
  const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  if (!isJsonObject(body) || typeof body.error_description !== 'string') return body;
  return { ...body, error_description: body.error_description.replace(uuid, 'client') };
}

const COUNTED = ['content-type', 'cache-control', 'www-authenticate', 'location'];

/** The words of a page are each server's own, and so are the forms of the frame around it. */
function essence({ title, forms, messages }: JsonObject): JsonObject {
  const own = (Array.isArray(forms) ? forms : []).filter((form) => isJsonObject(form) && !isOfFrame(form));
  return {
    title: String(title).replace(/\b(?:real|sandbox) (?=gitea|forgejo)/, ''),
    forms: own,
    messages: messages ?? [],
  };
}

function isOfFrame({ action }: JsonObject): boolean {
  return String(action).startsWith('/times/stopwatch/');
}

/** A page as it was recorded. */
export function readPage(html: string): JsonObject {
  const page = parse(html);
  const forms = page.querySelectorAll('form').map((form) => ({
    method: form.getAttribute('method') ?? '',
    action: form.getAttribute('action') ?? '',
    fields: form.querySelectorAll('input[name], button[name]').map((field): JsonObject => {
      const value = field.getAttribute('value');
      return {
        name: field.getAttribute('name') ?? '',
        type: field.getAttribute('type') ?? '',
        ...(value === undefined ? {} : { value }),
      };
    }),
  }));
  const messages = page.querySelectorAll('.flash-error').map((message) => message.text.trim());
  return { html: { title: page.querySelector('title')?.text ?? '', forms, messages } };
}
