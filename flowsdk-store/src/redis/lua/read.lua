-- Reads for a group without waiting, if the caller is its owner.
-- KEYS: stream, owner key. ARGV: token, group, consumer, count, where to go on claiming ('' when that is done).
-- Returns where to go on claiming, the id behind which to wait when there is nothing, the entries.
local mine = tonumber(ARGV[1])
local owner = tonumber(redis.call('GET', KEYS[2]) or '0')
if owner > mine then
  return redis.error_reply('SUPERSEDED another consumer has opened the group')
end
if owner < mine then
  redis.call('SET', KEYS[2], ARGV[1])
end

if ARGV[5] ~= '' then
  local claimed = redis.call('XAUTOCLAIM', KEYS[1], ARGV[2], ARGV[3], '0', ARGV[5], 'COUNT', ARGV[4])
  if claimed[1] ~= '0-0' then
    return { claimed[1], '', claimed[2] }
  end
  -- Everything is ours now: former consumers of the group have nothing left.
  for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[2])) do
    local name, pending
    for i = 1, #consumer, 2 do
      if consumer[i] == 'name' then name = consumer[i + 1] end
      if consumer[i] == 'pending' then pending = consumer[i + 1] end
    end
    if name ~= ARGV[3] and pending == 0 then
      redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[2], name)
    end
  end
  return { '', '', claimed[2] }
end

local read = redis.call('XREADGROUP', 'GROUP', ARGV[2], ARGV[3], 'COUNT', ARGV[4], 'STREAMS', KEYS[1], '>')
if read and read[1] then
  return { '', '', read[1][2] }
end
local info = redis.call('XINFO', 'STREAM', KEYS[1])
for i = 1, #info, 2 do
  if info[i] == 'last-generated-id' then
    return { '', info[i + 1], {} }
  end
end
