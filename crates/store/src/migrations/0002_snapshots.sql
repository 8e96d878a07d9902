-- What a stack was at a moment. Copies of objects that belong to it are resources whose stack is its id.
CREATE TABLE IF NOT EXISTS snapshots (
  id {id} NOT NULL PRIMARY KEY,
  root {id} NOT NULL,
  stack {id} NOT NULL,
  project {word} NOT NULL,
  name {text},
  action {word} NOT NULL,
  status {word} NOT NULL,
  reason {text} NOT NULL,
  created BIGINT NOT NULL,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS snapshots_stack ON snapshots (stack, created, id);
CREATE INDEX IF NOT EXISTS snapshots_root ON snapshots (root, created, id);
