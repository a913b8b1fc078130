-- Gives an announcement to who asks unless it is made or another is at it, atomically. Called by announced.ts.
--
-- KEYS[1]  what has been announced: a hash of texts by id
-- KEYS[2]  who is at this one; absent when nobody is
-- ARGV[1]  the id
-- ARGV[2]  who asks
-- ARGV[3]  milliseconds until it is free again without a word from its owner
--
-- Returns  { `kept`, its text }, { `held`, '' }, or { `claimed`, '' }, also to the one who has it

local text = redis.call('HGET', KEYS[1], ARGV[1])
if text then
  return { 'kept', text }
end
local owner = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[2] then
  return { 'held', '' }
end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return { 'claimed', '' }
