-- Replaces the record of an API key if the expected record is stored, and appends the change to the stream.
--
-- KEYS[1]  hash of records by the public part of their key
-- KEYS[2]  the stream of changes
-- ARGV[1]  the public part
-- ARGV[2]  the expected record, '' for none
-- ARGV[3]  the record to store
-- ARGV[4]  approximate number of changes to keep
--
-- Returns  1, or 0 if another record is stored

if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
redis.call('XADD', KEYS[2], 'MAXLEN', '~', ARGV[4], '*', 'key', ARGV[1])
return 1
