import { hash } from 'node:crypto'
import type { LimitScope } from '../settings/config.ts'
import { LIMIT_WINDOW_MS, type LimitBucket } from './limits.ts'
import { redisScript, type RedisLink } from './redisLink.ts'

/**
 * Life of a counter from its first charge: longer than its window, by more than clocks of a server and its replica
 * differ.
 */
const COUNTER_LIFE_MS = 2 * LIMIT_WINDOW_MS

/**
 * Life of a used nonce. A request can be accepted for the 60 s of its window, and another node's clock may be a minute
 * behind.
 */
const NONCE_LIFE_MS = 120_000

/**
 * Life of the mark that nothing was lost, which is renewed every second or so. When the server's clock jumps ahead and
 * nonces end too early, it ends with them: it is shorter than their life by more than they are needed.
 */
const EPOCH_LIFE_MS = NONCE_LIFE_MS / 2

/** Characters of a name in a key: 126 bits of a digest, so that no client chooses the length of a key. */
const NAME_CHARS = 21

/** Letters of the scopes in keys. */
const SCOPE_LETTERS: Readonly<Record<LimitScope, string>> = { ip: 'i', agent: 'a', 'agent-writes': 'w' }

/**
 * Charges all windows or none, and then uses up a nonce. Arguments: prefix, weight, name of the nonce or nothing, the
 * epoch that must still be there, then name and limit of each window. Answers the server's time in milliseconds, 1 when
 * the windows were charged, 1 when the nonce was free, 0 when it was used or not asked for, -1 when the epoch is gone,
 * then what each window has used.
 *
 * The minute is that of the server's clock, so all nodes have the same windows.
 */
const ADMIT = redisScript(`
local time = redis.call('TIME')
local prefix = ARGV[1] .. string.format('%d', math.floor(time[1] / 60)) .. ':'
local weight = tonumber(ARGV[2])
local charged, nonce, used = 1, 0, {}
for at = 5, #ARGV, 2 do
  local count = tonumber(redis.call('GET', prefix .. ARGV[at]) or 0)
  used[#used + 1] = count
  if count + weight > tonumber(ARGV[at + 1]) then charged = 0 end
end
if charged == 1 then
  for at = 5, #ARGV, 2 do
    local count = redis.call('INCRBY', prefix .. ARGV[at], weight)
    used[(at - 3) / 2] = count
    if count == weight then redis.call('PEXPIRE', prefix .. ARGV[at], ${COUNTER_LIFE_MS}) end
  end
  if ARGV[3] ~= '' then
    if redis.call('GET', ARGV[1] .. 'epoch') ~= ARGV[4] then
      nonce = -1
    elseif redis.call('SET', ARGV[1] .. ARGV[3], '', 'NX', 'PX', ${NONCE_LIFE_MS}) then
      nonce = 1
    end
  end
end
return { time[1] * 1000 + math.floor(time[2] / 1000), charged, nonce, unpack(used) }
`)

/**
 * Adds weights to windows, however full they are. Arguments: prefix, then name and weight of each window. Answers the
 * server's time in milliseconds, then what each has used now.
 */
const ADD = redisScript(`
local time = redis.call('TIME')
local prefix = ARGV[1] .. string.format('%d', math.floor(time[1] / 60)) .. ':'
local used = {}
for at = 2, #ARGV, 2 do
  local count = redis.call('INCRBY', prefix .. ARGV[at], ARGV[at + 1])
  used[at / 2] = count
  if count == tonumber(ARGV[at + 1]) then redis.call('PEXPIRE', prefix .. ARGV[at], ${COUNTER_LIFE_MS}) end
end
return { time[1] * 1000 + math.floor(time[2] / 1000), unpack(used) }
`)

/**
 * Returns the epoch of a server: the one that it has, when that was made in its present run, else a new one. Arguments:
 * prefix, run, new epoch. An epoch starts with the run in which it was made, because a server that loads its keys from
 * a file has lost what came after the file.
 */
