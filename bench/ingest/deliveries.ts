import { createHmac } from 'node:crypto';

/** Bytes of one signed delivery as a Gitea server sends them; only the delivery's id, the pushed commit and the signatures differ. */
export class DeliveryMaker {
  private readonly bytes: Buffer;
  private readonly bodyStart: number;
  private readonly shaPlaces: readonly number[];
  private readonly idPlaces: readonly number[];
  private readonly signaturePlaces: readonly number[];
  /** 64 hex digits for each delivery signed beforehand. */
  private signatures = Buffer.alloc(0);
  private signed = 0;

  constructor(
    private readonly secret: string,
    path: string,
  ) {
    const body = pushBody();
    const head = headers(path, Buffer.byteLength(body));
    this.bytes = Buffer.from(head + body);
    this.bodyStart = Buffer.byteLength(head);
    this.shaPlaces = placesOf(this.bytes, SHA);
    this.idPlaces = placesOf(this.bytes, DELIVERY_ID);
    this.signaturePlaces = placesOf(this.bytes, SIGNATURE);
  }

  get bodyBytes(): number {
    return this.bytes.length - this.bodyStart;
  }

  /** Sign this many now, so that signing costs nothing while the load runs. */
  signAhead(count: number): void {
    if (count <= this.signed) return;
    const all = Buffer.alloc(count * 64);
    this.signatures.copy(all, 0, 0, this.signed * 64);
    const one = Buffer.from(this.bytes);
    for (let n = this.signed; n < count; n += 1) {
      this.number(one, n);
      all.write(this.sign(one), n * 64, 'latin1');
    }
    this.signatures = all;
    this.signed = count;
  }

  /** A buffer for `write`; a connection that has one request under way needs no more than one. */
  blank(): Buffer {
    return Buffer.from(this.bytes);
  }

  /** Make the buffer the n-th delivery. */
  write(n: number, blank: Buffer): void {
    this.number(blank, n);
    if (n < this.signed)
      for (const place of this.signaturePlaces) this.signatures.copy(blank, place, n * 64, n * 64 + 64);
    else {
      const signature = this.sign(blank);
      for (const place of this.signaturePlaces) blank.write(signature, place, 'latin1');
    }
  }

  private number(one: Buffer, n: number): void {
    // Spread over the whole range, as real ids are: an index that only ever grew at its end would be too kind.
    const digits = (Math.imul(n, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');
    for (const place of this.idPlaces) one.write(digits, place, 'latin1');
    for (const place of this.shaPlaces) one.write(digits, place, 'latin1');
  }

  private sign(one: Buffer): string {
    return createHmac('sha256', this.secret).update(one.subarray(this.bodyStart)).digest('hex');
  }
}

const SHA = '000000009b2f4a8356c1d0e7f92b3a5c41f60d2e';
const DELIVERY_ID = '00000000-8d23-4c97-aaec-531be38ab0c4';
const SIGNATURE = 'f'.repeat(64);

/** Every header a Gitea server sends, GitHub's family among them, so that all four servers get the same bytes. */
function headers(path: string, length: number): string {
  const family = (name: string): string[] => [
    `X-${name}-Delivery: ${DELIVERY_ID}`,
    `X-${name}-Event: push`,
    `X-${name}-Event-Type: push`,
    ...(name === 'Gogs' ? [] : [`X-${name}-Hook-Installation-Target-Type: repository`]),
    ...(name === 'GitHub' ? [] : [`X-${name}-Signature: ${SIGNATURE}`]),
  ];
  return [
    `POST ${path} HTTP/1.1`,
    'Host: bot.example.org',
    'User-Agent: Go-http-client/1.1',
    `Content-Length: ${length}`,
    'Content-Type: application/json',
    ...family('GitHub'),
    ...family('Gitea'),
    ...family('Gogs'),
    `X-Hub-Signature: sha1=${'0'.repeat(40)}`,
    `X-Hub-Signature-256: sha256=${SIGNATURE}`,
    'Accept-Encoding: gzip',
    '',
    '',
  ].join('\r\n');
}

function placesOf(bytes: Buffer, mark: string): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) places.push(at);
  return places;
}

const BASE = 'https://git.example.org';
const BODY_BYTES = 7 * 1024;

/** A push of two commits, indented as Gitea writes it, filled up to 7 KB by the message of the newer one, which stands in it twice. */
function pushBody(): string {
  const filled = (message: string): string => JSON.stringify(push(message), null, 2);
  const missing = BODY_BYTES - Buffer.byteLength(filled(''));
  return filled(MESSAGE.repeat(Math.ceil(missing / 2 / MESSAGE.length)).slice(0, Math.floor(missing / 2)));
}

