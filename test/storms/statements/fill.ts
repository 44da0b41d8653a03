import pg from 'pg';

/** Between two deliveries. Time is what a store grows by: as many come in the last hour of a large one as in that of a small one. */
const STEP = `interval '130 seconds'`;
/** The newest deliveries, of which some are under way. Nothing else of the two stores is the same in number. */
const UNDER_WAY = 200;

/**
 * Functions of the number of a delivery, counted from the newest, and of what is wanted for it, so that each store of a size is the same. `r`: 0 to 999. Ids tell the time, as ours do. What is
 * in `acme` and in repository 7 is what the recorded tests ask about: the largest organization, and its largest repository.
 */
const FUNCTIONS = `
CREATE FUNCTION pg_temp.r(what text, n bigint) RETURNS integer LANGUAGE sql IMMUTABLE AS
  $$ SELECT ('x' || substr(md5(what || n), 1, 7))::bit(28)::integer % 1000 $$;
CREATE FUNCTION pg_temp.id(what text, n bigint, at timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT substr(t, 1, 8) || '-' || substr(t, 9, 4) || '-7' || substr(h, 1, 3) || '-8' || substr(h, 4, 3) || '-' || substr(h, 7, 12)
  FROM (SELECT lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') AS t, md5(what || n) AS h) AS made $$;
CREATE FUNCTION pg_temp.key(what text, n bigint) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT sha256((what || n)::bytea) $$;
`;