const ADOPT = redisScript(`
local key = ARGV[1] .. 'epoch'
local epoch = redis.call('GET', key)
if not epoch or string.sub(epoch, 1, #ARGV[2]) ~= ARGV[2] then epoch = ARGV[3] end
redis.call('SET', key, epoch, 'PX', ${EPOCH_LIFE_MS})
return epoch
`)

/** The outcome for a nonce: it was free and is used up now, it was used before, or it can't be told. */
export type RedisNonce = 'free' | 'used' | 'lost'

/** A request as the script judges it. */
export interface RedisAdmission {
  readonly buckets: readonly LimitBucket[]
  readonly weight: number
  /** Left out: windows only. */
  readonly nonce?: { readonly name: string; readonly epoch: string } | undefined
}

/** The answer of the script. */
export interface RedisAdmitted {
  readonly isAllowed: boolean
  /** Weight that each bucket has used, in their order. */
  readonly used: readonly number[]
  /** The server's time. */
  readonly serverMs: number
  readonly nonce: RedisNonce
}

/** The use of windows, as the server tells it. */
export interface RedisUse {
  readonly serverMs: number
  readonly used: readonly number[]
}

/** The scripts of one deployment, whose keys all start with the same prefix. */
export interface RedisScripts {
  readonly link: RedisLink
  /** The start of every key and channel. */
  readonly prefix: string
  /** Charges all buckets or none and uses up the nonce, in one trip. Throws a `RedisUnavailableError`. */
  admit(request: RedisAdmission): Promise<RedisAdmitted>
  /** Adds weights to windows by name (`windowName`), and returns what each has used now. */
  add(weights: ReadonlyMap<string, number>): Promise<RedisUse>
  /** Returns the epoch of the server's present run, and makes `fresh` one where there is none. */
  adopt(run: string, fresh: string): Promise<string>
  /** Lets the epoch live on. Returns false when it is gone. */
  renew(): Promise<boolean>
}

/** Opens the scripts of a deployment, which has an id of its own because several may share a server. */
export function createRedisScripts(link: RedisLink, deployment: string): RedisScripts {
  const prefix = `bezel:${deployment}:`
  return {
    link,
    prefix,
    async admit({ buckets, weight, nonce }) {
      const windows = buckets.flatMap((bucket) => [windowName(bucket), String(bucket.limit)])
      const of = nonce === undefined ? ['', ''] : [`n${nonce.name}`, nonce.epoch]
      const answer = await link.evaluate(ADMIT, [prefix, String(weight), ...of, ...windows])
      const [serverMs, charged, outcome, ...used] = answer as [number, number, number, ...number[]]
      return { isAllowed: charged === 1, used, serverMs, nonce: NONCE_OUTCOMES[outcome]! }
    },
    async add(weights) {
      const args = [...weights].flatMap(([name, weight]) => [name, String(weight)])
      const [serverMs, ...used] = (await link.evaluate(ADD, [prefix, ...args])) as [number, ...number[]]
      return { serverMs, used }
    },
    adopt: async (run, fresh) => String(await link.evaluate(ADOPT, [prefix, run, fresh])),
    renew: async () => (await link.send('PEXPIRE', `${prefix}epoch`, String(EPOCH_LIFE_MS))) === 1,
  }
}

const NONCE_OUTCOMES: Readonly<Record<number, RedisNonce>> = { 1: 'free', 0: 'used', [-1]: 'lost' }

/** Returns the name of a bucket's window, which is short whatever the key is. */
export function windowName({ scope, key }: Pick<LimitBucket, 'scope' | 'key'>): string {
  return SCOPE_LETTERS[scope] + nameOf(key)
}

/** Returns the name of a nonce in keys. */
export function nonceName(of: { readonly chain: string; readonly agent: string; readonly nonce: string }): string {
  return nameOf(`${of.chain} ${of.agent} ${of.nonce}`)
}

function nameOf(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, NAME_CHARS)
}
