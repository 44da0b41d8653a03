import { isJsonObject, parseJson, type Json, type JsonObject } from '../../../src/core/json.js';

/** What the feed shows of a delivery, but for its own id and time. */
export interface ShownRow {
  readonly row: JsonObject;
  /** Kind of the event, and what names the fact among those of its kind: what a row and a delivery of it have in common. */
  readonly fact: { readonly kind: string; readonly name: string };
}

export function rowOf(type: string, text: string): ShownRow {
  const body = objectOf(parseJson(text));
  const { sender, repository } = body;
  const common = {
    act_user: sender ?? null,
    act_user_id: objectOf(sender)['id'] ?? null,
    repo: repository ?? null,
    repo_id: objectOf(repository)['id'] ?? null,
  };
  const ref = String(body['ref']);
  if (type === 'push') {
    const after = String(body['after']);
    const head = {
      Sha1: after,
      Message: '',
      AuthorName: 'ann',
      AuthorEmail: '',
      CommitterName: 'ann',
      CommitterEmail: '',
      Timestamp: '',
    };
    const content = JSON.stringify({
      Commits: [head],
      HeadCommit: head,
      CompareURL: `acme/app/compare/${'a'.repeat(40)}...${after}`,
      Len: 1,
    });
    return { row: { ...common, op_type: 'commit_repo', ref_name: ref, content }, fact: { kind: 'push', name: after } };
  }
  if (type === 'create')
    return {
      row: { ...common, op_type: 'commit_repo', ref_name: `refs/heads/${ref}`, content: '' },
      fact: { kind: 'branch.created', name: ref },
    };
  const number = String(body['number']);
  const isClosed = body['action'] === 'closed';
  const updated = String(objectOf(body['issue'])['updated_at']);
  const row = {
    ...common,
    op_type: isClosed ? 'close_issue' : 'reopen_issue',
    ref_name: '',
    content: `${number}|`,
    created: updated,
  };
  return { row, fact: { kind: `issue.${isClosed ? 'closed' : 'reopened'}`, name: number } };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
