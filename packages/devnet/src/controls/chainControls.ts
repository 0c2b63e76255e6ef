import type { LocalChain } from '../chain/createLocalChain.ts'
import type { Faucet } from '../deploy/createFaucet.ts'
import type { Keeper } from '../keeper/createKeeper.ts'
import type { Oracle } from '../oracle/createOracle.ts'
import type { ExtraMethods } from '../rpc/createResponder.ts'
import { addressParam, flagParam, millisecondsParam } from './params.ts'

/** What works on one chain beside its blocks. */
export interface ChainParts {
  readonly oracle: Oracle
  readonly keeper: Keeper
  readonly faucet: Faucet
}

const MAX_ORACLE_DELAY_MS = 600_000

/** Controls of the chain they are sent to. `bezel_reorg` is one of the chain's own methods. */
export function chainControls(partsOf: (chain: LocalChain) => ChainParts): ExtraMethods {
  return {
    bezel_pauseOracle(chain, [paused]) {
      partsOf(chain).oracle.pause(flagParam(paused, 'paused'))
      return true
    },
    bezel_pauseKeeper(chain, [paused]) {
      partsOf(chain).keeper.pause(flagParam(paused, 'paused'))
      return true
    },
    bezel_setOracleDelay(chain, [delayMs]) {
      partsOf(chain).oracle.setDelayMs(millisecondsParam(delayMs, 'the delay', MAX_ORACLE_DELAY_MS))
      return true
    },
    bezel_faucet: (chain, [address]) => partsOf(chain).faucet.fund(addressParam(address, 'the address')),
  }
}