/** `$n`: deliveries; those of a large store are those of a small one and older ones. Sequences of rows go up to 0, so that those of a test are the newest; numbers of links begin where no test's end. */
const FILL = `
CREATE TEMP TABLE d AS
SELECT n, n < ${UNDER_WAY} AS is_new, now() - n * ${STEP} AS at, pg_temp.r('class', n) AS class, -n - 10 AS seq,
  CASE WHEN pg_temp.r('org', n) < 300 THEN 'acme' ELSE 'org-' || pg_temp.r('which', n) % 49 END AS org,
  CASE WHEN pg_temp.r('repo', n) < 300 THEN '7' ELSE (10 + pg_temp.r('number', n) % 20)::text END AS repo_id,
  pg_temp.r('person', n) % 200 AS person,
  (ARRAY['push', 'push', 'push', 'issue.opened', 'issue.closed', 'pull_request.opened', 'comment.created', 'release.published'])[1 + pg_temp.r('kind', n) % 8] AS kind,
  NULL::text AS arrival_id, NULL::text AS event_id
FROM generate_series($n - 1, 0, -1) AS n;
UPDATE d SET arrival_id = pg_temp.id('arrival', n, at), event_id = CASE WHEN class < 900 THEN pg_temp.id('event', n, at + interval '1 ms') END;
CREATE INDEX ON d (n); ANALYZE d;

INSERT INTO arrivals (id, kind, forge, org, source, hook, event_type, event, delivery_id, content_type, verdict, entry_key, text_hash, body, state, reason, code, event_id, repeats, arrived_at, archived_at, matched_at)
SELECT arrival_id, CASE WHEN is_row THEN 'entry' ELSE 'delivery' END, 'main', org, CASE WHEN is_row THEN 'feed' ELSE 'webhook' END,
  CASE WHEN NOT is_row THEN org END, CASE WHEN NOT is_row THEN 'push' END, CASE WHEN NOT is_row THEN 'push' END, CASE WHEN NOT is_row THEN pg_temp.id('told', n, at) END,
  CASE WHEN NOT is_row THEN 'json' END, CASE WHEN NOT is_row THEN 'signed' END, CASE WHEN is_row THEN 'row-' || n END, pg_temp.key('text', n),
  CASE WHEN n > $n * 0.2 THEN ''::bytea ELSE convert_to(repeat('x', 300), 'UTF8') END,
  CASE WHEN is_new AND class >= 990 THEN 'stored' WHEN class BETWEEN 950 AND 969 THEN 'quarantined' ELSE 'decided' END,
  CASE WHEN class >= 900 THEN 'nothing to do' END, CASE WHEN class BETWEEN 900 AND 949 THEN 'duplicate' END, event_id, CASE WHEN class < 20 THEN 1 ELSE 0 END, at,
  CASE WHEN n > $n * 0.2 THEN at + interval '90 days' END, CASE WHEN NOT is_new THEN at END
FROM (SELECT *, pg_temp.r('row', n) < 50 AS is_row FROM d) AS d;

INSERT INTO repeats SELECT hashtextextended('text' || n, 0), n, arrival_id::uuid FROM d WHERE pg_temp.r('row', n) >= 50;
INSERT INTO known_entries SELECT md5('entry' || n)::uuid, arrival_id::uuid FROM d WHERE pg_temp.r('row', n) < 50;

INSERT INTO events (id, forge, org, kind, source, fact_key, fact_hash, fact_at, actor, repo, repo_id, data, stored_at, decided_at, seq, discussion_hash, reported_by, object_hash, decided_by)
SELECT event_id, 'main', org, kind, 'webhook', repo_id || '|' || kind || '|' || n, pg_temp.key('fact', n), at,
  CASE WHEN person < 20 THEN '{"id":"3","login":"ann"}' ELSE '{"id":"' || person || '","login":"person-' || person || '"}' END,
  '{"id":"' || repo_id || '","owner":"' || org || '","name":"app-' || repo_id || '","full_name":"' || org || '/app-' || repo_id || '"}', repo_id,
  '{"ref":"refs/heads/main","text":"' || repeat('y', 200) || '"}', at, CASE WHEN NOT is_new OR class >= 20 THEN at END, seq,
  CASE WHEN kind = 'comment.created' THEN pg_temp.key('talk', n / 20) END, CASE WHEN class % 3 = 0 THEN 3 ELSE 1 END,
  CASE WHEN kind LIKE 'issue.%' OR kind LIKE 'pull_request.%' THEN pg_temp.key('object', n / 10) END, 'decider-' || n % 60
FROM d WHERE event_id IS NOT NULL;
INSERT INTO arrival_events (arrival_id, event_id, source, seq) SELECT arrival_id, event_id, 'webhook', seq FROM d WHERE event_id IS NOT NULL;

CREATE TEMP TABLE r AS
SELECT d.*, x.again, pg_temp.r('state' || x.again, n) AS what, 2 * seq + x.again AS run_seq, pg_temp.id('run' || x.again, n, at + x.again * interval '2 ms') AS id,
  CASE WHEN class >= 985 THEN '@policies' ELSE 'r' || 1 + pg_temp.r('rule', n) % 9 END AS rule, NULL::text AS state
FROM d CROSS JOIN generate_series(0, 1) AS x (again) WHERE (event_id IS NOT NULL AND (x.again = 0 OR pg_temp.r('two', n) < 200)) OR (class >= 985 AND x.again = 0);
UPDATE r SET state = CASE WHEN what < 850 THEN 'not-fired' WHEN is_new AND what < 880 THEN 'open' WHEN is_new AND what < 890 THEN 'gathering' WHEN what < 930 THEN 'done'
  WHEN what < 945 THEN 'failed' WHEN what < 955 THEN 'error' WHEN what < 965 THEN 'cancelled' WHEN what < 985 THEN 'coalesced' ELSE 'done' END;
INSERT INTO runs (id, forge, org, rule, kind, revision_id, cause, event_id, run_key, mode, state, trace, lookups, decided_at, ended_at, seq, due_at, coalesce_hash, coalesced_into, sealed_n, reason_code, reason_params, repo_id)
SELECT id, 'main', org, rule, CASE WHEN event_id IS NULL THEN 'policy' ELSE 'rule' END, 'revision-' || n % 60,
  CASE WHEN event_id IS NULL THEN '{"kind":"tick","tickId":"t-' || n || '","subject":"' || repo_id || '"}' ELSE '{"kind":"event","eventId":"' || event_id || '"}' END,
  event_id, md5('run' || n || '-' || again), 'live', state, CASE WHEN state = 'not-fired' THEN '[]' ELSE '[{"text":"' || repeat('z', 200) || '"}]' END,
  CASE WHEN what % 10 = 0 THEN '{"labels":[]}' ELSE '{}' END, at, CASE WHEN state NOT IN ('open', 'gathering') THEN at END, run_seq,
  CASE WHEN state = 'gathering' THEN at + interval '1 day' END, CASE WHEN state IN ('gathering', 'coalesced') THEN pg_temp.key('window', n) END,
  CASE WHEN state = 'coalesced' THEN pg_temp.id('run0', n + 1, at - ${STEP}) END,
  CASE WHEN state NOT IN ('open', 'gathering') AND NOT is_new THEN 1000000 + row_number() OVER (PARTITION BY org ORDER BY run_seq) END,
  CASE state WHEN 'error' THEN 'run.held.limit' WHEN 'not-fired' THEN 'run.not-fired' ELSE 'run.fired' END,
  CASE state WHEN 'error' THEN '{"fired":5,"limit":5}' ELSE '{}' END, repo_id
FROM r;
INSERT INTO audit_links (org, n, run_id, as_of, key_id, record, link)
SELECT org, sealed_n, id, ended_at, 'key', sha256(('r' || id)::bytea), sha256(('l' || id)::bytea) FROM runs WHERE sealed_n IS NOT NULL;

CREATE TEMP TABLE i AS
SELECT r.*, pg_temp.id('intent', n, at + (3 + again) * interval '1 ms') AS intent_id,
  CASE state WHEN 'open' THEN 'planned' WHEN 'failed' THEN (ARRAY['dead', 'refused', 'conflict'])[1 + what % 3] WHEN 'cancelled' THEN 'cancelled'
    ELSE (ARRAY['done', 'done', 'unchanged', 'suppressed'])[1 + what % 4] END AS effect
FROM r WHERE state IN ('done', 'failed', 'cancelled', 'open') AND again = 0;
INSERT INTO intents (id, run_id, forge, org, rule, revision_id, step_id, step_no, item_key, intent_key, action, params, target, order_key, effect_key, effect_hash, mode, planned_at, seq, state, due_at,
  epoch, attempts, tries, result, updated_at, background, reason_code, reason_params)
SELECT intent_id, id, 'main', org, rule, 'revision-' || n % 60, 'step-0', 0, 'bug', 'intent-' || intent_id, 'label.ensure', '{"name":"bug","color":"#ee0701"}',
  '{"kind":"repository","id":"' || repo_id || '","owner":"' || org || '","name":"app-' || repo_id || '","private":false}', 'main/repository/' || repo_id,
  'main/' || repo_id || '/issue/' || n / 5, pg_temp.key('effect', n / 5), 'live', at, run_seq, effect, at, 1, CASE WHEN effect IN ('planned', 'cancelled', 'suppressed') THEN 0 ELSE 1 END, 0, '{}', at,
  event_id IS NULL, 'intent.done', '{}'
FROM i;
INSERT INTO attempts (id, intent_id, org, n, operation, epoch, request_hash, sent_at, answered_at, outcome, status, object_id)
SELECT pg_temp.id('attempt', n, at), intent_id, org, 1, 'createLabel', 1, md5(intent_id), at, at, 'done', 201, n::text FROM i WHERE effect NOT IN ('planned', 'cancelled', 'suppressed');

INSERT INTO echoes SELECT event_id, pg_temp.id('intent', n - 1, at), 1 FROM d WHERE event_id IS NOT NULL AND n % 50 = 0;
INSERT INTO undone SELECT DISTINCT ON (n / 5) pg_temp.key('effect', n / 5), 'main/' || repo_id || '/issue/' || n / 5, event_id, 'ann', 'label removed', at FROM d WHERE event_id IS NOT NULL AND pg_temp.r('undone', n) = 0;
INSERT INTO told_acts SELECT 'main', org, 'r1', 'act-' || n, event_id, at FROM d WHERE event_id IS NOT NULL AND n % 50 = 0;
INSERT INTO object_states (forge, org, repo_id, kind, object_id, state, kept_at) SELECT 'main', org, repo_id, 'issue', 'o-' || n, '{"labels":[]}', at FROM d WHERE n % 10 = 0;
INSERT INTO gaps SELECT event_id, 'main', org, arrival_id, event_id, 'feed', 'row-' || n, kind, org || '/app-' || repo_id, 'down', 'no receiver was up', CASE WHEN is_new THEN 'repaired' ELSE 'late' END, at, at, seq
  FROM d WHERE event_id IS NOT NULL AND n % 100 = 0;
INSERT INTO outages SELECT at, at + interval '1 minute', seq FROM d WHERE n % 1000 = 0;
INSERT INTO ticks SELECT pg_temp.id('tick', n, at), 'main', org, 'r' || 1 + n % 9, date_trunc('second', at), 'decided' FROM d WHERE n % 20 = 0 ON CONFLICT DO NOTHING;
INSERT INTO acts (id, seq, org, at, by, by_kind, operation, about, outcome, ended_at, sealed_n)
SELECT 'act-' || pg_temp.id('act', n, at), seq, org, at, 'ada', 'operator', 'pause', '{}', 'done', at, CASE WHEN NOT is_new THEN 2000000 + n END FROM d WHERE n % 100 = 0;
INSERT INTO audit_links (org, n, run_id, as_of, key_id, record, link)
SELECT org, sealed_n, id, ended_at, 'key', sha256(('r' || id)::bytea), sha256(('l' || id)::bytea) FROM acts WHERE sealed_n IS NOT NULL;
INSERT INTO findings SELECT pg_temp.key('finding', n), 'main', org, 'labels', repo_id, org || '/app', 'finding-' || n, 'low', 'missing', at, at, CASE WHEN NOT is_new THEN at END, seq FROM d WHERE n % 100 = 0;
INSERT INTO plans SELECT md5('plan' || n), pg_temp.id('plan', n, at), 'main', org, CASE WHEN is_new THEN 'open' ELSE 'applied' END,
  '{"lines":[],"needsApproval":false,"revision":{"hash":"h"},"now":"2026-11-20T12:00:00.000Z","madeAt":"2026-11-20T12:00:00.000Z"}', at, NULL, NULL, 'ada', at, seq FROM d WHERE n % 200 = 0;
INSERT INTO rollouts SELECT pg_temp.id('stage', n, at), org, 'r' || n % 9, md5('rule' || n), 'file', 'live', NULL, 'ada', at, '{}', false, seq FROM d WHERE n % 400 = 0;
INSERT INTO revisions SELECT 'revision-' || n, org, md5('files' || n), '[]', 'replaced', '[]', at, seq, NULL FROM d WHERE n <= 60;
INSERT INTO deciders SELECT 'decider-' || n, 'revision-' || n, '{}' FROM generate_series(0, 59) AS n;
INSERT INTO feed_repositories SELECT DISTINCT 'main', org, repo_id, 'app-' || repo_id, now() FROM d;
INSERT INTO known_facts SELECT DISTINCT 'main', org, 'inventory', '{}', now() FROM d;
INSERT INTO cursors SELECT DISTINCT 'main', org, 'feed', '{}', now() FROM d;
INSERT INTO operators SELECT 'operator-' || n, 'person-' || n, 'person-' || n, 'read', md5('token' || n), 'ada', now(), now() + interval '1 year', NULL, NULL, n - 1000 FROM generate_series(1, 20) AS n;
`;

/**
 * Rows of so many deliveries, 50 organizations, members, effects and all that hangs on them, in the tables that there are.
 * @param client its session is left with more exact statistics than the server's
 */
export async function fill(client: pg.ClientBase, deliveries: number): Promise<void> {
  await client.query(FUNCTIONS);
  const { rows: tables } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  );
  for (const { name } of tables) await client.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
  await client.query(FILL.replaceAll('$n', String(deliveries)));
  // Each row is read: what the planner knows is the same each time.
  await client.query('SET default_statistics_target = 1000');
  await client.query('VACUUM ANALYZE');
}
