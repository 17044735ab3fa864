-- How many entries a group has not acknowledged. KEYS: stream. ARGV: group, how many unread entries are counted.
-- The lag that the server tells is wrong after it has read its append-only file: it forgets what was read by then. So the
-- unread entries are counted, and its word is taken only for more than are counted.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
for _, group in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local field = {}
  for i = 1, #group, 2 do
    field[group[i]] = group[i + 1]
  end
  if field['name'] == ARGV[1] then
    local unread, from, most = 0, field['last-delivered-id'], tonumber(ARGV[2])
    while unread < most do
      local page = redis.call('XRANGE', KEYS[1], '(' .. from, '+', 'COUNT', 1000)
      if #page == 0 then
        return field['pending'] + unread
      end
      unread = unread + #page
      from = page[#page][1]
    end
    return field['pending'] + math.max(unread, field['lag'] or 0)
  end
end
return redis.call('XLEN', KEYS[1])
