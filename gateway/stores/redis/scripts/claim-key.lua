-- Claims an idempotency key for a caller, unless it is taken (IDM-5).
--
-- KEYS[1]  hash of state, owner and, for a kept answer, record; absent when free
-- ARGV[1]  the caller
-- ARGV[2]  milliseconds until the claim expires
--
-- Returns  { 'claimed', '' }, also to the owner, or { state, record or '' }

local found = redis.call('HMGET', KEYS[1], 'state', 'owner', 'record')
if found[1] and not (found[1] == 'running' and found[2] == ARGV[1]) then
  return { found[1], found[3] or '' }
end
redis.call('HSET', KEYS[1], 'state', 'running', 'owner', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 'claimed', '' }
