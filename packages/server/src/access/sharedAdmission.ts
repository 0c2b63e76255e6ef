import { ApiError } from '@bezel/protocol'
import type { Store } from '../store/sql.ts'
import { nonceReused, type Admission, type SignedNonce, type VerifiedRequest } from './admission.ts'
import type { NonceKeeper, Verdict } from './nonceKeeper.ts'
import { CLAIMS_PER_PRUNE, pruneNonces } from './nonces.ts'
import { RedisUnavailableError } from './redisLink.ts'
import type { LimitedAdmission, RedisLimits } from './redisLimits.ts'
import { nonceName, type RedisScripts } from './redisScripts.ts'

export interface SharedAdmissionOptions {
  readonly store: Store
  /** `undefined` where no Redis is configured. */
  readonly scripts: RedisScripts | undefined
  readonly limits: RedisLimits
  readonly keeper: NonceKeeper
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/**
 * Creates the admission of a node that shares its data with others. With Redis a signed request takes one trip, for its
 * limits and its nonce; where the store keeps the nonces of reads, a read takes one trip more. See `NonceKeeper` for
 * the rules by which no nonce is accepted twice.
 *
 * A write asks Redis for its nonce only to be refused early. It is used up in the store: in the write's transaction, or
 * by a commit of its own when the write is refused.
 */
export function createSharedAdmission(options: SharedAdmissionOptions): Admission {
  const { store, scripts, limits, keeper, now, onError } = options

  /** Judges the nonce of a read after Redis was asked. Returns `undefined` when it should be asked again. */
  async function judge(
    request: SignedNonce,
    look: ReturnType<NonceKeeper['look']>,
    inRedis: LimitedAdmission['nonce'],
  ) {
    if (look === undefined) {
      await keeper.refresh()
      return undefined
    }
    if (inRedis === 'used') return 'used'
    if (inRedis === 'free') return keeper.isEnough(look, request.timestampMs) ? 'free' : claim(request, look.epoch)
    if (inRedis === 'lost') {
      await keeper.giveUp(look.epoch)
      return 'unknown'
    }
    if (look.epoch !== '') return 'unknown'
    const verdict = await claim(request, '')
    // Redis has become the keeper since the last look, and was not asked.
    return verdict === 'unknown' && !keeper.isOnStore() ? undefined : verdict
  }

  function claim(request: SignedNonce, epoch: string): Promise<Verdict> {
    if (keeper.claims() % CLAIMS_PER_PRUNE === 0) {
      store.transaction({ name: 'nonces' }, (sql) => pruneNonces(sql, now())).catch(onError)
    }
    return keeper.claim(request, epoch)
  }

  /** Asks Redis for the nonce alone, for a request whose limits are charged. */
  async function askAgain(request: VerifiedRequest): Promise<Verdict> {
    const look = keeper.look()
    if (scripts === undefined || look === undefined || !keeper.isKeptByRedis(look)) {
      return look?.epoch === '' ? claim(request, '') : 'unknown'
    }
    const nonce = { name: nonceName(request), epoch: look.epoch }
    const admitted = await scripts.admit({ buckets: [], weight: 0, nonce }).catch(unlessUnavailable)
    return admitted === undefined ? 'unknown' : ((await judge(request, look, admitted.nonce)) ?? 'unknown')
  }

  return {
    async admit(request, onCharge) {
      const { buckets, weight = 1, isWrite } = request
      const look = keeper.look()
      const isAsked = look !== undefined && keeper.isKeptByRedis(look)
      const nonce = isAsked ? { name: nonceName(request), epoch: look.epoch } : undefined
      const admitted = await limits.admit({ buckets, weight, nonce }, now())
      onCharge(admitted.answer)
      if (isWrite) {
        if (admitted.nonce === 'used') throw nonceReused()
        return
      }
      const verdict = (await judge(request, look, admitted.nonce)) ?? (await askAgain(request))
      if (verdict === 'used') throw nonceReused()
      if (verdict === 'unknown') throw nonceUntold()
    },
  }
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof RedisUnavailableError)) throw error
}

/**
 * Returns the refusal of a read of which nobody can tell whether it was answered before. Sent again as it is, it would
 * be refused until its timestamp is out of the window.
 */
function nonceUntold(): ApiError {
  const message = 'The place of used nonces has just changed, and it can not be told whether this one was used.'
  const remedy = 'Sign the request anew, with a new timestamp and nonce, and send it after `Retry-After`.'
  return new ApiError('NOT_READY', message, { reason: 'store_lagging', remedy })
}
