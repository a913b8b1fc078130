-- Returns since when calls of a version are counted, or the earliest such instant of all versions.
--
-- KEYS[1]  the prefix of every key of the ledger
-- ARGV[1]  the name of the version, '' for all
--
-- Returns  the instant; nothing if no calls are counted

if ARGV[1] ~= '' then
  return redis.call('HGET', KEYS[1] .. ':watched', ARGV[1])
end
local first = false
for _, since in ipairs(redis.call('HVALS', KEYS[1] .. ':watched')) do
  local at = tonumber(since)
  if at and (not first or at < tonumber(first)) then
    first = since
  end
end
return first
