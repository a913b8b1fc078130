-- Stores a pin unless there is one, tells every gateway, and returns the one that stands. Called by shared-state.ts.
--
-- KEYS[1]  the pin
-- KEYS[2]  the stream of changes
-- ARGV[1]  the pin to store
-- ARGV[2]  the key as gateways know it
-- ARGV[3]  about how many changes are kept

local standing = redis.call('GET', KEYS[1])
if standing then
  return standing
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'claim', ARGV[2])
return ARGV[1]
