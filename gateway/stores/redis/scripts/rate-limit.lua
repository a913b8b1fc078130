-- Takes units from all buckets of one subject, or from none, by the server's clock (RL-9, RL-10).
--
-- KEYS     the buckets; if ARGV[1] is 2, each is followed by the list of its returns
-- ARGV[1]  keys per bucket: 1, or 2 if the caller may return units (return-units.lua)
-- then for each bucket
--   'gcra', microseconds per unit (an integer of at least 1), burst, cost
--   'log',  window in microseconds, units, cost
--
-- A GCRA bucket holds the theoretical arrival time in microseconds since the epoch, and is absent when full. A sliding log is a
-- list of such times, one for each admitted unit, oldest first.
--
-- Returns  for each bucket { allowed (1 or 0), whole units left, microseconds until `cost` units are there (0 when allowed),
--          microseconds until the next unit if none is left, else until the bucket is full, stamp for return-units.lua }
--
-- Lua numbers are doubles: microseconds since the epoch (1.8e15) are exact below 2^53 (9.0e15).

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local stride = tonumber(ARGV[1])

local function gcra(bucket)
  local tolerance = bucket.interval * bucket.burst
  local owed = tonumber(redis.call('GET', bucket.key) or now)
  local tat = math.max(now, math.min(owed, now + tolerance))
  -- Capped at an empty bucket: a clock set back or a smaller burst must not lock a subject out for longer. The capped time is
  -- stored. Otherwise each refusal would empty the bucket again until the old time comes.
  if tat < owed then
    redis.call('SET', bucket.key, string.format('%.0f', tat), 'PX', math.ceil(tolerance / 1000))
  end
  bucket.after = tat + bucket.interval * bucket.cost
  bucket.retry = math.max(0, bucket.after - tolerance - now)
  bucket.answer = function(taken)
    local at = taken and bucket.after or tat
    local room = now + tolerance - at
    local remaining = math.floor(room / bucket.interval)
    return remaining, remaining == 0 and bucket.interval - room or at - now
  end
  bucket.store = function()
    -- After this time the bucket is full, and an absent key means a full bucket.
    local full = math.ceil((bucket.after - now) / 1000)
    redis.call('SET', bucket.key, string.format('%.0f', bucket.after), 'PX', full)
    if stride == 1 then return 0 end
    local returned = redis.call('LINDEX', bucket.back, -1)
    -- The list must outlive every take whose stamp includes its sum.
    if returned then redis.call('PEXPIRE', bucket.back, 60000) end
    return bucket.after + tonumber(returned or 0)
  end
end

local function log(bucket)
  -- If the clock was set back, a unit counts from now on and not from its later time.
  local index = -1
  local last = redis.call('LINDEX', bucket.key, index)
  while last and tonumber(last) > now do
    redis.call('LSET', bucket.key, index, string.format('%.0f', now))
    index = index - 1
    last = redis.call('LINDEX', bucket.key, index)
  end
  local first = redis.call('LINDEX', bucket.key, 0)
  while first and tonumber(first) <= now - bucket.window do
    redis.call('LPOP', bucket.key)
    first = redis.call('LINDEX', bucket.key, 0)
  end
  local held = redis.call('LLEN', bucket.key)
  local function at(place, otherwise)
    return tonumber(redis.call('LINDEX', bucket.key, place) or otherwise)
  end
  local over = held + bucket.cost - bucket.units
  bucket.retry = over > 0 and at(over - 1, now) + bucket.window - now or 0
  bucket.answer = function(taken)
    local remaining = math.max(0, bucket.units - held - (taken and bucket.cost or 0))
    local since = taken and now or at(-1, now - bucket.window)
    if remaining == 0 then since = at(math.max(0, held - bucket.units), now) end
    return remaining, since + bucket.window - now
  end
  bucket.store = function()
    local unit = string.format('%.0f', now)
    for _ = 1, bucket.cost do redis.call('RPUSH', bucket.key, unit) end
    redis.call('PEXPIRE', bucket.key, math.ceil(bucket.window / 1000))
    return now
  end
end

local buckets = {}
local allowed = true
for index = 1, #KEYS / stride do
  local given = 4 * index - 2
  local cost = tonumber(ARGV[given + 3])
  local bucket = { key = KEYS[(index - 1) * stride + 1], back = KEYS[index * stride], cost = cost }
  if ARGV[given] == 'log' then
    bucket.window, bucket.units = tonumber(ARGV[given + 1]), tonumber(ARGV[given + 2])
    log(bucket)
  else
    bucket.interval, bucket.burst = tonumber(ARGV[given + 1]), tonumber(ARGV[given + 2])
    gcra(bucket)
  end
  allowed = allowed and bucket.retry == 0
  buckets[index] = bucket
end

local replies = {}
for index, bucket in ipairs(buckets) do
  local remaining, reset = bucket.answer(allowed)
  local stamp = allowed and bucket.store() or 0
  replies[index] = { bucket.retry == 0 and 1 or 0, remaining, bucket.retry, reset, stamp }
end
return replies
