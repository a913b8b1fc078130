-- Sends the requests of a file in order and prints the result as JSON. Arguments: the file; "once" to send none twice.
local ffi = require('ffi')
ffi.cdef('typedef struct { long seconds, nanos; } moment; int clock_gettime(int clock, moment *now);')
local MONOTONIC = 1

local requests, at, once, main = {}, 0, false, nil
-- With "once": microseconds from the first request to the last. wrk's own duration is always the whole time.
elapsed = 0
local begun

local function micros()
  local now = ffi.new('moment')
  ffi.C.clock_gettime(MONOTONIC, now)
  return tonumber(now.seconds) * 1e6 + tonumber(now.nanos) / 1e3
end

-- The host of the URL is used only in TLS handshakes: every peer listens on loopback.
function wrk.resolve(_, port)
  wrk.addrs = wrk.lookup('127.0.0.1', port)
end

function setup(thread)
  main = thread
end

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
  begun = begun or micros()
  at = at + 1
  if at > #requests then
    at = 1
    if once then
      elapsed = micros() - begun
      wrk.thread:stop()
    end
  end
  return requests[at]
end

function done(summary, latency)
  local errors, took = summary.errors, main:get('elapsed')
  io.write(string.format(
    '\n{"requests":%d,"micros":%d,"bytes":%d,"errors":%d,"p50":%f,"p99":%f}\n',
    summary.requests, took > 0 and took or summary.duration, summary.bytes,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status,
    latency:percentile(50), latency:percentile(99)))
end
