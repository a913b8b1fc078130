-- Stores a pin unless there is one, and returns the one that stands. Called by shared-state.ts.
--
-- KEYS[1]  the pin
-- ARGV[1]  the pin to store

local standing = redis.call('GET', KEYS[1])
if standing then
  return standing
end
redis.call('SET', KEYS[1], ARGV[1])
return ARGV[1]
