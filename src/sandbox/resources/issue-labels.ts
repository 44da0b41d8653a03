import { forbiddenEmpty, noContent, ok, unprocessable } from '../answer.js';
import { bind, field } from '../body.js';
import type { RepoCall } from '../guards.js';
import { doer, onRepository } from '../guards.js';
import { addLabels, clearLabels, removeLabel, replaceLabels } from '../make/issue-labels.js';
import { labelsUsableIn } from '../make/label.js';
import type { Handlers } from '../registry.js';
import { shownLabels } from '../render/issue.js';
import type { Issue, Label } from '../world.js';
import { askWrite, issueOf, labelsNamed, mayWrite } from './issue-of.js';
import { TRACKER } from '../guards.js';

const read = { units: TRACKER } as const;
/** Everybody logged in comes this far; the issue then asks for the right to write. */
const member = { units: TRACKER, login: true } as const;
const fields = { labels: field.any() };

function writable(call: RepoCall): { issue: Issue; labels: Label[] } {
  const { labels } = bind(call, fields);
  const issue = issueOf(call);
  askWrite(call, issue);
  return { issue, labels: labelsNamed(call, labels) };
}

/** Without the right: 403 and no body. */
function removable(call: RepoCall): Issue {
  const issue = issueOf(call);
  if (!mayWrite(call, issue)) throw forbiddenEmpty();
  return issue;
}

function labelOf(call: RepoCall): Label {
  const label = labelsUsableIn(call.world, call.repo).find((one) => String(one.id) === call.params.id);
  if (!label) throw unprocessable('label does not exist [label_id: 0]');
  return label;
}

export const issueLabelHandlers: Handlers = {
  listIssueLabels: onRepository(read, (call) => ok(shownLabels(call.view, issueOf(call)))),
  addIssueLabels: onRepository(member, (call) => {
    const { issue, labels } = writable(call);
    addLabels(call.world, doer(call), issue, labels);
    return ok(shownLabels(call.view, issue));
  }),
  replaceIssueLabels: onRepository(member, (call) => {
    const { issue, labels } = writable(call);
    replaceLabels(call.world, doer(call), issue, labels);
    return ok(shownLabels(call.view, issue));
  }),
  removeIssueLabel: onRepository(member, (call) => {
    const issue = removable(call);
    removeLabel(call.world, doer(call), issue, labelOf(call));
    return noContent();
  }),
  clearIssueLabels: onRepository(member, (call) => {
    clearLabels(call.world, doer(call), removable(call));
    return noContent();
  }),
};
