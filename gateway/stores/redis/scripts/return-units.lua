-- Returns units to buckets of one subject, after another subject has refused the same request.
--
-- KEYS     for each bucket: the bucket, and the list of its returns
-- ARGV     for each bucket: 'gcra', microseconds per unit, cost, stamp that rate-limit.lua returned for the take;
--          or 'log', 0, cost, stamp
--
-- A return is never too large. Units can be returned until the bucket would have been full without the take. Each return moves
-- the arrival times of later takes earlier by the returned time, and those of earlier takes not at all. So the units that can still
-- be returned never overlap between now and the arrival time. In any period at most burst + elapsed/T units are admitted and kept.
--
-- The list of returns: `<stamp of the take> <microseconds>`, newest first, and at its end the sum of all returns ever made. Returns
-- that were dropped from the list are known only by that sum; they count as made for earlier takes.

local KEPT_MS = 60000
local MOST = 100

-- Microseconds returned for takes after the take with this stamp.
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
