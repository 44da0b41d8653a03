import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';

const read = (path: string): string => readFileSync(path, 'utf8');

interface Field {
  readonly type: string;
  readonly id?: string;
  readonly attributes: { readonly label?: string; readonly value?: string; readonly options?: readonly string[] };
}

/** What is wrong with a field of an issue form: the forges show a form with a mistake as plain text. */
function wrongIn({ type, id, attributes }: Field): string | null {
  if (type === 'markdown') return attributes.value ? null : 'markdown without a value';
  if (!['input', 'textarea', 'dropdown', 'checkboxes'].includes(type)) return `unknown type ${type}`;
  if (!id || !/^[\w-]+$/.test(id)) return `${type} without an id`;
  if (!attributes.label) return `${id} without a label`;
  return type === 'dropdown' && !attributes.options?.length ? `${id} without options` : null;
}

describe('architecture/release', () => {
  it('the version is the same in every file that has it, and a tag of another one is told', () => {
    const check = (...args: string[]): string => {
      const { status, stderr } = spawnSync(process.execPath, ['deploy/release/versions.mjs', 'check', ...args]);
      return `${status} ${stderr.toString()}`;
    };

    expect(check()).toBe('0 ');
    expect(check('v999.0.0')).toMatch(/^1 the tag is 999\.0\.0/);
  });

  it('Gitea and Forgejo run the same workflows, each by the label of its runners', () => {
    const workflow = (forge: string): string =>
      read(`${forge}/workflows/forgehand.yaml`)
        .replaceAll(/runs-on: (ubuntu-latest|docker)$/gm, 'runs-on: LABEL')
        .replaceAll(/^#.*\n/gm, '');

    expect(workflow('.forgejo')).toBe(workflow('.gitea'));
    expect(read('.gitea/workflows/forgehand.yaml')).not.toContain('runs-on: docker');
    expect(read('.forgejo/workflows/forgehand.yaml')).not.toContain('runs-on: ubuntu-latest');
  });

  it('only the job of a release has secrets, and only on a tag', () => {
    const { jobs } = parse(read('.gitea/workflows/forgehand.yaml')) as { jobs: Record<string, { if?: string }> };
    const withSecrets = Object.entries(jobs).filter(([, job]) => JSON.stringify(job).includes('secrets.'));

    expect(withSecrets.map(([name, job]) => [name, job.if])).toEqual([
      ['release', "startsWith(github.ref, 'refs/tags/v')"],
    ]);
  });

  it.each(readdirSync('.gitea/issue_template').filter((name) => name !== 'config.yaml'))(
    'the issue form %s is one',
    (name) => {
      const {
        name: title,
        about,
        body,
      } = parse(read(`.gitea/issue_template/${name}`)) as {
        name: string;
        about: string;
        body: Field[];
      };

      expect(title && about).toBeTruthy();
      expect(body.map(wrongIn).filter(Boolean)).toEqual([]);
      const ids = body.flatMap(({ id }) => id ?? []);
      expect(new Set(ids).size).toBe(ids.length);
    },
  );
});
