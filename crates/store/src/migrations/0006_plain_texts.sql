-- All texts are sealed: the plain ones go.
ALTER TABLE stacks DROP COLUMN {if_exists} reason;
ALTER TABLE resources DROP COLUMN {if_exists} reason;
ALTER TABLE resources DROP COLUMN {if_exists} physical_id;
ALTER TABLE events DROP COLUMN {if_exists} reason;
ALTER TABLE events DROP COLUMN {if_exists} physical_id;
ALTER TABLE snapshots DROP COLUMN {if_exists} reason;
