-- Takes units from one GCRA bucket, atomically and by the server's clock (RL-9, RL-10).
-- Called by rate-limit.ts for each take that no lease covers.
--
-- KEYS[1]  the bucket; holds the theoretical arrival time in microseconds since the epoch, absent when full
-- ARGV[1]  microseconds per unit, an integer of at least 1
-- ARGV[2]  burst: units a full bucket holds
-- ARGV[3]  cost: units to take, all or none
--
-- Returns  { taken (1 or 0), whole units left, microseconds until `cost` units are there (0 when taken),
--            microseconds until one more unit when none is left, else until the bucket is full }
--
-- Lua numbers are doubles: microseconds since the epoch (1.8e15) are exact below 2^53 (9.0e15).

local interval = tonumber(ARGV[1])
local tolerance = interval * tonumber(ARGV[2])
local cost = tonumber(ARGV[3])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

-- Never above an empty bucket: a clock set back or a smaller burst must not lock a subject out for longer.
local tat = tonumber(redis.call('GET', KEYS[1]) or now)
tat = math.max(now, math.min(tat, now + tolerance))

local after = tat + interval * cost
local allowed = after - tolerance <= now
local retry = 0
if allowed then
  -- Past this moment the bucket is full, which is what an absent key means.
  redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1000))
  tat = after
else
  retry = after - tolerance - now
end

local room = now + tolerance - tat
local remaining = math.floor(room / interval)
local reset = tat - now
if remaining == 0 then
  reset = interval - room
end
return { allowed and 1 or 0, remaining, retry, reset }
