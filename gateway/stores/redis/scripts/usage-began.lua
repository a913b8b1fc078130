-- Since when calls of a version are counted, or of the first of all; nothing where they are not. Called by ledger.ts.
--
-- KEYS[1]  what every key of the ledger begins with
-- ARGV[1]  the version as it is named in the hash of them, '' for all

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
