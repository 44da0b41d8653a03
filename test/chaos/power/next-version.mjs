/** Two changes of the tables as a next version would bring them: one that the catalog holds alone, and one that writes many rows. */
export const NEXT = [
  class Noted9999999999001 {
    up = (runner) => runner.query(`ALTER TABLE cursors ADD COLUMN note text NOT NULL DEFAULT ''`);
    down = async () => undefined;
  },
  class Filled9999999999002 {
    up = (runner) =>
      runner.query(
        `CREATE TABLE filled AS SELECT n, repeat('a row of the next version ', 8) AS text FROM generate_series(1, 20000) n; CREATE UNIQUE INDEX filled_n ON filled (n)`,
      );
    down = async () => undefined;
  },
];
