-- Changes: what each write touched stands beside its entry, so that a stream of changes never reads the large states.

-- JSON as text, like all JSON here. Null in entries of before, and in those of a replica that does not know the column yet.
ALTER TABLE history ADD COLUMN ids text;