const MESSAGE =
  'Keep the order of the list when an entry is moved. The old code sorted after every change and lost the place that a user had chosen; it now ' +
  'writes the position beside each entry and reads it back, with a migration for lists made before. Tests cover moving to both ends, and two users at once. ';

function push(message: string): unknown {
  const head = commit(SHA, message);
  return {
    ref: 'refs/heads/main',
    before: 'c7d6c8d1f5a26e38c2ba4f9a4c9d2c0d5e1f7a3b',
    after: SHA,
    compare_url: `${BASE}/acme/app/compare/c7d6c8d1f5a26e38c2ba4f9a4c9d2c0d5e1f7a3b...${SHA}`,
    commits: [head, commit('4b2f9c1d8e7a6053f1c2d3e4b5a697887f6e5d4c', 'Read the list once\n')],
    total_commits: 2,
    head_commit: head,
    repository: repository(),
    pusher: user(3, 'ben', 'Ben Berg'),
    sender: user(3, 'ben', 'Ben Berg'),
  };
}

function commit(sha: string, message: string): unknown {
  const person = { name: 'Ben Berg', email: 'ben@example.org', username: 'ben' };
  return {
    id: sha,
    message,
    url: `${BASE}/acme/app/commit/${sha}`,
    author: person,
    committer: person,
    verification: null,
    timestamp: '2026-01-15T10:24:31+01:00',
    added: ['src/list/order.go'],
    removed: [],
    modified: ['src/list/list.go', 'docs/list.md', 'go.mod'],
  };
}

function user(id: number, login: string, name: string): Record<string, unknown> {
  return {
    id,
    login,
    login_name: '',
    source_id: 0,
    full_name: name,
    email: `${login}@example.org`,
    avatar_url: `${BASE}/avatars/53bce4f1dfa0fe8e7ca126f91b35d3a6`,
    html_url: `${BASE}/${login}`,
    language: '',
    is_admin: false,
    last_login: '0001-01-01T00:00:00Z',
    created: '2025-11-20T19:32:54+01:00',
    restricted: false,
    active: false,
    prohibit_login: false,
    location: '',
    website: '',
    description: '',
    visibility: 'public',
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
    username: login,
  };
}

function repository(): Record<string, unknown> {
  return {
    id: 37,
    owner: user(32, 'acme', 'Acme Corp'),
    name: 'app',
    full_name: 'acme/app',
    description: 'the product',
    empty: false,
    private: false,
    fork: false,
    template: false,
    mirror: false,
    size: 2214,
    language: 'Go',
    languages_url: `${BASE}/api/v1/repos/acme/app/languages`,
    html_url: `${BASE}/acme/app`,
    url: `${BASE}/api/v1/repos/acme/app`,
    link: '',
    ssh_url: 'git@git.example.org:acme/app.git',
    clone_url: `${BASE}/acme/app.git`,
    original_url: '',
    website: '',
    stars_count: 4,
    forks_count: 2,
    watchers_count: 9,
    open_issues_count: 17,
    open_pr_counter: 3,
    release_counter: 12,
    default_branch: 'main',
    archived: false,
    created_at: '2025-11-20T19:33:01+01:00',
    updated_at: '2026-01-15T10:20:11+01:00',
    archived_at: '1970-01-01T01:00:00+01:00',
    permissions: { admin: true, push: true, pull: true },
    has_issues: true,
    internal_tracker: {
      enable_time_tracker: true,
      allow_only_contributors_to_track_time: true,
      enable_issue_dependencies: true,
    },
    has_wiki: true,
    has_pull_requests: true,
    has_projects: true,
    projects_mode: 'all',
    has_releases: true,
    has_packages: true,
    has_actions: true,
    ignore_whitespace_conflicts: false,
    allow_merge_commits: true,
    allow_rebase: true,
    allow_rebase_explicit: true,
    allow_squash_merge: true,
    allow_fast_forward_only_merge: true,
    allow_rebase_update: true,
    default_delete_branch_after_merge: false,
    default_merge_style: 'merge',
    default_allow_maintainer_edit: false,
    avatar_url: '',
    internal: false,
    mirror_interval: '',
    object_format_name: 'sha1',
    mirror_updated: '0001-01-01T00:00:00Z',
    topics: [],
    licenses: ['MIT'],
  };
}
