-- A database user for receivers (role web) that may put deliveries into the inbox and nothing else.
--
-- Run it as the owner of the tables, once they are there (start a worker or scheduler first); repeat it after an upgrade. Then give the user its
-- password, and say its address in DATABASE_URL of the web processes alone:
--
--   psql "$DATABASE_URL" -f deploy/receiver.sql
--   psql "$DATABASE_URL" -c '\password forgehand_receiver'
--
-- Workers, schedulers and commands keep the owner's address.

DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'forgehand_receiver') THEN
    CREATE ROLE forgehand_receiver LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS;
  END IF;
  -- What everybody may do in a new database.
  EXECUTE format('REVOKE CREATE, TEMPORARY ON DATABASE %I FROM PUBLIC, forgehand_receiver', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO forgehand_receiver', current_database());
END $$;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
REVOKE ALL ON SCHEMA public FROM forgehand_receiver;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM forgehand_receiver;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM forgehand_receiver;
GRANT USAGE ON SCHEMA public TO forgehand_receiver;

-- A delivery as it came: to put it in, and nothing else. Not what it became, nor what polling reads; not even whether it is there.
GRANT INSERT (id, kind, forge, org, source, hook, event_type, event, delivery_id, target_type, content_type, verdict, body, state, repeats, arrived_at)
  ON arrivals TO forgehand_receiver;

-- That a receiver is alive, and when none was.
GRANT SELECT (name, at), INSERT (name, at), UPDATE (at) ON heartbeats TO forgehand_receiver;
GRANT INSERT (from_at, to_at) ON outages TO forgehand_receiver;

-- Which proxy speaks for others and is not trusted to; the doctor reads it.
GRANT SELECT (address, seen_at), INSERT (address, seen_at), UPDATE (seen_at) ON untrusted_proxies TO forgehand_receiver;

-- Which alerts it has raised, for the other processes to show.
GRANT SELECT (process), INSERT (process, alerts, at), UPDATE (alerts, at) ON open_alerts TO forgehand_receiver;

-- How many bytes wait to be decided, by hook: no delivery can be read through it.
GRANT SELECT ON undecided_bytes TO forgehand_receiver;

-- Which key the store knows an organization by.
GRANT SELECT ON known_organizations TO forgehand_receiver;

-- Whether the tables are those of its version.
GRANT SELECT ON migrations TO forgehand_receiver;
