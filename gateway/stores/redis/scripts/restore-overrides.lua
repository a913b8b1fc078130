-- Gives a Redis that has lost its past the overrides that a gateway still knows. Called by shared-state.ts.
--
-- KEYS[1]  the overrides by id
-- KEYS[2]  the stream of changes
-- ARGV[1]  about how many changes are kept
-- ARGV[2]… id, override, id, override …
--
-- Returns  overrides: what stood there stays as it is

local restored = 0
for i = 2, #ARGV, 2 do
  restored = restored + redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1])
end
if restored > 0 then
  redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[1], '*', 'override', 'restored')
end
return redis.call('HVALS', KEYS[1])
