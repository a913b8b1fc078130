-- Stores or removes one override and appends the change to the stream.
--
-- KEYS[1]  hash of overrides by id
-- KEYS[2]  the stream of changes
-- ARGV[1]  the id
-- ARGV[2]  the override, '' to remove it
-- ARGV[3]  approximate number of changes to keep
--
-- Returns  1 if something changed, else 0

local changed = 1
if ARGV[2] == '' then
  changed = redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
end
if changed == 1 then
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'override', ARGV[1])
end
return changed
