-- Sends requests that the bench has written out, one after the other, and prints the result as JSON.
-- Arguments: a file of requests, each behind its length and a line feed; then "once" if none may be sent twice.
local requests, at, once = {}, 0, false

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  for length in function() return file:read('*n') end do
    file:read(1)
    requests[#requests + 1] = file:read(length)
  end
  file:close()
  once = args[2] == 'once'
end

function request()
  at = at + 1
  if at > #requests then
    at = 1
    if once then wrk.thread:stop() end
  end
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"micros":%d,"bytes":%d,"errors":%d,"p50":%f,"p99":%f}\n',
    summary.requests, summary.duration, summary.bytes,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status,
    latency:percentile(50), latency:percentile(99)))
end
