import { z } from 'zod';
import { operationsOf } from '../define-operation.js';
import { listOf, listWithNulls } from '../../core/objects/base.js';
import { commit, comparison, contents, fileChange, fileOrFolder } from '../../core/objects/git.js';
import { paging } from './params.js';

const { del, get, post, put } = operationsOf('repository');

const ref = { type: 'string', summary: 'branch, tag or commit; default: the default branch' } as const;
const MANY_FILES_BYTES = 20 * 1024 * 1024;

/** Contents are base64. Without a branch the default branch is written to. */
const commitFields = {
  message: z.string().optional(),
  branch: z.string().optional(),
  new_branch: z.string().optional(),
};

export const contentsOperations = {
  getFiles: post('/repos/{owner}/{repo}/file-contents', {
    n: 5,
    query: { ref },
    body: z.strictObject({ files: z.array(z.string()) }),
    result: listWithNulls(contents),
    success: [200],
    retry: 'read',
    readOnly: true,
    maxBytes: MANY_FILES_BYTES,
    summary: 'Get contents of several files in the order asked; null = not there; at most 30 per answer',
  }),
  getFilesByQuery: get('/repos/{owner}/{repo}/file-contents', {
    query: { ref, body: { type: 'string', required: true, summary: 'the body of the other form as JSON text' } },
    result: listWithNulls(contents),
    maxBytes: MANY_FILES_BYTES,
    summary: 'Get contents of several files with a token that may only read',
  }),
  getContents: get('/repos/{owner}/{repo}/contents/{filepath}', {
    tail: true,
    query: { ref },
    result: fileOrFolder,
    summary: 'Get one file with its content, or a folder with its entries',
  }),
  compareCommits: get('/repos/{owner}/{repo}/compare/{basehead}', {
    tail: true,
    result: comparison,
    summary: 'Compare two refs, "base...head"',
  }),
  getCommit: get('/repos/{owner}/{repo}/git/commits/{sha}', {
    query: {
      files: { type: 'boolean', summary: 'false leaves the changed files out' },
      stat: { type: 'boolean', summary: 'false leaves the counts of lines out' },
      verification: { type: 'boolean', summary: 'false leaves the signature out' },
    },
    result: commit,
    summary: 'Get one commit',
  }),
  listCommits: get('/repos/{owner}/{repo}/commits', {
    query: {
      sha: { type: 'string', summary: 'branch, tag or commit to begin at; default: the default branch' },
      not: { type: 'string', summary: 'without those that this branch, tag or commit has' },
      files: { type: 'boolean', summary: 'false leaves the changed files out' },
      stat: { type: 'boolean', summary: 'false leaves the counts of lines out' },
      verification: { type: 'boolean', summary: 'false leaves the signature out' },
      ...paging,
    },
    result: listOf(commit),
    summary: 'List commits, newest first',
  }),
  listContents: get('/repos/{owner}/{repo}/contents', {
    query: { ref },
    result: listOf(contents),
    summary: 'List what lies at the root, without contents',
  }),
  createFile: post('/repos/{owner}/{repo}/contents/{filepath}', {
    tail: true,
    body: z.strictObject({ ...commitFields, content: z.string() }),
    result: fileChange,
    retry: 'keyed',
    summary: 'Commit a new file',
  }),
  updateFile: put('/repos/{owner}/{repo}/contents/{filepath}', {
    tail: true,
    body: z.strictObject({ ...commitFields, content: z.string(), sha: z.string(), from_path: z.string().optional() }),
    result: fileChange,
    success: [200, 201],
    retry: 'keyed',
    summary: 'Commit a change of a file; its present blob has to be named',
  }),
  applyPatch: post('/repos/{owner}/{repo}/diffpatch', {
    body: z.strictObject({
      ...commitFields,
      content: z.string(),
      sha: z.string(),
      author: z.strictObject({ name: z.string(), email: z.string() }).optional(),
      dates: z.strictObject({ author: z.string(), committer: z.string() }).optional(),
    }),
    result: fileChange,
    retry: 'keyed',
    summary: 'Commit what a patch changes; 500 without a word where it does not apply',
  }),
  deleteFile: del('/repos/{owner}/{repo}/contents/{filepath}', {
    tail: true,
    body: z.strictObject({ ...commitFields, sha: z.string() }),
    result: fileChange,
    success: [200],
    retry: 'keyed',
    summary: 'Commit the end of a file; its present blob has to be named',
  }),
} as const;
