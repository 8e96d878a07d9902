-- Alarms that the service keeps itself.
CREATE TABLE IF NOT EXISTS alarms (
  id {id} NOT NULL PRIMARY KEY,
  project {word} NOT NULL,
  name {word} NOT NULL,
  stack {id},                    -- the stack that it belongs to
  metric {word} NOT NULL,
  state {word} NOT NULL,
  created BIGINT NOT NULL,
  updated BIGINT NOT NULL,
  changed BIGINT NOT NULL,
  evaluated BIGINT NOT NULL,
  period BIGINT NOT NULL,
  due BIGINT NOT NULL,           -- the greatest number if never
  version BIGINT NOT NULL,       -- grows with each write
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS alarms_name ON alarms (project, name, id);
CREATE INDEX IF NOT EXISTS alarms_metric ON alarms (project, metric, id);
CREATE INDEX IF NOT EXISTS alarms_stack ON alarms (stack);
CREATE INDEX IF NOT EXISTS alarms_due ON alarms (due, id);

-- What happened to alarms; it stays when they go.
CREATE TABLE IF NOT EXISTS alarm_history (
  id {id} NOT NULL PRIMARY KEY,
  project {word} NOT NULL,
  alarm {word} NOT NULL,
  kind {word} NOT NULL,
  time BIGINT NOT NULL,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS alarm_history_alarm ON alarm_history (project, alarm, time, id);
CREATE INDEX IF NOT EXISTS alarm_history_project ON alarm_history (project, time, id);
CREATE INDEX IF NOT EXISTS alarm_history_time ON alarm_history (time, id);

-- Which samples there are.
CREATE TABLE IF NOT EXISTS series (
  id {id} NOT NULL PRIMARY KEY,
  project {word} NOT NULL,
  namespace {word} NOT NULL,
  metric {word} NOT NULL,
  seen BIGINT NOT NULL,
  body {body} NOT NULL
) {table};
CREATE INDEX IF NOT EXISTS series_metric ON series (project, metric, id);
CREATE INDEX IF NOT EXISTS series_project ON series (project, id);
CREATE INDEX IF NOT EXISTS series_seen ON series (seen, id);

-- The samples of ten seconds, of a series or of those that were given to an alarm.
CREATE TABLE IF NOT EXISTS samples (
  series {id} NOT NULL,
  start BIGINT NOT NULL,
  amount DOUBLE PRECISION NOT NULL,
  total DOUBLE PRECISION NOT NULL,
  low DOUBLE PRECISION NOT NULL,
  high DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (series, start)
) {table};
CREATE INDEX IF NOT EXISTS samples_start ON samples (start, series);
