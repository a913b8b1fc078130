-- Puts the record of an API key in the place of another, if that one still stands, and tells every gateway. Called by
-- shared-state.ts.
--
-- KEYS[1]  the records by the public part of their key
-- KEYS[2]  the stream of changes
-- ARGV[1]  the public part
-- ARGV[2]  the record that should stand there, '' for none
-- ARGV[3]  the record to store
-- ARGV[4]  about how many changes are kept
--
-- Returns  1 when it was done, 0 when another record stands there

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[4], '*', 'key', ARGV[1])
return 1
