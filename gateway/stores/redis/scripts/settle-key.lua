-- Sets the outcome of an idempotency key, if the caller owns it (IDM-5).
--
-- KEYS[1]  the key, as claim-key.lua wrote it
-- ARGV[1]  the owner
-- ARGV[2]  'kept', 'unknown' or 'free'
-- ARGV[3]  the record of a kept answer
-- ARGV[4]  milliseconds to keep it
--
-- Returns  1, or 0 with nothing done if the caller does not own the key any more

local found = redis.call('HMGET', KEYS[1], 'state', 'owner')
if found[1] ~= 'running' or found[2] ~= ARGV[1] then
  return 0
end
if ARGV[2] == 'free' then
  redis.call('DEL', KEYS[1])
  return 1
end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'record', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
