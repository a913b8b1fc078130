-- Removes a subscription with its health and its deliveries.
-- KEYS[1] the subscription. ARGV: prefix, id. Returns 1, or 0 if there was none.
local prefix, id = ARGV[1], ARGV[2]
local record = redis.call('GET', KEYS[1])
if not record then return 0 end
local subscription = cjson.decode(record)
redis.call('DEL', KEYS[1], prefix .. 'health:' .. id)
redis.call('ZREM', prefix .. 'owner:' .. subscription.owner, id)
redis.call('ZREM', prefix .. 'subscriptions', id)
for _, type in ipairs(subscription.events) do redis.call('ZREM', prefix .. 'wanting:' .. type, id) end
local log = prefix .. 'log:' .. id
for _, delivery in ipairs(redis.call('ZRANGE', log, 0, -1)) do
  redis.call('DEL', prefix .. 'delivery:' .. delivery)
  for _, state in ipairs({ 'pending', 'delivered', 'dead' }) do
    redis.call('ZREM', prefix .. 'state:' .. state, delivery)
  end
end
redis.call('DEL', log, log .. ':pending', log .. ':delivered', log .. ':dead')
return 1
