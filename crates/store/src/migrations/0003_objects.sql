-- What is kept beside stacks: software configurations, deployments, engines.
CREATE TABLE IF NOT EXISTS objects (
  id {id} NOT NULL PRIMARY KEY,
  kind {word} NOT NULL,
  project {word} NOT NULL,
  subject {word} NOT NULL,       -- what it is for, such as the server of a deployment
  uses {id},                     -- the object that it uses
  created BIGINT NOT NULL,
  updated BIGINT,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS objects_project ON objects (kind, project, created, id);
CREATE INDEX IF NOT EXISTS objects_everywhere ON objects (kind, created, id);
CREATE INDEX IF NOT EXISTS objects_subject ON objects (kind, subject, created, id);
CREATE INDEX IF NOT EXISTS objects_uses ON objects (kind, uses, created, id);
