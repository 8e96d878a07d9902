-- Reasons and physical ids are sealed from here on: one column for both. What stands for the reason in the filters of
-- lists is a keyed hash of it. The texts of existing rows are sealed before 0006 drops the plain ones.
ALTER TABLE stacks ADD COLUMN {if_not_exists} texts {body};
ALTER TABLE stacks ADD COLUMN {if_not_exists} reason_key {hash};
ALTER TABLE resources ADD COLUMN {if_not_exists} texts {body};
ALTER TABLE events ADD COLUMN {if_not_exists} texts {body};
ALTER TABLE snapshots ADD COLUMN {if_not_exists} texts {body};

-- A row for each project and kind of object whose number is limited: it is locked while objects are counted and added.
CREATE TABLE IF NOT EXISTS quotas (
  project {word} NOT NULL,
  kind {word} NOT NULL,
  PRIMARY KEY (project, kind)
) {table};
