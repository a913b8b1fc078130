-- Hands units back to buckets of one subject that rate-limit.lua has taken them from for nothing.
-- Called by rate-limit.ts when the limit of another subject has refused the same request.
--
-- KEYS     for each bucket the bucket, and what has been handed back to it
-- ARGV     for each bucket 'gcra', microseconds per unit, cost, and what the take was answered to hand back by;
--          'log', 0, cost, the same
--
-- Never too much: a unit is due until the bucket would have been full without the take, and each handing back draws what
-- was taken later nearer by as much, and nothing of what was taken before. So the units still due always have room of their
-- own between now and the arrival time, and in any stretch what passes and is kept is at most burst + elapsed/T.
--
-- What has been handed back: a list of `<what its take was answered> <microseconds>`, the newest first, and at its end the sum
-- of all there ever were. Of those that are not in the list any more nothing is known but that sum: they count as taken before.

local KEPT_MS = 60000
local MOST = 100

-- Handed back of what was taken after the take that was answered `stamp`.
local function later(back, stamp)
  local sum = 0
  for _, entry in ipairs(redis.call('LRANGE', back, 0, -2)) do
    local taken, micros = string.match(entry, '^(%S+) (%S+)$')
    if tonumber(taken) > stamp then sum = sum + tonumber(micros) end
  end
  return sum
end

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
    local all = tonumber(redis.call('LINDEX', back, -1) or 0)
    local due = math.min(interval * cost, stamp - all + later(back, stamp) - now)
    if due > 0 and tat - due > now then
      redis.call('SET', key, string.format('%.0f', tat - due), 'PX', math.ceil((tat - due - now) / 1000))
    elseif due > 0 then
      redis.call('DEL', key)
    end
    if due > 0 then
      redis.call('RPOP', back)
      if redis.call('LLEN', back) >= MOST then redis.call('RPOP', back) end
      redis.call('LPUSH', back, string.format('%.0f %.0f', stamp, due))
      redis.call('RPUSH', back, string.format('%.0f', all + due))
      redis.call('PEXPIRE', back, KEPT_MS)
    end
  end
end
return 1
