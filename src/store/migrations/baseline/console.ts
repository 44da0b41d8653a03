/** Who is logged in to the Console. Secrets are kept as hashes, tokens of the forge sealed. */
export const CONSOLE = `
CREATE TABLE console_sessions (
  id         text COLLATE "C" PRIMARY KEY,
  token_hash text COLLATE "C" NOT NULL UNIQUE,
  kind       text NOT NULL,
  name       text NOT NULL,
  grant_id   text COLLATE "C",
  agent      text NOT NULL,
  made_at    timestamptz NOT NULL,
  seen_at    timestamptz NOT NULL,
  ends_at    timestamptz NOT NULL,
  ended_at   timestamptz
);
CREATE INDEX console_sessions_grant ON console_sessions (grant_id) WHERE grant_id IS NOT NULL;

CREATE TABLE console_tickets (
  hash    text COLLATE "C" PRIMARY KEY,
  kind    text NOT NULL,
  content text NOT NULL,
  ends_at timestamptz NOT NULL
);

CREATE TABLE console_grants (
  id             text COLLATE "C" PRIMARY KEY,
  forge          text NOT NULL,
  user_id        text NOT NULL,
  login          text NOT NULL,
  sealed         text NOT NULL,
  access_ends_at timestamptz NOT NULL,
  renewed_at     timestamptz NOT NULL,
  UNIQUE (forge, user_id)
);
`;
