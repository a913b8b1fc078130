-- Gives an idempotency key to who asks unless something stands there, atomically (IDM-5). Called by state-scripts.ts.
--
-- KEYS[1]  the key: a hash of its state, its owner, and the record of a kept answer; absent when free
-- ARGV[1]  who asks
-- ARGV[2]  milliseconds until it is free again without a word from its owner
--
-- Returns  { `claimed`, '' }, also to the one who has it, or { what stands there, its record or '' }

local found = redis.call('HMGET', KEYS[1], 'state', 'owner', 'record')
if found[1] and not (found[1] == 'running' and found[2] == ARGV[1]) then
  return { found[1], found[3] or '' }
end
redis.call('HSET', KEYS[1], 'state', 'running', 'owner', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return { 'claimed', '' }
