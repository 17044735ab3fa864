-- How many entries a group has not acknowledged. KEYS: stream. ARGV: group.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local field = {}
  for i = 1, #group, 2 do
    field[group[i]] = group[i + 1]
  end
  if field['name'] == ARGV[1] then
    if field['lag'] then
      return field['pending'] + field['lag']
    end
    -- The server lost count (entries were deleted by hand): count.
    local lag, from = 0, field['last-delivered-id']
    while true do
      local page = redis.call('XRANGE', KEYS[1], '(' .. from, '+', 'COUNT', 1000)
      if #page == 0 then
        return field['pending'] + lag
      end
      lag = lag + #page
      from = page[#page][1]
    end
  end
end
return redis.call('XLEN', KEYS[1])
