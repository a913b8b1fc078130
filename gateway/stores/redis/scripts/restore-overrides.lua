-- Writes the overrides that a gateway knows to a Redis that has lost its data. Stored overrides are kept.
--
-- KEYS[1]  hash of overrides by id
-- KEYS[2]  the stream of changes
-- ARGV[1]  approximate number of changes to keep
-- ARGV[2]… id, override, id, override …
--
-- Returns  all overrides

local restored = 0
for i = 2, #ARGV, 2 do
  restored = restored + redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
if restored > 0 then
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[1], '*', 'override', 'restored')
end
return redis.call('HVALS', KEYS[1])
