-- Hands units back to buckets of one subject that rate-limit.lua has taken them from for nothing.
-- Called by rate-limit.ts when the limit of another subject has refused the same request.
--
-- KEYS     for each bucket the bucket, and what has been handed back to it
-- ARGV     for each bucket 'gcra', microseconds per unit, cost, and what the take was answered to hand back by;
--          'log', 0, cost, the same
--
-- Never too much: a unit is due until the bucket would have been full without the take, and each handing back draws what
-- was taken later nearer by as much. So the units still due always have room of their own between now and the arrival
-- time, and in any stretch what passes and is kept is at most burst + elapsed/T.

local KEPT_MS = 60000

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])

for index = 1, #KEYS / 2 do
  local key, back = KEYS[2 * index - 1], KEYS[2 * index]
  local given = 4 * index - 3
  local interval, cost, stamp = tonumber(ARGV[given + 1]), tonumber(ARGV[given + 2]), tonumber(ARGV[given + 3])
  if ARGV[given] == 'log' then
    redis.call('LREM', key, -cost, string.format('%.0f', stamp))
  else
    local tat = tonumber(redis.call('GET', key) or now)
    local before = tonumber(redis.call('GET', back) or 0)
    local due = math.min(interval * cost, stamp - before - now)
    if due > 0 and tat - due > now then
      redis.call('SET', key, string.format('%.0f', tat - due), 'PX', math.ceil((tat - due - now) / 1000))
    elseif due > 0 then
      redis.call('DEL', key)
    end
    if due > 0 then redis.call('SET', back, string.format('%.0f', before + due), 'PX', KEPT_MS) end
  end
end
return 1
