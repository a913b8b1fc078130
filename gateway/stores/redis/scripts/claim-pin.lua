-- Stores a pin unless there is one, and appends the change to the stream.
--
-- KEYS[1]  the pin
-- KEYS[2]  the stream of changes
-- ARGV[1]  the pin to store
-- ARGV[2]  the key of the pin in gateways
-- ARGV[3]  approximate number of changes to keep
--
-- Returns  the stored pin

local stored = redis.call('GET', KEYS[1])
if stored then
  return stored
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[3], '*', 'claim', ARGV[2])
return ARGV[1]
