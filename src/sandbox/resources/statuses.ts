import { created, notFound, ok, Refusal } from '../answer.js';
import { bind, field } from '../body.js';
import { resolveRef } from '../git/store.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import { makeStatus, statusesOf } from '../make/status.js';
import { cut, listed, readPage } from '../paging.js';
import type { Handlers } from '../registry.js';
import { renderCombined, renderStatus } from '../render/status.js';

const fields = { context: field.text(), description: field.text(), state: field.text(), target_url: field.text() };

function shaOf(call: RepoCall, name: string): string | undefined {
  return resolveRef(call.repo.git, name)?.commit.sha;
}

export const statusHandlers: Handlers = {
  /** Any name of a commit will do. */
  createStatus: onRepository({ units: ['repo.code'], level: 'write' }, (call) => {
    const { context, description = '', state = '', target_url = '' } = bind(call, fields);
    const sha = shaOf(call, call.params.sha ?? '');
    if (sha === undefined) throw new Refusal(call.profile.repositories.missingCommitStatus, 'object does not exist');
    const status = makeStatus(call.world, doer(call), call.repo, { sha, context: context || 'default', state, description, targetUrl: target_url });
    return created(renderStatus(call.view, status));
  }),
  /** Every row, newest first. */
  listStatuses: onRepository({ units: ['repo.code'] }, (call) => {
    const sha = shaOf(call, call.params.ref ?? '');
    if (sha === undefined) throw notFound();
    const all = call.world.statuses.filter((one) => one.repoId === call.repo.id && one.sha === sha).reverse();
    return listed(call, all, (one) => renderStatus(call.view, one), { link: true });
  }),
  getCombinedStatus: onRepository({ units: ['repo.code'] }, (call) => {
    const sha = shaOf(call, call.params.ref ?? '');
    if (sha === undefined) throw notFound();
    const all = statusesOf(call.world, call.repo, sha);
    return ok(renderCombined(call.view, call.repo, sha, cut(all, readPage(call))), { 'x-total-count': String(all.length) });
  }),
};
