import { errorAnswer, resultAnswer } from '../chain/answer.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { CHAIN_METHODS } from '../chain/methods.ts'
import type { Responder } from './respond.ts'

/** A method of the devnet beyond what a chain serves itself. Throw RpcError for an error of a certain code. */
export type ExtraMethod = (chain: LocalChain, params: readonly unknown[]) => unknown

/** Extra methods by name. They win over a chain's own. */
export type ExtraMethods = Readonly<Record<string, ExtraMethod>>

/** What answers requests on one chain. */
export function createResponder(chain: LocalChain, extra: ReadonlyMap<string, ExtraMethod>): Responder {
  return {
    isWrite: (method) => extra.has(method) || CHAIN_METHODS.has(method),
    run(method, params, requestText) {
      const ours = extra.get(method)
      return ours === undefined ? chain.answer(method, params, requestText) : runExtra(ours, chain, params)
    },
  }
}

async function runExtra(method: ExtraMethod, chain: LocalChain, params: readonly unknown[]): Promise<string> {
  try {
    return resultAnswer(await method(chain, params))
  } catch (error) {
    return errorAnswer(error)
  }
}
