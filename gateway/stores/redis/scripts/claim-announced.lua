-- Leases an announcement to a caller, unless it was made or another caller has the lease.
--
-- KEYS[1]  hash of the texts of made announcements by id
-- KEYS[2]  the owner of the lease; absent if there is none
-- ARGV[1]  the id
-- ARGV[2]  the caller
-- ARGV[3]  milliseconds until the lease expires
--
-- Returns  { 'kept', text }, { 'held', '' }, or { 'claimed', '' }, also to the owner

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
