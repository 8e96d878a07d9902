-- How many bytes the events of a tree have, or had before old ones were dropped. Those of earlier versions count once the tree is
-- over its limit with new ones.
ALTER TABLE trees ADD COLUMN {if_not_exists} event_bytes BIGINT NOT NULL DEFAULT 0;
