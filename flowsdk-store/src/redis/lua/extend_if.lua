-- Gives a key a new time to live if its value is the caller's. KEYS: key. ARGV: value, milliseconds.
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
