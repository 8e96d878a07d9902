-- A tree of stacks: who owns it, and whether it has work to do.
CREATE TABLE IF NOT EXISTS trees (
  root {id} NOT NULL PRIMARY KEY,
  project {word} NOT NULL,
  live_name {word},              -- the name of the root; none once the root is deleted
  engine {id},                   -- the owner
  owned SMALLINT NOT NULL,       -- whether there is an owner
  fence BIGINT NOT NULL,
  expires BIGINT NOT NULL,       -- when the lease runs out; without an owner, since when there is none
  has_work SMALLINT NOT NULL,
  last_event BIGINT NOT NULL,
  last_command BIGINT NOT NULL
) {table};
CREATE UNIQUE INDEX IF NOT EXISTS trees_name ON trees (project, live_name);
CREATE INDEX IF NOT EXISTS trees_work ON trees (has_work, owned, expires, root);
CREATE INDEX IF NOT EXISTS trees_engine ON trees (engine);

CREATE TABLE IF NOT EXISTS stacks (
  id {id} NOT NULL PRIMARY KEY,
  root {id} NOT NULL,
  parent {id},
  project {word} NOT NULL,
  name {word} NOT NULL,
  user_name {text} NOT NULL,
  action {word} NOT NULL,
  status {word} NOT NULL,
  reason {text} NOT NULL,
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL,       -- the least number if never
  deleted BIGINT,
  class SMALLINT NOT NULL,       -- 0 live root, 1 live nested, 2 deleted root, 3 deleted nested
  tags {text} NOT NULL,          -- as a list; the table of tags is for looking them up
  recipe {id} NOT NULL,
  previous {id},
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS stacks_root ON stacks (root);
CREATE INDEX IF NOT EXISTS stacks_parent ON stacks (parent, created, id);
CREATE INDEX IF NOT EXISTS stacks_created ON stacks (project, class, created, id);
CREATE INDEX IF NOT EXISTS stacks_updated ON stacks (project, class, updated, id);
CREATE INDEX IF NOT EXISTS stacks_name ON stacks (project, class, name, id);
CREATE INDEX IF NOT EXISTS stacks_status ON stacks (project, class, status, id);
CREATE INDEX IF NOT EXISTS stacks_everywhere ON stacks (class, created, id);
CREATE INDEX IF NOT EXISTS stacks_deleted ON stacks (class, deleted, id);

CREATE TABLE IF NOT EXISTS tags (
  stack {id} NOT NULL,
  tag {word} NOT NULL,
  PRIMARY KEY (stack, tag)
) {table};

CREATE TABLE IF NOT EXISTS resources (
  id {id} NOT NULL PRIMARY KEY,
  stack {id} NOT NULL,
  root {id} NOT NULL,
  number BIGINT NOT NULL,
  name {text} NOT NULL,
  kind {text} NOT NULL,
  action {word} NOT NULL,
  status {word} NOT NULL,
  reason {text} NOT NULL,
  physical_id {text},
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS resources_stack ON resources (stack, number);

CREATE TABLE IF NOT EXISTS events (
  id {id} NOT NULL PRIMARY KEY,
  stack {id} NOT NULL,
  root {id} NOT NULL,
  number BIGINT NOT NULL,
  time BIGINT NOT NULL,
  resource {text} NOT NULL,
  kind {text} NOT NULL,
  physical_id {text} NOT NULL,
  action {word} NOT NULL,
  status {word} NOT NULL,
  reason {text} NOT NULL,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS events_stack ON events (stack, number);

CREATE TABLE IF NOT EXISTS recipes (
  id {id} NOT NULL PRIMARY KEY,
  root {id} NOT NULL,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS recipes_root ON recipes (root);

-- Texts, once each. What stands for a text is a keyed hash of it.
CREATE TABLE IF NOT EXISTS contents (
  id {hash} NOT NULL PRIMARY KEY,
  body {body} NOT NULL
) {table};

-- Which recipe needs which text.
CREATE TABLE IF NOT EXISTS needs (
  recipe {id} NOT NULL,
  content {hash} NOT NULL,
  PRIMARY KEY (recipe, content)
) {table};
CREATE INDEX IF NOT EXISTS needs_content ON needs (content);

CREATE TABLE IF NOT EXISTS commands (
  id {id} NOT NULL PRIMARY KEY,
  root {id} NOT NULL,
  number BIGINT NOT NULL,
  time BIGINT NOT NULL,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS commands_root ON commands (root, number);

CREATE TABLE IF NOT EXISTS settings (
  name {word} NOT NULL PRIMARY KEY,
  body {body} NOT NULL
) {table};
